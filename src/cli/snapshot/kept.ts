import { CallsheetError } from '../../core/errors.ts';
import { ownOf } from '../../core/own.ts';
import type { Scope } from '../../kinds/kind.ts';
import type { Kept } from '../../rollback/since.ts';
import type { Header, ResourceRecord } from '../../snapshot/format.ts';
import type { SnapshotFile } from '../../snapshot/read-file.ts';
import { documentOf } from '../../snapshot/read-resource.ts';
import type { State } from '../../state/model.ts';
import { NO_LINEAGE, type Session } from '../session.ts';

/** What of a snapshot a stack has to do with. */
export type Relevant = {
  readonly kept: readonly Kept[];
  /** How many resources it holds beside them. */
  readonly others: number;
  readonly sha256: string;
  readonly covers: (kind: string, scope: Scope) => boolean;
};

/**
 * Reads what the stack manages out of a snapshot; the rest only goes by, so that a stack of a large account
 * needs no more memory than it is large itself.
 */
export async function readRelevant(snapshot: SnapshotFile, session: Session): Promise<Relevant> {
  checkOrigin(snapshot, session);
  const { state } = session;
  const ids = new Set(Object.values(state.resources).map(({ kind, id }) => `${kind} ${id}`));
  const isOurs = isOfStack(snapshot.header, state);
  const kept: Kept[] = [];
  const lists: { readonly kind: string; readonly scope: Scope }[] = [];
  let others = 0;
  let sha256 = '';
  for await (const record of snapshot.records()) {
    if (record.type === 'end') sha256 = record.sha256;
    if (record.type === 'list') lists.push(record);
    if (record.type !== 'resource') continue;
    const isKnown = ids.has(`${record.kind} ${record.id}`);
    // Of what a list shows alone, the rest is unknown: it would look emptied.
    if (record.extent === 'whole' && (isKnown || (isOurs && record.address !== null)))
      kept.push(keptFrom(record, isOurs));
    else others += 1;
  }
  const covers = (kind: string, scope: Scope) =>
    lists.some((one) => one.kind === kind && isWithin(scope, one.scope));
  return { kept, others, sha256, covers };
}

/** Whether its addresses mean the same here. A stack whose state was thrown away takes them as they are. */
function isOfStack({ stack }: Header, { lineage }: State): boolean {
  return stack !== null && (lineage === NO_LINEAGE || stack.lineage === lineage);
}

function isWithin(scope: Scope, narrowed: Scope): boolean {
  return Object.entries(narrowed).every(([field, value]) => ownOf(scope, field) === value);
}

function keptFrom(record: ResourceRecord, isOurs: boolean): Kept {
  const { kind, id, history, withheld, address, state } = record;
  return {
    kind,
    id,
    address: isOurs ? address : null,
    document: documentOf(record),
    version: history?.id ?? null,
    withheld,
    state: isOurs ? state : null,
  };
}

/** Ids mean something only on the platform and in the account that they are of. */
function checkOrigin({ file, header }: SnapshotFile, { platform }: Session): void {
  const { account_id: account, base_url: url } = header.platform;
  if (account === platform.account_id && url === platform.base_url) return;
  const [what, theirs, ours] =
    account === platform.account_id
      ? ['platform', url, platform.base_url]
      : ['account', account, platform.account_id];
  throw new CallsheetError(
    'usage',
    `the snapshot ${file} is of ${what} ${theirs}, and this stack is on ${what} ${ours}`,
    { hint: 'A rollback goes back to a snapshot of its own account: callsheet snapshot list.' },
  );
}
