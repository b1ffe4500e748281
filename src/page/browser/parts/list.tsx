import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatNumber } from '../../../render/wording.ts';
import type { Entry } from '../model/plan.ts';
import { offsetsOf, type Row, rowAt } from '../model/rows.ts';
import { linkTo } from '../place.ts';
import { ActionSign } from './signs.tsx';

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
  const offsets = useMemo(() => offsetsOf(rows), [rows]);
  const chosen = rows.findIndex((row) => row.type === 'entry' && row.entry === selected);

  const places = useMemo(() => new Map(order.map((entry, at) => [entry, at + 1])), [order]);
  useKeysOf(frame, onStep);

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
function useKeysOf(frame: RefObject<HTMLElement | null>, onStep: ListProps['onStep']): void {
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
  return (
    <a
      class="entry"
      href={linkTo(address)}
      tabIndex={isTabStop ? 0 : -1}
      aria-current={isSelected ? 'true' : undefined}
      onClick={(event) => {
        event.preventDefault();
        onOpen(entry);
      }}
    >
      <ActionSign action={action} />
      <span class="address">{sanitiseLine(address)}</span>
      <span class="name">{name === address ? '' : sanitiseLine(name)}</span>
      {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
    </a>
  );
}
