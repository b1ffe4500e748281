import type { TargetedKeyboardEvent } from 'preact';
import { withKey } from '../../../../core/address.ts';
import type { PlanDocument } from '../../../../core/plan-document.ts';
import { factorAddresses } from '../../../../render/addresses.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { formatCalls, formatCount, formatNumber } from '../../../../render/wording.ts';
import type { Mark, Square } from '../model/plan.ts';
import { linkTo } from '../page.ts';
import { COMPARISONS } from './notes.tsx';

/** Fewer agents are as soon read; among more, one is not found by looking. */
const FEWEST = 12;
const MOST = 5000;
/** So many agents or fewer stand with their names. */
const MOST_NAMED = 6;
/** More squares than this are small. */
const MOST_LARGE = 200;

export type MarkWords = { readonly [mark in Mark]?: string };

/** The legend of the marks of a picture, in the tense of the document. */
export function markWords(purpose: PlanDocument['purpose']): MarkWords {
  const edited = 'edited outside Callsheet';
  if (COMPARISONS.has(purpose)) return { changed: 'changed', new: 'new', gone: 'gone', edited };
  return {
    changed: 'to change',
    new: 'to create',
    gone: 'to delete',
    held: 'of these held or refused',
    edited,
  };
}

type MapProps = {
  readonly title: string;
  /** Which agents are shown. */
  readonly hint: string;
  readonly squares: readonly Square[];
  /** The legend of each mark; one without words is not drawn. */
  readonly words: MarkWords;
  /** Runs at a click; without it a square leads to its card. */
  readonly onOpen?: ((address: string) => void) | undefined;
};

/** A square for each agent, by organization: how many calls it has, and what becomes of it. */
export function FleetMap({ title, hint, squares, words, onOpen }: MapProps) {
  if (squares.length < FEWEST || squares.length > MOST) return null;
  const scale = createScale(squares);
  const owners = [...Map.groupBy(squares, ({ owner }) => owner)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const first = listLines(owners[0]?.[1] ?? [])[0]?.squares[0];
  return (
    <section class={squares.length > MOST_LARGE ? 'map small' : 'map'} aria-labelledby="map-title">
      <h2 id="map-title">{title}</h2>
      <p class="hint">{hint}</p>
      <ul class="legend">
        {listCounts(squares, words).map(({ mark, text }) => (
          <li key={mark}>
            <span class={`square none ${mark}`} aria-hidden="true" /> {text}
          </li>
        ))}
        {scale.legend.map(({ level, text }) => (
          <li key={level}>
            <span class={`square ${level}`} aria-hidden="true" /> {text}
          </li>
        ))}
      </ul>
      {owners.map(([owner, own]) => (
        <section key={owner}>
          <h3>
            {owner === '' ? 'Without an organization' : sanitiseLine(owner)}
            {owners.length === 1 ? null : <small>{describe(own, words)}</small>}
          </h3>
          {listLines(own).map(({ label, squares: line }, at) => (
            <div class="line" key={at}>
              {label === '' ? null : <p>{sanitiseLine(label)}</p>}
              <ul>
                {line.map((square) => (
                  <li key={square.address}>
                    <SquareLink
                      square={square}
                      level={scale.getLevel(square)}
                      words={words}
                      isNamed={line.length <= MOST_NAMED}
                      isTabStop={square === first}
                      onOpen={onOpen}
                    />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </section>
      ))}
    </section>
  );
}

type SquareProps = Pick<MapProps, 'words' | 'onOpen'> & {
  readonly square: Square;
  readonly level: Level;
  readonly isNamed: boolean;
  readonly isTabStop: boolean;
};

function SquareLink({ square, level, words, isNamed, isTabStop, onOpen }: SquareProps) {
  const { address, name } = square;
  const marks = square.marks.filter((mark) => words[mark] !== undefined);
  const about = [name, address, formatCalls(square), ...marks.map((mark) => words[mark])];
  const label = sanitiseLine(about.filter((text) => text !== undefined).join(', '));
  return (
    <a
      href={linkTo(address)}
      aria-label={label}
      title={label}
      tabIndex={isTabStop ? 0 : -1}
      onKeyDown={moveFocus}
      onClick={(event) => {
        if (onOpen === undefined) return;
        event.preventDefault();
        onOpen(address);
      }}
    >
      <span class={['square', level, ...marks].join(' ')} />
      {isNamed ? <bdi>{sanitiseLine(name)}</bdi> : null}
    </a>
  );
}

const STEPS: { readonly [key: string]: number } = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** Arrows go from square to square: a fleet of tab stops would stand between a reader and the rest of the page. */
export function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const by = STEPS[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const map = event.currentTarget.closest('.map');
  const squares = [...(map?.querySelectorAll<HTMLElement>('[tabindex]') ?? [])];
  const at = squares.indexOf(event.currentTarget);
  squares[Math.max(0, at + by)]?.focus();
}

/** `59 to change`, for each mark that some have. */
function listCounts(squares: readonly Square[], words: MarkWords) {
  return Object.entries(words).flatMap(([mark, word]) => {
    const { length } = squares.filter(({ marks }) => marks.includes(mark as Mark));
    return length === 0 ? [] : [{ mark, text: `${formatNumber(length)} ${word}` }];
  });
}

/** `60 agents, 59 to change, 1 to delete` */
function describe(squares: readonly Square[], words: MarkWords): string {
  const counts = listCounts(squares, words).map(({ text }) => text);
  return [formatCount(squares.length, 'agent'), ...counts].join(', ');
}

type Level = 'none' | 'few' | 'many';

/** Two shades beside none, as more of them could not be distinguished. They need the calls of all that exist. */
function createScale(squares: readonly Square[]) {
  const live = squares.filter(({ marks }) => !marks.includes('new'));
  const most = Math.max(0, ...live.map(({ calls = 0 }) => calls));
  const isKnown = live.every(({ calls }) => calls !== undefined);
  const half = Math.ceil(most / 2);
  const getLevel = ({ calls = 0, marks }: Square): Level => {
    if (marks.includes('new')) return 'none';
    if (!isKnown) return 'few';
    return calls === 0 ? 'none' : calls < half ? 'few' : 'many';
  };
  const texts: { readonly [level in Level]: string } = {
    many: `with ${formatCount(half, 'call')} or more in 7 days`,
    few: 'with fewer calls',
    none: 'without calls',
  };
  const levels = Map.groupBy(live, getLevel);
  const legend = (['many', 'few', 'none'] as const).flatMap((level) => {
    const { length } = levels.get(level) ?? [];
    return length === 0 ? [] : [{ level, text: `${formatNumber(length)} ${texts[level]}` }];
  });
  return { getLevel, legend: isKnown && live.length > 0 ? legend : [] };
}

type Line = { readonly label: string; readonly squares: readonly Square[] };

/** Rows whose keys begin alike stand in one line, as their addresses are factored; then all others. */
function listLines(squares: readonly Square[]): readonly Line[] {
  const left = new Map(squares.map((square) => [square.address, square]));
  const take = (address: string) => {
    const found = left.get(address) ?? [];
    left.delete(address);
    return found;
  };
  const lines = factorAddresses([...left.keys()]).flatMap(({ rows = '', names, ends }) =>
    names.flatMap((name) => {
      const own = ends.flatMap((end) => take(withKey(rows, name + end)));
      return own.length === 0 ? [] : [{ label: name.replace(/[-_. /]$/, ''), squares: own }];
    }),
  );
  return left.size === 0 ? lines : [...lines, { label: '', squares: [...left.values()] }];
}
