import { isResourceName } from '../core/address.ts';
import { COMPOSING } from './bases.ts';
import { STACK_FILE } from './discover.ts';
import type { Report } from './problems.ts';
import { asMap } from './resources.ts';
import { checkStates } from './shared-state.ts';
import { type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/**
 * Checks what every environment says, be it chosen or not, and only fits together here: their names, which are part
 * of paths, where they keep their states, and the shape of their patches. `dir` is the stack folder.
 */
export function checkEnvironments(root: WrittenMap, dir: string, report: Report): void {
  const environments = environmentsOf(root);
  const named = environments.filter(({ key }) => isResourceName(key));
  for (const environment of environments) {
    if (!named.includes(environment)) reportName(environment, report);
    checkPatches(environment, report);
  }
  checkStates(root, dir, named, report);
}

/** What all environments lay over resources. */
export function patchBodiesIn(root: Written | undefined): readonly WrittenMap[] {
  return environmentsOf(root).flatMap(({ value }) => {
    const patches = memberOf(value, 'patches')?.value;
    const bodies = patches?.type === 'map' ? [...patches.members.values()] : [];
    return bodies.flatMap((body) => (body.value.type === 'map' ? [body.value] : []));
  });
}

/** The environments of `callsheet.yaml`, by name. */
export function environmentsOf(root: Written | undefined): readonly Member[] {
  const environments = memberOf(root, 'environments')?.value;
  return environments?.type === 'map' ? [...environments.members.values()] : [];
}

function reportName({ key, keyPlace }: Member, report: Report): void {
  report.add({
    rule: 'environment/name',
    message: `${STACK_FILE}: environments has ${JSON.stringify(key)}, which cannot name an environment`,
    hint: 'Use letters, digits, _ and -, and begin with a letter',
    place: keyPlace,
  });
}

function checkPatches({ key, value }: Member, report: Report): void {
  const subject = `${STACK_FILE}: environments.${key}`;
  const patches = memberOf(value, 'patches')?.value;
  const map = patches && asMap(patches, `${subject}.patches`, 'a map of addresses', report);
  for (const patch of map?.members.values() ?? []) {
    const body = asMap(patch.value, `${subject}.patches.${patch.key}`, 'a map of fields', report);
    if (body !== undefined) checkRowPatch(subject, patch.key, body, report);
  }
}

/** How rows are made is the same for all of them. */
function checkRowPatch(subject: string, pattern: string, body: WrittenMap, report: Report): void {
  const row = pattern.indexOf('[');
  if (row < 0) return;
  for (const key of COMPOSING) {
    const member = body.members.get(key);
    if (member === undefined) continue;
    report.add({
      rule: 'environment/patch',
      message: `${subject} patches ${pattern} with ${key}, which one row cannot have`,
      hint: `Write it in the resource, or in a patch for all rows: ${pattern.slice(0, row)}`,
      place: member.keyPlace,
    });
  }
}
