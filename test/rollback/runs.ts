import { getKind } from '../../src/core/address.ts';
import type { PlannedOperation } from '../../src/core/plan-document.ts';
import { withhold } from '../../src/core/redact.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { knownSecrets } from '../../src/diff/applied.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Interleaved, JournalEntry, LedgerLine } from '../../src/state/journal.ts';
import type { ResourceState } from '../../src/state/model.ts';

const AT = '2026-03-02T08:30:00.000Z';

/** What a run did with one resource. */
export type Deed = {
  readonly address: string;
  readonly action: 'create' | 'update' | 'replace' | 'delete';
  readonly id?: string;
  /** The live document before the run, secrets and all; none where it did not exist. */
  readonly before?: JsonObject;
  /** Paths that it changed. */
  readonly fields?: readonly string[];
  readonly history?: { readonly before: number; readonly after: number };
  /** What the state said of it before. */
  readonly resource?: ResourceState;
  /** What the state said of it afterwards. */
  readonly recorded?: ResourceState | null;
  readonly status?: LedgerLine['status'];
  /** Entries that others made while it was written. */
  readonly interleaved?: readonly Interleaved[];
  /** Steps whose requests left; those of the action unless given. */
  readonly steps?: readonly PlannedOperation['step'][];
};

/** The journal of a run. One that died has no ledger. */
export function journalOf(
  deeds: readonly Deed[],
  { died = false }: { readonly died?: boolean } = {},
): readonly JournalEntry[] {
  let seq = 0;
  const entries = deeds.flatMap((deed): readonly JournalEntry[] => {
    const { address, id = null, before, fields = [], history, resource = null, recorded } = deed;
    const kind = kindNamed(getKind(address));
    const secrets = knownSecrets(kind.schema, {}, resource?.leaves);
    const kept = before ? withhold(kind.schema, before, secrets) : { document: null, withheld: [] };
    const pin = before
      ? { digest: 'sha256:before', updated_at: null, history_id: history?.before ?? null }
      : null;
    const snapshot = {
      type: 'snapshot',
      address,
      kind: kind.name,
      id,
      pin,
      resource,
      intended: null,
      ...kept,
    } as const;
    const intents = (deed.steps ?? stepsOf(deed.action)).flatMap(
      (step): readonly JournalEntry[] => {
        seq += 1;
        const intent = {
          type: 'intent',
          seq,
          at: AT,
          address,
          step,
          operation: step,
          id,
          fields,
        } as const;
        return [intent, { type: 'outcome', seq, at: AT, ok: true, id, error: null }];
      },
    );
    return [
      snapshot,
      ...intents,
      ...(recorded === undefined
        ? []
        : [{ type: 'resource', address, resource: recorded } as const]),
    ];
  });
  return died
    ? entries
    : [
        ...entries,
        { type: 'ended', at: AT, status: 'done', verified: true, ledger: deeds.map(lineOf) },
      ];
}

function stepsOf(action: Deed['action']): readonly PlannedOperation['step'][] {
  return action === 'replace' ? ['create', 'delete'] : [action];
}

function lineOf(deed: Deed): LedgerLine {
  const { address, action, id, fields = [], history, status = 'done', interleaved } = deed;
  const line = { address, action, status, id: id ?? null, message: null, fields };
  return { ...line, history: history ?? null, ...(interleaved && { interleaved }) };
}
