import { options } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { addressTexts } from '../../../../render/addresses.ts';
import { viewFields } from '../../../../render/fields.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import {
  comparedCount,
  formatCalls,
  formatCount,
  formatFirst,
  formatGroup,
  formatNumber,
  varyingMessage,
} from '../../../../render/wording.ts';
import {
  type Alike,
  type Entry,
  findExample,
  getCardId,
  groupsWith,
  groupTitle,
  listAdopted,
  listSquares,
  omitGroupedFields,
  type Plan,
} from '../model/plan.ts';
import { ChangeCard, Fields, SeenBox, VerdictBadge } from './change.tsx';
import { FleetMap, markWords } from './map.tsx';
import { About, ActionSign, NoteBlock, WayOn } from './notes.tsx';

/** Cards that are there at once; the next are added while the page is read. */
const FIRST = 20;
const STEP = 20;
/** More cards are added where somebody scrolls to their end. */
const MOST_UNASKED = 200;
/** Changes that are printed; a browser takes minutes for thousands of pages that would not be read. */
const MOST_PRINTED = 500;

type ColumnProps = {
  readonly plan: Plan;
  /** The address of a change that must be there. */
  readonly address: string;
};

/** A plan as it is read: what stands alone one by one, then each group once, and at last what is only to be known. */
export function Column({ plan, address }: ColumnProps) {
  const { above, alone, groups, below } = plan.overview;
  const portions = useMemo(() => splitPortions([...alone]), [alone]);
  const wanted = [...alone].findIndex((entry) => entry.address === address) + 1;
  const { most, end, rest } = useGrowing(alone.size, wanted);
  const cards = useMemo(
    () => groups.map((group, at) => <AlikeCard key={at} plan={plan} group={group} />),
    [plan],
  );
  const map = useMemo(
    () => (
      <FleetMap
        title="Where this lands"
        hint="A square is an agent of this plan. Select one to go to its card."
        squares={listSquares(plan)}
        words={markWords(plan.head.purpose)}
      />
    ),
    [plan],
  );
  const isMixed = alone.size > 0 && groups.length > 0;
  return (
    <div class="column">
      {above.map((note, at) => (
        <NoteBlock key={at} note={note} />
      ))}
      <h2 class={isMixed ? undefined : 'unseen'}>{isMixed ? 'Read one by one' : 'Changes'}</h2>
      {plan.entries.length === 0 ? (
        <p class="hint">{formatCount(comparedCount(plan.head), 'resource')} compared.</p>
      ) : null}
      {portions.slice(0, Math.ceil(most / STEP)).map((entries, at) => (
        <Portion key={at} plan={plan} entries={entries} />
      ))}
      {rest === '' ? null : (
        <p class="rest" ref={end}>
          {rest}
        </p>
      )}
      {isMixed ? <h2 id="alike">Read once</h2> : null}
      {cards}
      {map}
      <Named title={plan.overview.alreadyTitle} entries={plan.overview.already} />
      <Named title="Adopted: found live, nothing is written" entries={listAdopted(plan)} />
      {below.map((note, at) => (
        <NoteBlock key={at} note={note} />
      ))}
      <WayOn head={plan.head} />
      <About head={plan.head} />
    </div>
  );
}

function splitPortions<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / STEP) }, (_, at) =>
    items.slice(at * STEP, (at + 1) * STEP),
  );
}

type PortionProps = { readonly plan: Plan; readonly entries: readonly Entry[] };

/** Some cards, which are made once, however many follow. */
function Portion({ plan, entries }: PortionProps) {
  return useMemo(
    () => (
      <>
        {entries.map((entry) => (
          <ChangeCard
            key={entry.index}
            change={omitGroupedFields(plan, entry)}
            head={plan.head}
            isExplained={plan.overview.explained.has(entry)}
            note={<AlikeNote plan={plan} entry={entry} />}
            seen={entry.address}
          />
        ))}
      </>
    ),
    [plan, entries],
  );
}

/** How many of the cards are there, the place behind them, and what is said there of the others. */
function useGrowing(all: number, wanted: number) {
  const [grown, setGrown] = useState(FIRST);
  const isPrinting = usePrinting();
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (grown >= all) return undefined;
    const grow = () => setGrown(grown + STEP);
    if (grown < MOST_UNASKED || end.current === null) {
      const timer = setTimeout(grow);
      return () => clearTimeout(timer);
    }
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (seen?.isIntersecting === true) grow();
      },
      { rootMargin: '200% 0px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [grown, all]);
  const most = Math.min(all, Math.max(grown, wanted, isPrinting ? MOST_PRINTED : 0));
  return { most, end, rest: most < all ? restMessage(most, all, isPrinting) : '' };
}

function restMessage(most: number, all: number, isPrinting: boolean): string {
  if (isPrinting) {
    const rest = all - most;
    return `${formatCount(rest, 'more change')} ${rest === 1 ? 'is' : 'are'} not printed. To print some: List and search.`;
  }
  const there = `${formatNumber(most)} of ${formatCount(all, 'change')}`;
  return `The page shows ${there}, and more as you scroll. To find one: List and search.`;
}

/** Names changes whose values are not shown. */
function Named({ title, entries }: { readonly title: string; readonly entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <section class="note">
      <h2>{sanitiseLine(title)}</h2>
      <Which entries={entries} />
    </section>
  );
}

type WhichProps = { readonly entries: Iterable<Entry>; readonly blocks?: Alike['blocks'] };

/** All addresses of some changes. */
function Which({ entries, blocks }: WhichProps) {
  const texts = addressTexts(
    [...entries].map(({ address }) => address),
    blocks,
  );
  return (
    <div class="which">
      {texts.map((text, at) => (
        <p key={at}>{keepNamesWhole(sanitiseLine(text))}</p>
      ))}
    </div>
  );
}

/** A browser breaks lines within names that have hyphens. */
function keepNamesWhole(text: string) {
  return text.split(/( )/).map((word) => (word.includes('-') ? <span>{word}</span> : word));
}

const MOST_SOURCES = 3;

/** Shows what changes alike in many resources once, with the file that says so and the addresses. */
function AlikeCard({ plan, group }: { readonly plan: Plan; readonly group: Alike }) {
  const { kind, action, verdict, sources, reasons, varying, entries } = group;
  const example = findExample(plan, group);
  const calls = formatCalls(group);
  const varyingText = varyingMessage(varying);
  const title = formatGroup(sanitiseLine(kind), action, entries.size);
  const id = getCardId(plan, group);
  return (
    <article class={`card many ${action === 'delete' ? 'gone' : ''}`} id={id}>
      <header>
        <h3 tabIndex={-1}>
          <ActionSign action={action} /> {title}
        </h3>
        {sources.length === 0 ? null : (
          <code>{sanitiseLine(formatFirst(sources, MOST_SOURCES))}</code>
        )}
        <VerdictBadge verdict={verdict} />
        {calls === undefined ? null : <span class="calls">{calls}</span>}
      </header>
      <div class="body">
        {reasons.map((reason) => (
          <p class="reason" key={reason}>
            {sanitiseLine(reason)}
          </p>
        ))}
        {varyingText === undefined ? null : <p class="hint">{sanitiseLine(varyingText)}</p>}
        {example === undefined ? null : (
          <Fields views={viewFields(example, plan.head, false)} purpose={plan.head.purpose} />
        )}
        <Which entries={entries} blocks={group.blocks} />
      </div>
      <SeenBox name={title} card={id} />
    </article>
  );
}

/** Fields of a change that are named as alike in others. */
const MOST_NAMED = 5;

type AlikeNoteProps = {
  readonly plan: Plan;
  readonly entry: Entry;
  /** Narrows the list to a group; without it a link leads to the card of the group. */
  readonly onShow?: (group: Alike) => void;
};

/** Says of a change which of its fields are alike in others. */
export function AlikeNote({ plan, entry, onShow }: AlikeNoteProps) {
  const groups = groupsWith(plan, entry);
  if (groups.length === 0) return null;
  return (
    <ul class="shared" aria-label="Fields that are alike in others">
      {groups.map((group, at) => (
        <li key={at}>
          <code>
            {sanitiseLine(
              formatFirst(
                group.fields.map(({ path }) => path),
                MOST_NAMED,
              ),
            )}
          </code>{' '}
          {onShow === undefined ? (
            <a href={`#${getCardId(plan, group)}`}>{groupTitle(group)}</a>
          ) : (
            <button type="button" class="quiet" onClick={() => onShow(group)}>
              {groupTitle(group)}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

type PaperProps = { readonly plan: Plan; readonly entries: readonly Entry[] };

/** The changes of the list on paper, each whole. */
export function Paper({ plan, entries }: PaperProps) {
  if (!usePrinting()) return null;
  return (
    <div class="column">
      {entries.slice(0, MOST_PRINTED).map((entry) => (
        <ChangeCard key={entry.index} change={plan.getChange(entry)} head={plan.head} />
      ))}
      {entries.length > MOST_PRINTED ? (
        <p class="rest">{restMessage(MOST_PRINTED, entries.length, true)}</p>
      ) : null}
    </div>
  );
}

/** Tells that the page is about to be printed: all of it must be there before the browser goes on. */
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

/** Renders what a change of state leads to before it returns. */
function renderNow(change: () => void): void {
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  change();
  if (debounceRendering === undefined) delete options.debounceRendering;
  else options.debounceRendering = debounceRendering;
}
