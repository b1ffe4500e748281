import type { DesiredResource } from '../core/desired.ts';
import { parsePath } from '../core/path.ts';
import type { Change, Note } from '../core/plan-document.ts';
import type { JsonObject } from '../core/value.ts';
import { compare } from '../diff/compare.ts';
import { isWritten } from '../diff/finding.ts';
import { fieldSchema } from '../diff/leaves.ts';
import type { World } from '../diff/world.ts';
import type { Kind } from '../kinds/kind.ts';

/**
 * What a revert takes back beside what is to be undone: a version restores all that history records, also
 * what somebody edited since. Without `--force` such edits refuse the rollback.
 */
export function besideNotes(
  { address, fields, undoing }: Change,
  kind: Kind,
  desired: DesiredResource,
  live: JsonObject,
  world: World,
): readonly Note[] {
  const { whole, lifecycle } = desired;
  if (whole === undefined || undoing === undefined || undoing.way === 'update') return [];
  const sides = {
    address,
    applied: undefined,
    ignore: [...lifecycle.ignore, ...whole.withheld].flatMap((text) => {
      const path = parsePath(text);
      return path === undefined ? [] : [path];
    }),
    isPartial: true,
    isExact: true,
    resend: false,
  };
  const planned = new Set(fields.map(({ path }) => path));
  const beside = compare(kind.schema, whole.document, live, sides, world).filter(
    (leaf) =>
      isWritten(leaf) &&
      !planned.has(leaf.text) &&
      fieldSchema(kind.schema, String(leaf.path[0]))['x-revert'] !== false,
  );
  if (beside.length === 0) return [];
  const paths = beside.map(({ text }) => text).join(', ');
  const message = `the revert also takes back what was changed since: ${paths} (callsheet history ${quoted(address)} shows by whom)`;
  return [{ severity: 'warning', address, message }];
}

/** An address as a shell takes it: that of a row has quotes and brackets. */
function quoted(address: string): string {
  return /["[]/.test(address) ? `'${address}'` : address;
}
