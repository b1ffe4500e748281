import { useMemo, useState } from 'preact/hooks';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatNumber, headline } from '../../../render/wording.ts';
import { filterEntries, NO_FILTER } from '../model/filter.ts';
import type { Plan } from '../model/plan.ts';
import { rowsOf } from '../model/rows.ts';
import { goTo, placeNow } from '../place.ts';
import { ChangeDetail } from './change.tsx';
import { ChangeList } from './list.tsx';

/** A plan to be reviewed: the list of its changes, and the one that is open. */
export function Review({ plan }: { readonly plan: Plan }) {
  const [filter, setFilter] = useState(NO_FILTER);
  const [address, setAddress] = useState(placeNow());
  const shown = useMemo(() => filterEntries(plan, filter), [plan, filter]);
  const rows = useMemo(() => rowsOf(shown), [shown]);
  const open = shown.find((entry) => entry.address === address) ?? shown[0];
  return (
    <>
      <header class="top">
        <h1>{sanitiseLine(headline(plan.head))}</h1>
      </header>
      <main>
        <search>
          <input
            type="search"
            aria-label="Search in the changes"
            value={filter.words}
            onInput={({ currentTarget }) => setFilter({ ...filter, words: currentTarget.value })}
          />
          <p role="status">
            {formatNumber(shown.length)} of {formatNumber(plan.entries.length)}
          </p>
        </search>
        <ChangeList
          rows={rows}
          total={shown.length}
          selected={open}
          focusing={0}
          onOpen={(entry) => {
            setAddress(entry.address);
            goTo(entry.address);
          }}
        />
        {open === undefined ? null : <ChangeDetail change={plan.changeOf(open)} head={plan.head} />}
      </main>
    </>
  );
}
