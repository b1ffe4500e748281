import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action, Verdict } from '../../../core/plan-document.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatNumber, kindTitle } from '../../../render/wording.ts';
import { countBy, type Filter, isFiltering, NO_FILTER } from '../model/filter.ts';
import type { Entry } from '../model/plan.ts';
import { SIGNS, useActionWords } from './signs.tsx';

/** Typing on is not to search for every letter. */
const PAUSE_MS = 90;

const ACTIONS: readonly Action[] = [
  'create',
  'update',
  'replace',
  'delete',
  'forget',
  'adopt',
  'no_op',
];
const VERDICTS: readonly Verdict[] = ['refused', 'held', 'unsupported'];

type FiltersProps = {
  readonly entries: readonly Entry[];
  readonly shown: number;
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: RefObject<HTMLInputElement | null>;
};

/** What the list is narrowed by, and how much of it is left. */
export function Filters({ entries, shown, filter, onFilter, search }: FiltersProps) {
  return (
    <search class="filters">
      <SearchBox filter={filter} onFilter={onFilter} search={search} />
      <Chips entries={entries} filter={filter} onFilter={onFilter} />
      <Picks entries={entries} filter={filter} onFilter={onFilter} />
      <div class="told">
        <p role="status">
          {isFiltering(filter)
            ? `${formatNumber(shown)} of ${formatCount(entries.length, 'change')}`
            : formatCount(entries.length, 'change')}
        </p>
        {isFiltering(filter) ? (
          <button type="button" class="quiet" onClick={() => onFilter(NO_FILTER)}>
            Show all
          </button>
        ) : null}
      </div>
    </search>
  );
}

type PartProps = Pick<FiltersProps, 'entries' | 'filter' | 'onFilter'>;

function SearchBox({
  filter,
  onFilter,
  search,
}: Pick<FiltersProps, 'filter' | 'onFilter' | 'search'>) {
  const [words, setWords] = useState(filter.words);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Whoever sets a filter meanwhile, as Escape does, has the last word.
  useLayoutEffect(() => {
    clearTimeout(pause.current);
    setWords(filter.words);
  }, [filter]);
  const typed = (text: string) => {
    setWords(text);
    clearTimeout(pause.current);
    pause.current = setTimeout(() => onFilter({ ...filter, words: text }), PAUSE_MS);
  };
  return (
    <input
      ref={search}
      type="search"
      placeholder="Search addresses, names and texts"
      aria-label="Search addresses, names and texts"
      aria-keyshortcuts="/"
      autocomplete="off"
      spellcheck={false}
      value={words}
      onInput={({ currentTarget }) => typed(currentTarget.value)}
    />
  );
}

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  return set.has(value)
    ? new Set([...set].filter((one) => one !== value))
    : new Set([...set, value]);
}

function Chips({ entries, filter, onFilter }: PartProps) {
  const wordsOf = useActionWords();
  const byAction = countBy(entries, ({ action }) => action);
  const byVerdict = countBy(entries, ({ verdict }) => verdict);
  return (
    <fieldset class="chips">
      <legend class="unseen">Actions and verdicts</legend>
      {ACTIONS.filter((action) => byAction.has(action)).map((action) => (
        <button
          type="button"
          key={action}
          aria-pressed={filter.actions.has(action)}
          onClick={() => onFilter({ ...filter, actions: toggled(filter.actions, action) })}
        >
          <span class={`sign ${action}`} aria-hidden="true">
            {SIGNS[action]}
          </span>
          {wordsOf(action)} <span class="count">{formatNumber(byAction.get(action) ?? 0)}</span>
        </button>
      ))}
      {VERDICTS.filter((verdict) => byVerdict.has(verdict)).map((verdict) => (
        <button
          type="button"
          key={verdict}
          aria-pressed={filter.verdicts.has(verdict)}
          onClick={() => onFilter({ ...filter, verdicts: toggled(filter.verdicts, verdict) })}
        >
          <span class="sign" aria-hidden="true">
            !
          </span>
          {verdict} <span class="count">{formatNumber(byVerdict.get(verdict) ?? 0)}</span>
        </button>
      ))}
    </fieldset>
  );
}

/** Kinds and organizations; nothing to pick from is not shown. */
function Picks({ entries, filter, onFilter }: PartProps) {
  const kinds = [...countBy(entries, ({ kind }) => kind)];
  const owners = [...countBy(entries, ({ owner }) => owner)].sort(([a], [b]) => (a < b ? -1 : 1));
  if (kinds.length < 2 && owners.length < 2) return null;
  return (
    <div class="picks">
      {kinds.length < 2 ? null : (
        <select
          aria-label="Kind"
          value={filter.kind}
          onChange={({ currentTarget }) => onFilter({ ...filter, kind: currentTarget.value })}
        >
          <option value="">All kinds</option>
          {kinds.map(([kind, count]) => (
            <option key={kind} value={kind}>
              {kindTitle(sanitiseLine(kind))} ({formatNumber(count)})
            </option>
          ))}
        </select>
      )}
      {owners.length < 2 ? null : (
        <select
          aria-label="Organization"
          value={filter.owner === null ? '' : `=${filter.owner}`}
          onChange={({ currentTarget: { value } }) =>
            onFilter({ ...filter, owner: value === '' ? null : value.slice(1) })
          }
        >
          <option value="">All organizations</option>
          {owners.map(([owner, count]) => (
            <option key={owner} value={`=${owner}`}>
              {owner === '' ? 'The account' : sanitiseLine(owner)} ({formatNumber(count)})
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
