// What the plans of a tree say beside their changes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARDS } from '../github/actions/callsheet/guards.mjs';
import { findWaiting, findWays } from '../github/actions/callsheet/pending.mjs';

/**
 * The digest of the plans in a folder, what came of each stack, the guards that stand against any of them, and what an
 * apply leaves for later. Without plans all of it is empty.
 */
export function readTree(folder) {
  const index = join(folder, 'fleet.json');
  if (!existsSync(index)) return { digest: '', stacks: [], ways: [], waits: '' };
  const { digest, stacks } = JSON.parse(readFileSync(index, 'utf8'));
  const plans = stacks
    .filter(({ plan_file: file }) => file !== null)
    .map(({ path, plan_file: file }) => [
      path,
      JSON.parse(readFileSync(join(folder, file), 'utf8')),
    ]);
  const ways = new Set(plans.flatMap(([, plan]) => findWays(plan).map(({ flag }) => flag)));
  const waits = plans
    .map(([path, plan]) => [path, findWaiting(plan)])
    .filter(([, text]) => text !== '')
    .map(([path, text]) => `${path}: ${text}`);
  return {
    digest: plans.length === 0 ? '' : digest,
    stacks,
    ways: GUARDS.filter(({ flag }) => ways.has(flag)),
    waits: waits.join('; '),
  };
}
