import { useState } from 'preact/hooks';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatNumber } from '../../../render/wording.ts';
import type { JournalEntry, LedgerLine, OperationStatus } from '../../../state/journal.ts';
import type { RunSummary } from '../../../state/store.ts';
import { Fetching, useDocument } from './fetching.tsx';

/** What `callsheet runs --format json` prints, and for one run `callsheet runs ID`. */
type RunsDocument = { readonly runs: readonly RunSummary[] };
type Receipt = { readonly run: string; readonly entries: readonly JournalEntry[] };

const STEP = 100;

/** Finished runs, and the receipt of the one that is open. */
export function Runs({ turn }: { readonly turn: number }) {
  const [open, setOpen] = useState<string>();
  const fetched = useDocument<RunsDocument>('runs.json', turn);
  if (open !== undefined) return <ReceiptView run={open} onClose={() => setOpen(undefined)} />;
  return (
    <>
      <h1>Runs</h1>
      <Fetching fetched={fetched} waiting="Reading the runs…">
        {({ runs }) => <RunsTable runs={runs} onOpen={setOpen} />}
      </Fetching>
    </>
  );
}

type RunsTableProps = {
  readonly runs: readonly RunSummary[];
  readonly onOpen: (run: string) => void;
};

function RunsTable({ runs, onOpen }: RunsTableProps) {
  const [most, setMost] = useState(STEP);
  if (runs.length === 0) return <p class="hint">Nothing was applied yet.</p>;
  return (
    <div class="scroll">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">At</th>
            <th scope="col">What</th>
            <th scope="col">Ended</th>
            <th scope="col" class="number">
              Changes
            </th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {runs.slice(0, most).map(({ run, at, purpose, status, changes, user, commit }) => (
            <tr key={run}>
              <th scope="row">
                <button type="button" class="quiet" onClick={() => onOpen(run)}>
                  <code>{sanitiseLine(run)}</code>
                </button>
              </th>
              <td>{instant(at)}</td>
              <td>{sanitiseLine(purpose)}</td>
              <td>
                <span class={`badge run-${sanitiseLine(status)}`}>{sanitiseLine(status)}</span>
              </td>
              <td class="number">{formatNumber(changes)}</td>
              <td>
                {sanitiseLine(user ?? '–')}
                {commit === null ? null : <code> {sanitiseLine(commit.slice(0, 10))}</code>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {runs.length > most ? (
        <button type="button" class="more" onClick={() => setMost(most + STEP)}>
          Show more
        </button>
      ) : null}
    </div>
  );
}

function instant(at: string): string {
  return sanitiseLine(at.replace('T', ' ').replace(/(:\d\d)\.\d+Z$/, '$1 UTC'));
}

function ReceiptView({ run, onClose }: { readonly run: string; readonly onClose: () => void }) {
  const fetched = useDocument<Receipt>(`runs/${run}.json`);
  return (
    <>
      <p class="more">
        <button type="button" onClick={onClose}>
          ← All runs
        </button>
      </p>
      <h1>
        Run <code>{sanitiseLine(run)}</code>
      </h1>
      <Fetching fetched={fetched} waiting="Reading the receipt…">
        {({ entries }) => <ReceiptBody entries={entries} />}
      </Fetching>
    </>
  );
}

const MARKS: { readonly [status in OperationStatus]: string } = {
  done: '✓',
  failed: '✗',
  blocked: '◌',
  not_attempted: '·',
};

function ReceiptBody({ entries }: { readonly entries: readonly JournalEntry[] }) {
  const [most, setMost] = useState(STEP);
  const began = entries.find((entry) => entry.type === 'began');
  const ended = entries.findLast((entry) => entry.type === 'ended');
  const ledger: readonly LedgerLine[] = ended?.ledger ?? [];
  return (
    <>
      <dl class="pairs">
        {factsOf(began, ended).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <h2>{formatCount(ledger.length, 'change')}</h2>
      <div class="scroll">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Change</th>
              <th scope="col">What</th>
              <th scope="col">What became of it</th>
            </tr>
          </thead>
          <tbody>
            {ledger.slice(0, most).map(({ address, action, status, message, fields }, at) => (
              <tr key={at}>
                <th scope="row">
                  <code>{sanitiseLine(address)}</code>
                </th>
                <td>
                  {sanitiseLine(action)}
                  {fields.length === 0 ? null : (
                    <span class="what"> {fields.slice(0, 6).map(sanitiseLine).join(', ')}</span>
                  )}
                </td>
                <td class={`ledger ${status}`}>
                  <span aria-hidden="true">{MARKS[status]} </span>
                  {status.replaceAll('_', ' ')}
                  {message === null ? '' : `: ${sanitiseLine(message)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ledger.length > most ? (
        <button type="button" class="more" onClick={() => setMost(most + STEP)}>
          Show {formatNumber(Math.min(STEP, ledger.length - most))} more
        </button>
      ) : null}
    </>
  );
}

function factsOf(
  began: (JournalEntry & { readonly type: 'began' }) | undefined,
  ended: (JournalEntry & { readonly type: 'ended' }) | undefined,
): readonly (readonly [string, string])[] {
  if (began === undefined) return [];
  const { actor } = began;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['Began', instant(began.at)],
    [
      'Ended',
      ended === undefined ? 'not yet, or it died' : `${instant(ended.at)}, ${ended.status}`,
    ],
    ['Verified', ended === undefined ? null : ended.verified ? 'yes' : 'no'],
    ['Purpose', began.purpose],
    ['Undoes', began.undoes],
    ['By', [actor.user, actor.host].filter((one) => one !== null).join(' on ')],
    ['Commit', actor.commit],
    ['Pipeline', actor.pipeline],
    ['Plan', began.plan_digest],
  ];
  return facts.flatMap(([name, value]) =>
    value === null || value === undefined || value === ''
      ? []
      : [[name, sanitiseLine(value)] as const],
  );
}
