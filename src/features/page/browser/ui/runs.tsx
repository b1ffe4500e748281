import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Runs as Documents } from '../../../../core/documents.generated.ts';
import type { Failure } from '../../../../render/diagnostics.ts';
import { type FieldView, viewSides } from '../../../../render/fields.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { describeWaiting, formatCount, formatNumber } from '../../../../render/wording.ts';
import {
  findBegan,
  findEnded,
  listLedger,
  type OperationStatus,
} from '../../../../state/journal.ts';
import type { RunSummary } from '../../../../state/store.ts';
import { createCalloutFinder } from '../../../review/callouts/callouts.ts';
import { follow, type LiveEvent, type RunField, type RunNow, type Step } from '../../live.ts';
import { Fields } from '../parts/change.tsx';
import { RowsTable } from '../parts/list.tsx';
import { Message } from '../parts/message.tsx';
import { instant, known, Pairs } from '../parts/notes.tsx';

/** The fields that a run changed, by address. */
type RunValues = { readonly [address: string]: readonly RunField[] };

const STEP = 100;

/** Finished runs, and the receipt of the one that is open. */
export function Runs({ turn }: { readonly turn: number }) {
  const [open, setOpen] = useState<string>();
  const fetched = useDocument<Documents.Runs>('runs.json', turn);
  if (open !== undefined) return <ReceiptView run={open} onClose={() => setOpen(undefined)} />;
  return (
    <>
      <h1>Runs</h1>
      <Fetching fetched={fetched} waiting="Reading the runs…">
        {({ runs }) => <ListedRuns runs={runs} onOpen={setOpen} />}
      </Fetching>
    </>
  );
}

type ListedRunsProps = {
  readonly runs: readonly RunSummary[];
  readonly onOpen: (run: string) => void;
};

function ListedRuns({ runs, onOpen }: ListedRunsProps) {
  if (runs.length === 0) return <p class="hint">Nothing was applied yet.</p>;
  const heads = ['Run', 'At', 'What', 'Ended', 'Changes', 'By'];
  return (
    <RowsTable label="Runs" heads={heads} number="Changes" rows={runs} step={STEP}>
      {({ run, at, purpose, status, changes, user, commit }) => (
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
      )}
    </RowsTable>
  );
}

function ReceiptView({ run, onClose }: { readonly run: string; readonly onClose: () => void }) {
  const fetched = useDocument<Documents.Receipt>(`runs/${run}.json`);
  const values = useDocument<RunValues>(`values/${run}.json`);
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
        {({ entries }) => (
          <ReceiptBody entries={entries} values={values.state === 'here' ? values.document : {}} />
        )}
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

type ReceiptBodyProps = {
  readonly entries: readonly Documents.Entry[];
  /** Empty until they are read. */
  readonly values: RunValues;
};

function ReceiptBody({ entries, values }: ReceiptBodyProps) {
  const began = findBegan(entries);
  const ended = findEnded(entries);
  const ledger = listLedger(entries);
  return (
    <>
      <Pairs pairs={listFacts(began, ended)} />
      <h2>{formatCount(ledger.length, 'change')}</h2>
      <RowsTable
        label="Changes"
        heads={['Change', 'What', 'What became of it']}
        rows={ledger}
        step={STEP}
      >
        {({ address, action, status, message, fields }, at) => (
          <tr key={at}>
            <th scope="row">
              <code>{sanitiseLine(address)}</code>
            </th>
            <td>
              {sanitiseLine(action)}
              {fields.length === 0 ? null : (
                <span class="what"> {fields.slice(0, 6).map(sanitiseLine).join(', ')}</span>
              )}
              <Values fields={values[address] ?? []} />
            </td>
            <td class={`ledger ${status}`}>
              <span aria-hidden="true">{MARKS[status]} </span>
              {status.replaceAll('_', ' ')}
              {message === null ? null : (
                <>
                  : <Message text={message} />
                </>
              )}
            </td>
          </tr>
        )}
      </RowsTable>
    </>
  );
}

/** Before and after of what a run changed in a resource, laid out once somebody asks. */
function Values({ fields }: { readonly fields: readonly RunField[] }) {
  const [isOpen, setOpen] = useState(false);
  if (fields.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Before and after</summary>
      {isOpen ? <Fields views={fields.map(viewValue)} purpose="comparison" /> : null}
    </details>
  );
}

/** A value that is not kept is named by a remark, beside the one that is. */
function viewValue({ path, before, after }: RunField): FieldView {
  const sides = Object.entries({ before, after });
  const members = sides.flatMap(([key, side]) =>
    'value' in side && side.value !== null ? [{ key, value: side.value }] : [],
  );
  const hidden = sides.flatMap(([key, side]) =>
    'hidden' in side ? [`${key}: ${HIDDEN[side.hidden]}`] : [],
  );
  if (!('hidden' in before || 'hidden' in after))
    return { ...viewSides(path, before.value, after.value, createCalloutFinder()), remark: null };
  const content = { type: 'element', summary: '', members } as const;
  return { path: sanitiseLine(path), sign: '~', content, remark: hidden.join('; ') };
}

const HIDDEN = {
  secret: 'a secret or sensitive value, which is not kept',
  digest: 'a long value, of which only a digest is kept',
} as const;

function listFacts(
  began: Documents.Began | undefined,
  ended: Documents.Ended | undefined,
): readonly (readonly [string, string])[] {
  if (began === undefined) return [];
  const { actor } = began;
  return known([
    ['Began', instant(began.at)],
    [
      'Ended',
      ended === undefined
        ? 'not yet, or it died'
        : [`${instant(ended.at)}, ${ended.status}`, describeWaiting(ended.ledger)]
            .filter((part) => part !== undefined)
            .join('; '),
    ],
    ['Verified', ended === undefined ? null : ended.verified ? 'yes' : 'no'],
    ['Purpose', began.purpose],
    ['Undoes', began.undoes],
    ['By', [actor.user, actor.host].filter((one) => one !== null).join(' on ')],
    ['Commit', actor.commit],
    ['Pipeline', actor.pipeline],
    ['Plan', began.plan_digest],
  ]);
}

type Live = {
  readonly connection: 'on' | 'off';
  readonly run: RunNow | undefined;
  /** How many runs ended while somebody looked: what is shown is asked for again then. */
  readonly ended: number;
};

/** Listens to what runs do. The browser connects again by itself when it was cut off. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ connection: 'off', run: undefined, ended: 0 });
  useEffect(() => {
    const source = new EventSource('events');
    source.onopen = () => setLive((now) => ({ ...now, connection: 'on' }));
    source.onerror = () => setLive((now) => ({ ...now, connection: 'off' }));
    source.onmessage = ({ data }) => {
      const event: LiveEvent = JSON.parse(data);
      setLive((now) => ({
        ...now,
        run: follow(now.run, event),
        ended: now.ended + (event.type === 'gone' ? 1 : 0),
      }));
    };
    return () => source.close();
  }, []);
  return live;
}

/** Shows the progress of the run that is under way. */
export function LiveRun({ run }: { readonly run: RunNow }) {
  const { purpose, user, sent, answered, waiting, failures, latest, status } = run;
  return (
    <section class="now" aria-labelledby="now-title">
      <h2 id="now-title">
        {sanitiseLine(purpose)} <code>{sanitiseLine(run.run)}</code>
        {user === null ? '' : ` by ${sanitiseLine(user)}`}
      </h2>
      <p class="figures">
        <strong>{formatNumber(answered)}</strong> of {formatCount(sent, 'request')} answered,{' '}
        <strong>{formatNumber(waiting.size)}</strong> under way
        {failures.length === 0 ? null : (
          <span class="failed">, {formatCount(failures.length, 'failure')}</span>
        )}
        {status === undefined ? '' : `; ended: ${sanitiseLine(status)}`}
      </p>
      <div class="links">
        <Steps title="Under way" steps={[...waiting.values()]} />
        <Steps title="Done last" steps={latest} />
      </div>
      {failures.length === 0 ? null : (
        <ul class="failures">
          {failures.map(({ address, step, error }, at) => (
            <li key={at}>
              <code>{sanitiseLine(address)}</code> {sanitiseLine(step)}: {sanitiseLine(error)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const MOST = 8;

function Steps({ title, steps }: { readonly title: string; readonly steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {steps.slice(0, MOST).map(({ address, step }, at) => (
          <li key={at}>
            {sanitiseLine(address)} <span class="what">{sanitiseLine(step)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A document of the server, on its way or here. */
type Fetched<T> =
  | { readonly state: 'waiting' }
  | { readonly state: 'here'; readonly document: T }
  | { readonly state: 'failed'; readonly message: string; readonly hint: string | null };

/** Asks for a document, again whenever `turn` changes; undefined asks for nothing yet. */
export function useDocument<T>(path: string | undefined, turn = 0): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T>>({ state: 'waiting' });
  useEffect(() => {
    if (path === undefined) return;
    const gone = new AbortController();
    ask<T>(path, gone.signal).then(
      (answer) => {
        if (!gone.signal.aborted) setFetched(answer);
      },
      () => {
        if (!gone.signal.aborted) setFetched(AWAY);
      },
    );
    return () => gone.abort();
  }, [path, turn]);
  return fetched;
}

const AWAY = {
  state: 'failed',
  message: '`callsheet ui` does not answer',
  hint: 'It may have been stopped. Start it again and open the address that it prints.',
} as const;

async function ask<T>(path: string, signal: AbortSignal): Promise<Fetched<T>> {
  const answer = await fetch(path, { signal });
  const text = await answer.text();
  if (answer.ok) return { state: 'here', document: JSON.parse(text) };
  try {
    const { error } = JSON.parse(text) as { readonly error: Failure };
    const problems = error.diagnostics.map(({ message }) => message);
    const message = [error.message, ...problems].join('\n');
    return { state: 'failed', message, hint: error.hint };
  } catch {
    return { state: 'failed', message: text, hint: null };
  }
}

type FetchingProps<T> = {
  readonly fetched: Fetched<T>;
  /** The text that is shown until the document arrives. */
  readonly waiting: string;
  readonly children: (document: T) => ComponentChildren;
};

/** Shows a document, or why there is none. */
export function Fetching<T>({ fetched, waiting, children }: FetchingProps<T>) {
  switch (fetched.state) {
    case 'waiting':
      return (
        <p class="hint" role="status">
          {waiting}
        </p>
      );
    case 'failed':
      return (
        <section class="note error" role="alert">
          <h3 class="lines">
            <Message text={fetched.message} />
          </h3>
          {fetched.hint === null ? null : (
            <p class="do">
              <Message text={fetched.hint} />
            </p>
          )}
        </section>
      );
    case 'here':
      return <>{children(fetched.document)}</>;
  }
}
