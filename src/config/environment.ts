import type { FieldSchema } from '../core/schema.ts';
import { STACK_FILE } from './discover.ts';
import { layOver } from './lay-over.ts';
import { nearest } from './nearest.ts';
import type { Patch } from './patches.ts';
import type { Report } from './problems.ts';
import { ENVIRONMENT_MEMBERS, settingsSchema } from './settings-schema.ts';
import { memberOf, type WrittenMap } from './written.ts';

/** `callsheet.yaml` as one environment has it. */
export type Environment = {
  readonly root: WrittenMap;
  readonly patches: readonly Patch[];
};

/**
 * Lays an environment of `callsheet.yaml` over its settings. Without a name the file is what it is. An
 * environment that says nothing of the state has one of its own: two that shared one would each take the
 * other's resources for its own, and delete what it does not know.
 */
export function enterEnvironment(
  root: WrittenMap,
  name: string | undefined,
  report: Report,
): Environment {
  if (name === undefined) return { root, patches: [] };
  const environments = memberOf(root, 'environments')?.value;
  const chosen = memberOf(environments, name)?.value;
  if (chosen?.type !== 'map') {
    const empty = chosen?.type === 'scalar' && chosen.value === null;
    if (!empty) reportUnknown(name, root, report);
    return { root, patches: [] };
  }
  const isSetting = (key: string) => ENVIRONMENT_MEMBERS.includes(key);
  const settings = [...chosen.members].filter(([key]) => isSetting(key));
  reportSharedState(name, root, chosen, report);
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

function reportSharedState(
  name: string,
  root: WrittenMap,
  environment: WrittenMap,
  report: Report,
): void {
  const shared = memberOf(root, 'state');
  if (shared === undefined || environment.members.has('state')) return;
  report.add({
    rule: 'environment/state',
    message: `${STACK_FILE}: environment ${name} would share its state with the others`,
    hint: `Give it one with state: { file: … } under environments.${name}, or remove state here: then each environment has its own`,
    place: shared.keyPlace,
  });
}
