import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Action, Verdict } from '../../../../core/plan-document.ts';
import { countEach } from '../../../../core/value.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import {
  formatCalls,
  formatCount,
  formatFirst,
  formatNumber,
  kindTitle,
} from '../../../../render/wording.ts';
import {
  type Alike,
  type Entry,
  type Filter,
  groupTitle,
  isFiltering,
  listOffsets,
  NO_FILTER,
  type Plan,
  type Row,
  rowAt,
} from '../model/plan.ts';
import { ActionSign, ChangeLink, SIGNS, useActionWords } from './notes.tsx';

/** Rows that are there above and below what can be seen. */
const BEYOND = 8;

type ListProps = {
  readonly rows: readonly Row[];
  /** The entries of the rows. */
  readonly order: readonly Entry[];
  readonly selected: Entry | undefined;
  /** Counts up when the selected row is to be focused. */
  readonly focusing: number;
  readonly onStep: (by: number) => () => void;
  readonly onOpen: (entry: Entry) => void;
};

/** The changes, of which only those in sight are in the page, so that ten thousand scroll like ten. */
export function ChangeList({ rows, order, selected, focusing, onStep, onOpen }: ListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const offsets = useMemo(() => listOffsets(rows), [rows]);
  const chosen = rows.findIndex((row) => row.type === 'entry' && row.entry === selected);

  const places = useMemo(() => new Map(order.map((entry, at) => [entry, at + 1])), [order]);
  useKeys(frame, onStep);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null || chosen < 0) return;
    const [top = 0, bottom = 0] = [offsets[chosen], offsets[chosen + 1]];
    const heading = rows[chosen - 1]?.type === 'heading' ? (offsets[chosen - 1] ?? top) : top;
    if (heading < element.scrollTop) element.scrollTop = heading;
    if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight;
  }, [chosen, rows]);

  useLayoutEffect(() => {
    if (focusing > 0) frame.current?.querySelector<HTMLElement>('[aria-current]')?.focus();
  }, [focusing]);

  const first = Math.max(0, rowAt(offsets, view.top) - BEYOND);
  const last = Math.min(rows.length - 1, rowAt(offsets, view.top + view.height) + BEYOND);
  const shown = new Set<number>();
  for (let at = first; at <= last; at += 1) shown.add(at);
  // It may have the focus, which would be lost with it.
  if (chosen >= 0) shown.add(chosen);

  return (
    <div class="list" ref={frame}>
      <ol style={{ height: `${offsets.at(-1) ?? 0}px` }} aria-label="Changes">
        {[...shown]
          .sort((a, b) => a - b)
          .map((at) => {
            const row = rows[at];
            if (row === undefined) return null;
            const style = { top: `${offsets[at]}px` };
            return row.type === 'heading' ? (
              <li class="heading" key={`heading ${row.title}`} style={style}>
                <h2>{sanitiseLine(row.title)}</h2>
                <span class="count">{formatNumber(row.count)}</span>
              </li>
            ) : (
              <li
                key={row.entry.index}
                style={style}
                aria-setsize={order.length}
                aria-posinset={places.get(row.entry)}
              >
                <EntryLink
                  entry={row.entry}
                  isSelected={row.entry === selected}
                  isTabStop={row.entry === selected || (chosen < 0 && at === firstEntry(rows))}
                  onOpen={onOpen}
                />
              </li>
            );
          })}
      </ol>
    </div>
  );
}

/** Arrows move in the list; elsewhere they scroll. */
function useKeys(frame: RefObject<HTMLElement | null>, onStep: ListProps['onStep']): void {
  useLayoutEffect(() => {
    const element = frame.current;
    const listen = (event: KeyboardEvent) => {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (by === 0) return;
      event.preventDefault();
      onStep(by)();
    };
    element?.addEventListener('keydown', listen);
    return () => element?.removeEventListener('keydown', listen);
  });
}

function firstEntry(rows: readonly Row[]): number {
  return rows.findIndex(({ type }) => type === 'entry');
}

type EntryLinkProps = {
  readonly entry: Entry;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly onOpen: (entry: Entry) => void;
};

function EntryLink({ entry, isSelected, isTabStop, onOpen }: EntryLinkProps) {
  const { address, name, action, verdict } = entry;
  const shown = name === address ? undefined : sanitiseLine(name);
  return (
    <ChangeLink
      entry={entry}
      onOpen={onOpen}
      class="entry"
      tabIndex={isTabStop ? 0 : -1}
      aria-current={isSelected ? 'true' : undefined}
    >
      <ActionSign action={action} />
      <span class="address">{sanitiseLine(address)}</span>
      <span class="name">
        {[shown, formatCalls(entry)].filter((text) => text !== undefined).join(', ')}
      </span>
      {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
    </ChangeLink>
  );
}

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
  readonly plan: Plan;
  readonly shown: number;
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: RefObject<HTMLInputElement | null>;
};

/** Shows the filters of the list, and how many changes they leave. */
export function Filters({ plan, shown, filter, onFilter, search }: FiltersProps) {
  const { entries } = plan;
  return (
    <search class="filters">
      <SearchBox filter={filter} onFilter={onFilter} search={search} />
      <Chips entries={entries} filter={filter} onFilter={onFilter} />
      <Picks entries={entries} filter={filter} onFilter={onFilter} />
      <AlikePick plan={plan} filter={filter} onFilter={onFilter} />
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

type FilterProps = Pick<FiltersProps, 'filter' | 'onFilter'> & {
  readonly entries: readonly Entry[];
};

function SearchBox({
  filter,
  onFilter,
  search,
}: Pick<FiltersProps, 'filter' | 'onFilter' | 'search'>) {
  const [words, setWords] = useState(filter.words);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  // A filter that is set meanwhile, as by Escape, overrides the typed words.
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

function Chips({ entries, filter, onFilter }: FilterProps) {
  const nameAction = useActionWords();
  const byAction = countEach(entries.map(({ action }) => action));
  const byVerdict = countEach(entries.map(({ verdict }) => verdict));
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
          {nameAction(action)} <span class="count">{formatNumber(byAction.get(action) ?? 0)}</span>
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
function Picks({ entries, filter, onFilter }: FilterProps) {
  const kinds = [...countEach(entries.map(({ kind }) => kind))];
  const owners = [...countEach(entries.map(({ owner }) => owner))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
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

/** Groups that can be picked; the others are reached from a change of theirs. */
const MOST_PICKED = 50;
/** Fields of a group that are named. */
const MOST_NAMED = 2;

/** Offers the groups of alike changes and the rest; renders nothing if there are no groups. */
function AlikePick({ plan, filter, onFilter }: Pick<FiltersProps, 'plan' | 'filter' | 'onFilter'>) {
  const { groups, alone } = plan.overview;
  if (groups.length === 0) return null;
  const chosen = filter.alike;
  const offered = groups.filter((group, at) => at < MOST_PICKED || group === chosen);
  const choices: readonly (readonly [Filter['alike'], string])[] = [
    [null, 'Alike or not'],
    ...offered.map((group): readonly [Alike, string] => {
      const paths = group.fields.map(({ path }) => path);
      const fields = sanitiseLine(formatFirst(paths, MOST_NAMED));
      return [group, `${groupTitle(group)}${fields === '' ? '' : `: ${fields}`}`];
    }),
    ...(alone.size === 0 || alone.size === plan.entries.length
      ? []
      : [['left', `Not alike (${formatNumber(alone.size)})`] as const]),
  ];
  return (
    <div class="picks">
      <select
        aria-label="Alike"
        value={choices.findIndex(([alike]) => alike === chosen)}
        onChange={({ currentTarget: { value } }) =>
          onFilter({ ...filter, alike: choices[Number(value)]?.[0] ?? null })
        }
      >
        {choices.map(([, words], at) => (
          <option key={at} value={at}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

/**
 * How many items of a list are shown at once, and the button that shows a step more; null where none are left.
 * `noun`: what they are, as in `more field`; then it says how many are left.
 */
export function useMore(
  items: number,
  step: number,
  noun?: string,
): readonly [most: number, button: ComponentChildren] {
  const [most, setMost] = useState(step);
  const rest = items - most;
  if (rest <= 0) return [most, null];
  const left = noun === undefined ? 'more' : `of ${formatCount(rest, noun)}`;
  const button = (
    <p class="more">
      <button type="button" onClick={() => setMost(most + step)}>
        Show {formatNumber(Math.min(step, rest))} {left}
      </button>
    </p>
  );
  return [most, button];
}

type RowsTableProps<T> = {
  readonly label: string;
  readonly heads: readonly string[];
  /** The head above numbers. */
  readonly number?: string;
  readonly class?: string;
  readonly rows: readonly T[];
  /** Rows that are shown at once. */
  readonly step: number;
  readonly children: (row: T, at: number) => ComponentChildren;
};

/** A table with a row for each of many things. */
export function RowsTable<T>({ label, heads, number, rows, step, ...given }: RowsTableProps<T>) {
  const [most, more] = useMore(rows.length, step);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: some browsers scroll only what has the focus, and the keyboard must reach it */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <table class={given.class ?? 'rows'}>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col" class={head === number ? 'number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{rows.slice(0, most).map(given.children)}</tbody>
        </table>
      </section>
      {more}
    </>
  );
}
