import { type Address, matchesAddress } from '../../core/address.ts';
import { Secret } from '../../core/value.ts';
import { matchesApplied, rememberLeaf } from '../../diff/applied.ts';
import { type Leaf, leavesOf, normalise } from '../../diff/leaves.ts';
import type { World } from '../../diff/world.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { AppliedLeaf, ResourceState, State } from '../../state/model.ts';
import type { Context } from '../context.ts';
import { fingerprintsFor } from '../session.ts';
import type { LoadedStack } from '../stack.ts';
import { chooseAddresses } from './choose.ts';
import { type Edit, editLine } from './edit.ts';

/**
 * Has the state remember the secrets that are set here as what the platform has stored, where it does not know: those
 * that were taken over, and those whose fingerprint is of another key. Nothing is asked of the platform. Throws
 * `CallsheetError('usage')` where the state holds one of the addresses not at all.
 */
export async function trustSecrets(
  patterns: readonly Address[],
  { stack, secretOf, secretValues }: LoadedStack,
  state: State,
  context: Context,
): Promise<Edit> {
  for (const pattern of patterns) chooseAddresses(pattern, state);
  const fingerprints = fingerprintsFor(state, context);
  await fingerprints.prepare(secretValues.map((value) => normalise({}, value)));
  const world = { idOf: () => undefined, secretOf, fingerprints };
  const records: [Address, ResourceState][] = [];
  const ledger: Edit['ledger'][number][] = [];
  for (const { address, kind, document } of stack.resources) {
    const recorded = state.resources[address];
    const isMeant =
      patterns.length === 0 || patterns.some((pattern) => matchesAddress(pattern, address));
    if (recorded === undefined || !isMeant) continue;
    const unknown = [...leavesOf(kindNamed(kind).schema, document).leaves.values()].filter((leaf) =>
      isUnknown(leaf, recorded.leaves[leaf.text], address, world),
    );
    if (unknown.length === 0) continue;
    const known = unknown.flatMap((leaf): [string, AppliedLeaf][] => {
      const remembered = rememberLeaf(leaf, address, world);
      return remembered === undefined ? [] : [[leaf.text, remembered]];
    });
    const taken = new Set(known.map(([text]) => text));
    if (taken.size > 0) {
      const leaves = { ...recorded.leaves, ...Object.fromEntries(known) };
      records.push([address, { ...recorded, leaves }]);
    }
    const absent = unknown.filter(({ text }) => !taken.has(text));
    const message = [
      ...(taken.size === 0 ? [] : [`taken for what is stored: ${[...taken].join(', ')}`]),
      ...(absent.length === 0 ? [] : [`not set here: ${absent.map(sourceOf).join(', ')}`]),
    ].join('; ');
    const line = editLine(address, 'trust', recorded.id, message);
    ledger.push(taken.size === 0 ? { ...line, status: 'not_attempted' } : line);
  }
  return { records, ledger };
}

/** Whether nothing can be said of a secret's value; of one that was not written yet, a plan says so. */
function isUnknown(
  { value, text, schema }: Leaf,
  last: AppliedLeaf | undefined,
  address: Address,
  world: World,
): boolean {
  if (!(value instanceof Secret) || last === undefined) return false;
  const set = normalise(schema, world.secretOf(value.source, text));
  return matchesApplied(last, set, address, text, world) === 'unknown';
}

function sourceOf({ text, value }: Leaf): string {
  return value instanceof Secret ? `${text} (${value.source})` : text;
}
