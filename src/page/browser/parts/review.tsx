import { options } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Footer } from '../../../render/footers.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { comparedCount, formatCount } from '../../../render/wording.ts';
import { buildGraph } from '../model/graph.ts';
import {
  type Alike,
  type Entry,
  type Filter,
  filterEntries,
  hasOverview,
  isFiltering,
  listEdits,
  listRows,
  NO_FILTER,
  type Plan,
} from '../model/plan.ts';
import { goTo, placeNow, useKept } from '../page.ts';
import { ChangeDetail } from './change.tsx';
import { Connected, GraphView } from './graph.tsx';
import { ChangeList, Filters } from './list.tsx';
import { Notes, Purpose } from './notes.tsx';
import { AlikeNote, MOST_PRINTED, OverviewBlock, OverviewOnPaper } from './overview.tsx';
import { Timeline } from './timeline.tsx';
import { Top, type View, type ViewTab } from './top.tsx';

/** A plan to be reviewed: the list of its changes, the one that is open, and other ways to look at them. */
export function Review({ plan }: { readonly plan: Plan }) {
  const [view, setView] = useState<View>('changes');
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [address, setAddress] = useState(placeNow);
  const isListFirst = address === '' && !hasOverview(plan);
  const [pane, setPane] = useState<'list' | 'detail'>(isListFirst ? 'list' : 'detail');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [keys, setKeys] = useKept('keys', ['on', 'off'], 'on');
  const [focusing, setFocusing] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const detail = useRef<HTMLDivElement>(null);

  const shown = useMemo(() => filterEntries(plan, filter), [plan, filter]);
  const rows = useMemo(() => listRows(shown), [shown]);
  const order = useMemo(
    () => rows.flatMap((row) => (row.type === 'entry' ? [row.entry] : [])),
    [rows],
  );
  const graph = useMemo(() => buildGraph(plan), [plan]);
  const edits = useMemo(() => listEdits(plan), [plan]);
  const notes = [...plan.overview.above, ...plan.overview.below];
  const open = order.find((entry) => entry.address === address) ?? order[0];
  /** The overview stands above the first change, until somebody looks for another. */
  const isBegin = address === '' && !isFiltering(filter) && hasOverview(plan);
  const isPrinting = usePrinting();

  useEffect(() => {
    const follow = () => setAddress(placeNow());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => detail.current?.scrollTo(0, 0), [open, isBegin]);

  const choose = (entry: Entry) => {
    setAddress(entry.address);
    goTo(entry.address);
  };
  /** Shows a change, wherever it was asked for: a filter that hides it is dropped. */
  const openEntry = (entry: Entry) => {
    if (!shown.includes(entry)) setFilter(NO_FILTER);
    choose(entry);
    setView('changes');
    setPane('detail');
    requestAnimationFrame(() => {
      // Whoever went on to the search meanwhile is typing there.
      if (document.activeElement !== search.current) detail.current?.querySelector('h2')?.focus();
    });
  };
  const toBegin = () => {
    if (!hasOverview(plan)) return;
    setFilter(NO_FILTER);
    setAddress('');
    goTo('');
    setView('changes');
    setPane('detail');
  };
  /** Narrows the list to changes that are alike, or to those that are left. */
  const showAlike = (alike: Alike | 'left') => {
    setFilter({ ...NO_FILTER, alike });
    setView('changes');
    setPane('list');
    setFocusing(focusing + 1);
  };
  const step = (by: number) => () => {
    if (view !== 'changes' || open === undefined) return;
    const next = order[order.indexOf(open) + by];
    if (next !== undefined) choose(next);
    setFocusing(focusing + 1);
  };
  const show = (next: View) => () => {
    if (tabs.some((tab) => tab.view === next)) setView(next);
  };
  const toList = () => {
    if (document.activeElement === search.current) setFilter({ ...filter, words: '' });
    setView('changes');
    setPane('list');
    setFocusing(focusing + 1);
  };
  const tabs: readonly ViewTab[] = [
    { view: 'changes', title: 'Changes', count: plan.entries.length },
    ...(graph.needs.size === 0 ? [] : [{ view: 'graph', title: 'Graph' } as const]),
    ...(edits.length === 0
      ? []
      : [{ view: 'timeline', title: 'Time line', count: edits.length } as const]),
    { view: 'notes', title: 'Notes', ...(notes.length === 0 ? {} : { count: notes.length }) },
  ];
  const acts: Keys = {
    j: step(1),
    k: step(-1),
    '/': () => {
      setView('changes');
      setPane('list');
      // In another view there is no search yet.
      if (view === 'changes') search.current?.focus();
      else requestAnimationFrame(() => search.current?.focus());
    },
    '?': () => setHelpOpen(true),
    o: toBegin,
    c: show('changes'),
    g: show('graph'),
    t: show('timeline'),
    n: show('notes'),
    ...(isHelpOpen ? {} : { Escape: toList }),
  };
  useKeys(acts, keys === 'on' && !isHelpOpen);

  return (
    <Purpose.Provider value={plan.head.purpose}>
      <Top
        title={plan.title}
        head={plan.head}
        notes={notes}
        tabs={tabs}
        view={view}
        onView={setView}
        onHelp={() => setHelpOpen(true)}
      />
      <main>
        {view === 'changes' && plan.entries.length === 0 ? (
          <div class="page">
            <p class="hint">{formatCount(comparedCount(plan.head), 'resource')} compared.</p>
          </div>
        ) : null}
        {view === 'changes' && plan.entries.length > 0 ? (
          <div class="two" data-pane={pane}>
            <div class="side">
              <div>
                {hasOverview(plan) ? (
                  <button
                    type="button"
                    class="begin"
                    aria-current={isBegin ? 'true' : undefined}
                    onClick={toBegin}
                  >
                    Overview
                  </button>
                ) : null}
                <Filters
                  plan={plan}
                  shown={shown.length}
                  filter={filter}
                  onFilter={setFilter}
                  search={search}
                />
              </div>
              <ChangeList
                rows={rows}
                order={order}
                selected={open}
                focusing={focusing}
                onStep={step}
                onOpen={openEntry}
              />
            </div>
            <div class="detail" ref={detail}>
              <button type="button" class="back" onClick={toList}>
                ← All changes
              </button>
              {open === undefined ? (
                <p class="empty">No change fits the search and the filters.</p>
              ) : isBegin ? (
                <OverviewBlock plan={plan} onOpen={openEntry} onShow={showAlike} />
              ) : (
                <ChangeDetail
                  key={open.index}
                  change={plan.changeOf(open)}
                  head={plan.head}
                  note={<AlikeNote plan={plan} entry={open} onShow={showAlike} />}
                >
                  <Connected graph={graph} entry={open} onOpen={openEntry} />
                </ChangeDetail>
              )}
            </div>
          </div>
        ) : null}
        {view === 'graph' ? (
          <GraphView graph={graph} focus={open} onOpen={openEntry} onFocus={choose} />
        ) : null}
        {view === 'timeline' ? <Timeline edits={edits} onOpen={openEntry} /> : null}
        {view === 'notes' ? <Notes head={plan.head} notes={notes} /> : null}
      </main>
      <Help
        isOpen={isHelpOpen}
        onClose={() => setHelpOpen(false)}
        areKeysOn={keys === 'on'}
        onKeys={(areOn) => setKeys(areOn ? 'on' : 'off')}
      />
      {isPrinting ? (
        <Paper plan={plan} notes={notes} entries={order} isWhole={!isFiltering(filter)} />
      ) : null}
    </Purpose.Provider>
  );
}

/** What a key does; whoever is asked for one that is not here leaves it to the browser. */
type Keys = { readonly [key: string]: () => void };

/** Keys that work while somebody types, too. */
const ALWAYS: readonly string[] = ['Escape'];

/**
 * Listens to single keys, unless they are turned off or meant for something that is typed into. What a key does
 * is taken over before the next one can come, so that none is lost.
 */
function useKeys(keys: Keys, isOn: boolean): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { key, target } = event;
      const act = keys[key];
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (act === undefined || isModified || event.defaultPrevented) return;
      if (!ALWAYS.includes(key) && (!isOn || takesKeys(target))) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}

function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('input, select, textarea, dialog') !== null;
}

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['j', '↓'], 'next change'],
  [['k', '↑'], 'previous change'],
  [['Enter'], 'open it, and read it from the top'],
  [['Esc'], 'back to the list; in the search, clear it'],
  [['/'], 'search'],
  [['o'], 'overview, where there is one'],
  [['c'], 'changes'],
  [['g'], 'graph around the change'],
  [['t'], 'time line, where there is one'],
  [['n'], 'notes'],
  [['?'], 'this help'],
];

type HelpProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly areKeysOn: boolean;
  readonly onKeys: (areOn: boolean) => void;
};

/** What the keys do, and the switch that turns single ones off for those whom they are in the way of. */
function Help({ isOpen, onClose, areKeysOn, onKeys }: HelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, does]) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <div class="row">
        <label>
          <input
            type="checkbox"
            checked={areKeysOn}
            onChange={({ currentTarget }) => onKeys(currentTarget.checked)}
          />
          Single keys do this
        </label>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

type PaperProps = {
  readonly plan: Plan;
  readonly notes: readonly Footer[];
  readonly entries: readonly Entry[];
  /** Whether no filter leaves anything out. */
  readonly isWhole: boolean;
};

/** What is printed: the overview, or the changes that a filter lets through, with nothing folded. */
function Paper({ plan, notes, entries, isWhole }: PaperProps) {
  const rest = entries.length - MOST_PRINTED;
  return (
    <div class="paper">
      <h1>{sanitiseLine(plan.title)}</h1>
      <Notes head={plan.head} notes={notes} />
      {isWhole ? (
        <OverviewOnPaper plan={plan} />
      ) : (
        entries
          .slice(0, MOST_PRINTED)
          .map((entry) => (
            <ChangeDetail
              key={entry.index}
              change={plan.changeOf(entry)}
              head={plan.head}
              note={<AlikeNote plan={plan} entry={entry} />}
              isWhole
            />
          ))
      )}
      {!isWhole && rest > 0 ? (
        <p>
          {formatCount(rest, 'more change')} not printed. Narrow the list by search or filter, and
          print again.
        </p>
      ) : null}
    </div>
  );
}

/** Whether the page is about to be printed. What is printed must be there before the browser goes on. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const print = matchMedia('print');
    const follow = () => renderNow(() => setPrinting(print.matches));
    const begin = () => renderNow(() => setPrinting(true));
    const end = () => setPrinting(false);
    print.addEventListener('change', follow);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      print.removeEventListener('change', follow);
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

/** What a change of state leads to is rendered before this returns. */
function renderNow(change: () => void): void {
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  change();
  if (debounceRendering === undefined) delete options.debounceRendering;
  else options.debounceRendering = debounceRendering;
}
