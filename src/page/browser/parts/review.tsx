import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { comparedCount, formatCount } from '../../../render/wording.ts';
import { useKept } from '../kept.ts';
import { type Keys, useKeys } from '../keys.ts';
import { type Filter, filterEntries, NO_FILTER } from '../model/filter.ts';
import { graphOf } from '../model/graph.ts';
import type { Entry, Plan } from '../model/plan.ts';
import { rowsOf } from '../model/rows.ts';
import { editsOf } from '../model/timeline.ts';
import { goTo, placeNow } from '../place.ts';
import { usePrinting } from '../printing.ts';
import { ChangeDetail } from './change.tsx';
import { Filters } from './filters.tsx';
import { Connected, GraphView } from './graph.tsx';
import { Help } from './help.tsx';
import { ChangeList } from './list.tsx';
import { Notes, notesOf } from './notes.tsx';
import { Paper } from './paper.tsx';
import { Purpose } from './signs.tsx';
import { Timeline } from './timeline.tsx';
import { Top, type View, type ViewTab } from './top.tsx';

/** A plan to be reviewed: the list of its changes, the one that is open, and other ways to look at them. */
export function Review({ plan }: { readonly plan: Plan }) {
  const [view, setView] = useState<View>('changes');
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [address, setAddress] = useState(placeNow);
  const [pane, setPane] = useState<'list' | 'detail'>(address === '' ? 'list' : 'detail');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [keys, setKeys] = useKept('keys', ['on', 'off'], 'on');
  const [focusing, setFocusing] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const detail = useRef<HTMLDivElement>(null);

  const shown = useMemo(() => filterEntries(plan, filter), [plan, filter]);
  const rows = useMemo(() => rowsOf(shown), [shown]);
  const order = useMemo(
    () => rows.flatMap((row) => (row.type === 'entry' ? [row.entry] : [])),
    [rows],
  );
  const graph = useMemo(() => graphOf(plan), [plan]);
  const edits = useMemo(() => editsOf(plan), [plan]);
  const notes = useMemo(() => notesOf(plan), [plan]);
  const open = order.find((entry) => entry.address === address) ?? order[0];
  const isPrinting = usePrinting();

  useEffect(() => {
    const follow = () => setAddress(placeNow());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => detail.current?.scrollTo(0, 0), [open]);

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
              <Filters
                entries={plan.entries}
                shown={shown.length}
                filter={filter}
                onFilter={setFilter}
                search={search}
              />
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
              ) : (
                <ChangeDetail key={open.index} change={plan.changeOf(open)} head={plan.head}>
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
      {isPrinting ? <Paper plan={plan} entries={order} /> : null}
    </Purpose.Provider>
  );
}
