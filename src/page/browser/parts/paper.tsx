import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount } from '../../../render/wording.ts';
import type { Entry, Plan } from '../model/plan.ts';
import { ChangeDetail } from './change.tsx';
import { Notes, notesOf } from './notes.tsx';

/** Changes that are printed; a browser takes minutes for thousands of pages, and nobody reads them. */
export const MOST_PRINTED = 500;

/** What is printed: the changes that the filter lets through, one after the other, with nothing folded. */
export function Paper({
  plan,
  entries,
}: {
  readonly plan: Plan;
  readonly entries: readonly Entry[];
}) {
  const rest = entries.length - MOST_PRINTED;
  return (
    <div class="paper">
      <h1>{sanitiseLine(plan.title)}</h1>
      <Notes head={plan.head} notes={notesOf(plan)} />
      {entries.slice(0, MOST_PRINTED).map((entry) => (
        <ChangeDetail key={entry.index} change={plan.changeOf(entry)} head={plan.head} isWhole />
      ))}
      {rest > 0 ? (
        <p>
          {formatCount(rest, 'more change')} not printed. Narrow the list by search or filter, and
          print again.
        </p>
      ) : null}
    </div>
  );
}
