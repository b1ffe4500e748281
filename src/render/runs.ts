import type { JournalEntry, Override, RunBegan } from '../state/journal.ts';
import type { RunSummary } from '../state/store.ts';
import { renderLedgerText } from './ledger.ts';
import { cutLine, type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { renderNotUndone, renderVerification } from './verification.ts';
import { padText, widestOf } from './width.ts';
import { formatCount } from './wording.ts';

/** Characters of a commit, as Git shortens it. */
const SHORT_COMMIT = 7;

/** Finished runs, newest first, one a line. */
export function renderRunsText(runs: readonly RunSummary[], options: RenderOptions): string {
  if (runs.length === 0) return 'No run is recorded.\n';
  const ids = widestOf(runs.map(({ run }) => run));
  const purposes = widestOf(runs.map(({ purpose }) => purpose));
  const statuses = widestOf(runs.map(({ status }) => status));
  const counts = widestOf(runs.map(({ changes }) => formatCount(changes, 'change')));
  const lines = runs.map(
    (run): Line => [
      span(padText(run.run, ids)),
      span(`  ${padText(run.purpose, purposes)}  `),
      span(padText(run.status, statuses), run.status === 'done' ? 'plain' : 'warning'),
      span(`  ${padText(formatCount(run.changes, 'change'), counts)}`, 'dim'),
      ...originOf(run),
    ],
  );
  return paint(
    lines.map((line) => cutLine(line, options.width)),
    options.color,
  );
}

/** `by kim at 1f3a9c2`: who ran it, and from which commit. */
function originOf({ user, commit }: RunSummary): Line {
  const parts = [
    ...(user === null ? [] : [`by ${sanitiseLine(user)}`]),
    ...(commit === null ? [] : [`at ${shortCommit(sanitiseLine(commit))}`]),
  ];
  return parts.length === 0 ? [] : [span(`  ${parts.join(' ')}`, 'dim')];
}

/** What is said after the commit, such as that there were changes beside it, stays. */
function shortCommit(commit: string): string {
  return commit.replace(/^[0-9a-f]{8,}/, (hash) => hash.slice(0, SHORT_COMMIT));
}

/** One run's receipt: who ran what, from which commit, and what became of each change. */
export function renderRunText(entries: readonly JournalEntry[], options: RenderOptions): string {
  const began = entries.find((entry) => entry.type === 'began');
  const ended = entries.findLast((entry) => entry.type === 'ended');
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['run', began?.run],
    ['what', whatOf(began)],
    ['by', began && [began.actor.user, began.actor.host].filter(Boolean).join(' on ')],
    ['commit', began?.actor.commit],
    ['pipeline', began?.actor.pipeline],
    ['began', began?.at],
    ['ended', ended?.at ?? 'it did not end'],
    ['status', ended && `${ended.status}${ended.verified ? ', every leaf read back' : ''}`],
    ['plan', began?.plan_digest],
    ['platform', began && `${began.base_url}, account ${began.account_id}`],
    ...(began?.overrides ?? []).map(overrideFact),
  ];
  const lines = facts.flatMap(([name, value]): readonly Line[] => {
    if (!value) return [];
    const line = [span(padText(name, 10), 'dim'), span(sanitiseLine(value))];
    return name === OVERRODE ? wrap(line, options.width, 10) : [cutLine(line, options.width)];
  });
  const head = paint(lines, options.color);
  const ledger = renderLedgerText(ended?.ledger ?? [], options);
  const { differs = [], left = [] } = ended ?? {};
  const lasting =
    differs.length === 0
      ? left.length === 0
        ? []
        : [renderNotUndone(left, options)]
      : [renderVerification({ differs, equal: 0, problem: null, left }, began?.undoes, options)];
  return [head, ledger, ...lasting].join('\n');
}

function whatOf(began: RunBegan | undefined): string | undefined {
  if (began?.snapshot) return `${began.purpose} to the snapshot of ${began.snapshot.made_at}`;
  return began?.undoes ? `${began.purpose} of ${began.undoes}` : began?.purpose;
}

const OVERRODE = 'overrode';

function overrideFact({ message, reason }: Override): readonly [string, string] {
  return [OVERRODE, reason === null ? message : `${message}; reason: ${reason}`];
}
