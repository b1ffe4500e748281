import { isResourceName } from '../core/address.ts';
import type { FieldSchema } from '../core/schema.ts';
import { STACK_FILE } from './discover.ts';
import { checkEnvironments } from './environments.ts';
import { layOver } from './lay-over.ts';
import { nearest } from './nearest.ts';
import type { Patch } from './patches.ts';
import type { Report } from './problems.ts';
import { ENVIRONMENT_MEMBERS, settingsSchema } from './settings-schema.ts';
import { memberOf, type WrittenMap } from './written.ts';

/** `callsheet.yaml` as one environment has it. */
type Environment = {
  readonly root: WrittenMap;
  readonly patches: readonly Patch[];
};

/**
 * Lays an environment of `callsheet.yaml` over its settings. Without a name the file is what it is. What is
 * wrong with the others is reported as well. `dir` is the stack folder.
 */
export function enterEnvironment(
  root: WrittenMap,
  name: string | undefined,
  dir: string,
  report: Report,
): Environment {
  checkEnvironments(root, dir, report);
  if (name === undefined) return { root, patches: [] };
  // It becomes part of a path, whatever the file says.
  if (!isResourceName(name)) {
    reportName(name, report);
    return { root, patches: [] };
  }
  const environments = memberOf(root, 'environments')?.value;
  const chosen = memberOf(environments, name)?.value;
  if (chosen?.type !== 'map') {
    const empty = chosen?.type === 'scalar' && chosen.value === null;
    if (!empty) reportUnknown(name, root, report);
    return { root, patches: [] };
  }
  const isSetting = (key: string) => ENVIRONMENT_MEMBERS.includes(key);
  const settings = [...chosen.members].filter(([key]) => isSetting(key));
  const add: Report['add'] = (problem) =>
    report.add({ ...problem, message: `${STACK_FILE}: environment ${name} ${problem.message}` });
  const schema: FieldSchema = settingsSchema;
  const over = layOver(root, { ...chosen, members: new Map(settings) }, schema, {
    root: schema,
    add,
  });
  return { root: withoutChosen({ ...over, place: root.place }, name), patches: patchesIn(chosen) };
}

/** What is laid over is checked where it ends up; it need not be checked once more where it stands. */
function withoutChosen(root: WrittenMap, name: string): WrittenMap {
  const environments = memberOf(root, 'environments');
  if (environments?.value.type !== 'map') return root;
  const chosen = environments.value.members.get(name);
  if (chosen?.value.type !== 'map') return root;
  const kept = [...chosen.value.members].filter(([key]) => !ENVIRONMENT_MEMBERS.includes(key));
  const left = new Map(environments.value.members).set(name, {
    ...chosen,
    value: { ...chosen.value, members: new Map(kept) },
  });
  const value = { ...environments.value, members: left };
  return {
    ...root,
    members: new Map(root.members).set('environments', { ...environments, value }),
  };
}

function patchesIn(environment: WrittenMap): readonly Patch[] {
  const patches = memberOf(environment, 'patches')?.value;
  if (patches?.type !== 'map') return [];
  return [...patches.members.values()].flatMap(({ key, keyPlace, value }) =>
    value.type === 'map' ? [{ pattern: key, place: keyPlace, body: value }] : [],
  );
}

function reportName(name: string, report: Report): void {
  report.add({
    rule: 'environment/name',
    message: `--env ${name}: an environment cannot be called so`,
    hint: 'Use letters, digits, _ and -, and begin with a letter',
  });
}

function reportUnknown(name: string, root: WrittenMap, report: Report): void {
  const member = memberOf(root, 'environments');
  const names = member?.value.type === 'map' ? [...member.value.members.keys()] : [];
  const close = nearest(name, names);
  report.add({
    rule: 'environment/unknown',
    message: `--env ${name}: ${STACK_FILE} has no such environment`,
    hint:
      close !== undefined
        ? `Did you mean ${close}?`
        : names.length === 0
          ? 'Environments stand under environments: there'
          : `It has ${names.join(', ')}`,
    place: member?.keyPlace,
  });
}
