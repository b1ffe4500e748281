import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type Alike,
  type Entry,
  type Filter,
  filterEntries,
  getCardId,
  hasList,
  listEdits,
  listRows,
  NO_FILTER,
  type Plan,
} from '../model/plan.ts';
import { goTo, Looked, placeNow, useKept, useLooked } from '../page.ts';
import { ChangeCard } from './change.tsx';
import { AlikeNote, Column, Paper } from './column.tsx';
import { ChangeList, Filters } from './list.tsx';
import { Purpose } from './notes.tsx';
import { FEWEST_DRAWN, Timeline } from './timeline.tsx';
import { Top, type View, type ViewTab } from './top.tsx';

/** A plan to be reviewed: everything in one column, and, where it is long, a list that can be searched. */
export function Review({ plan }: { readonly plan: Plan }) {
  const [view, setView] = useState<View>('column');
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [address, setAddress] = useState(placeNow);
  const [pane, setPane] = useState<'list' | 'detail'>('list');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [keys, setKeys] = useKept('keys', ['on', 'off'], 'on');
  const [focusing, setFocusing] = useState(0);
  const lookedAt = useLooked(plan.head.digest);
  const search = useRef<HTMLInputElement>(null);
  const detail = useRef<HTMLDivElement>(null);

  const shown = useMemo(() => filterEntries(plan, filter), [plan, filter]);
  const rows = useMemo(() => listRows(shown), [shown]);
  const order = useMemo(
    () => rows.flatMap((row) => (row.type === 'entry' ? [row.entry] : [])),
    [rows],
  );
  const edits = useMemo(() => listEdits(plan), [plan]);
  const open = order.find((entry) => entry.address === address) ?? order[0];
  const tabs: readonly ViewTab[] = [
    { view: 'column', title: 'Read' },
    ...(hasList(plan) ? [{ view: 'list', title: 'List and search' } as const] : []),
    ...(edits.length < FEWEST_DRAWN ? [] : [{ view: 'timeline', title: 'Time line' } as const]),
  ];

  useEffect(() => {
    const follow = () => setAddress(placeNow());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => detail.current?.scrollTo(0, 0), [open]);
  useEffect(() => {
    const entry = plan.entries.find((one) => one.address === address);
    if (view === 'column' && entry !== undefined) focusCard(getCardId(plan, entry));
  }, [view, address]);

  const show = (next: View) => () => {
    if (tabs.some((tab) => tab.view === next)) setView(next);
  };
  const choose = (entry: Entry) => {
    setAddress(entry.address);
    goTo(entry.address);
  };
  const openEntry = (entry: Entry) => {
    choose(entry);
    if (view !== 'list') return setView('column');
    setPane('detail');
    requestAnimationFrame(() => {
      // The focus stays in the search if the reader went there meanwhile: they are typing.
      if (document.activeElement !== search.current) detail.current?.querySelector('h3')?.focus();
    });
  };
  const showAlike = (alike: Alike) => {
    setFilter({ ...NO_FILTER, alike });
    setPane('list');
    setFocusing(focusing + 1);
  };
  const step = (by: number) => () => {
    if (view === 'column') stepCard(by);
    if (view !== 'list' || open === undefined) return;
    const next = order[order.indexOf(open) + by];
    if (next !== undefined) choose(next);
    setFocusing(focusing + 1);
  };
  const toList = () => {
    if (view !== 'list') return;
    if (document.activeElement === search.current) setFilter({ ...filter, words: '' });
    setPane('list');
    setFocusing(focusing + 1);
  };
  const acts: Keys = {
    j: step(1),
    k: step(-1),
    '/': () => {
      if (!hasList(plan)) return;
      setView('list');
      setPane('list');
      // In another view there is no search yet.
      requestAnimationFrame(() => search.current?.focus());
    },
    '?': () => setHelpOpen(true),
    r: show('column'),
    l: show('list'),
    t: show('timeline'),
    ...(isHelpOpen ? {} : { Escape: toList }),
  };
  useKeys(acts, keys === 'on' && !isHelpOpen);

  return (
    <Purpose.Provider value={plan.head.purpose}>
      <Looked.Provider value={lookedAt}>
        <main>
          <Top
            plan={plan}
            tabs={tabs}
            view={view}
            onView={setView}
            onHelp={() => setHelpOpen(true)}
          />
          {view === 'column' ? <Column plan={plan} address={address} /> : null}
          {view === 'timeline' ? <Timeline edits={edits} onOpen={openEntry} /> : null}
          {view === 'list' ? (
            <>
              <div class="two" data-pane={pane}>
                <div class="side">
                  <Filters
                    plan={plan}
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
                  <h2 class="unseen">The chosen change</h2>
                  {open === undefined ? (
                    <p class="empty">No change fits the search and the filters.</p>
                  ) : (
                    <ChangeCard
                      key={open.index}
                      change={plan.getChange(open)}
                      head={plan.head}
                      note={<AlikeNote plan={plan} entry={open} onShow={showAlike} />}
                    />
                  )}
                </div>
              </div>
              <Paper plan={plan} entries={order} />
            </>
          ) : null}
        </main>
        <Help
          isOpen={isHelpOpen}
          onClose={() => setHelpOpen(false)}
          areKeysOn={keys === 'on'}
          onKeys={(areOn) => setKeys(areOn ? 'on' : 'off')}
        />
      </Looked.Provider>
    </Purpose.Provider>
  );
}

function focusCard(id: string): void {
  const card = document.getElementById(id);
  card?.scrollIntoView();
  card?.querySelector('h3')?.focus({ preventScroll: true });
}

/** Goes to the card before or after the one that has the focus. */
function stepCard(by: number): void {
  const cards = [...document.querySelectorAll('.column .card')];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[Math.max(0, at + by)];
  if (next !== undefined) focusCard(next.id);
}

/** Actions by key; other keys are left to the browser. */
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
  [['r'], 'read everything in one column'],
  [['l'], 'list, where there is one'],
  [['/'], 'search in the list'],
  [['Enter'], 'open a change of the list'],
  [['Esc'], 'back to the list; in the search, clear it'],
  [['t'], 'time line, where there is one'],
  [['?'], 'this help'],
];

type HelpProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly areKeysOn: boolean;
  readonly onKeys: (areOn: boolean) => void;
};

/** Explains the keys, with the switch that turns single ones off for readers whom they disturb. */
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
