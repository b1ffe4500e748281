import type { Diagnostic, Severity, SourcePosition } from '../core/diagnostics.ts';
import { frameOf } from './frame.ts';
import { lineAt, lineRange, type Place, positionOf, type Source, stretchOf } from './source.ts';

/** A diagnostic before its place is turned into a position and a frame. */
export type Problem = {
  /** `error` unless said otherwise. */
  readonly severity?: Severity;
  readonly rule: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly address?: string | undefined;
  readonly path?: string | undefined;
  readonly place?: Place | undefined;
};

/**
 * Collects the problems of a load. Frames are drawn at the end, when every stretch that holds a secret
 * is known: a frame shows the lines around its place, and a neighbour may be the one to hide.
 */
export type Report = {
  readonly add: (problem: Problem) => void;
  /** Hides a stretch of a file in every frame. */
  readonly mask: (place: Place) => void;
  readonly hasErrors: () => boolean;
  /** Every problem, by file, line and column. */
  readonly diagnostics: () => readonly Diagnostic[];
};

function compare(a: Diagnostic, b: Diagnostic): number {
  const [first, second] = [a.position, b.position];
  if (first === undefined || second === undefined) {
    return Number(first !== undefined) - Number(second !== undefined);
  }
  if (first.file !== second.file) return first.file < second.file ? -1 : 1;
  return first.line - second.line || first.column - second.column;
}

/** A problem with the other resources that have it at the same place, through a base or rows. */
type Entry = { readonly problem: Problem; readonly others: Set<string> };

/** Places of one file that hold secrets, by where they begin. */
type Masks = {
  readonly places: readonly Place[];
  /** The furthest end of each place and those before it. */
  readonly reach: readonly number[];
};

function sortedMasks(places: readonly Place[]): Masks {
  const sorted = places.toSorted((a, b) => a.start - b.start);
  let furthest = 0;
  const reach = sorted.map(({ end }) => {
    furthest = Math.max(furthest, end);
    return furthest;
  });
  return { places: sorted, reach };
}

/** The masks that may show in the frame of a place: it has the lines before and after. */
function masksAround({ source, start, end }: Place, { places, reach }: Masks): readonly Place[] {
  const line = lineAt(source, start);
  const from = lineRange(source, line - 1)?.start ?? 0;
  const to = Math.max(end, lineRange(source, line + 1)?.end ?? source.text.length);
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reach[middle] ?? 0) > from) high = middle;
    else low = middle + 1;
  }
  const found: Place[] = [];
  for (let at = low; at < places.length; at += 1) {
    const place = places[at] as Place;
    if (place.start >= to) break;
    if (place.end > from) found.push(place);
  }
  return found;
}

/** Where a place is. Of what is hidden the end is not told, as it says how long it is. */
function placed(place: Place, masks: readonly Place[]): SourcePosition {
  const isHidden = masks.some((mask) => mask.start < place.end && mask.end > place.start);
  return isHidden ? positionOf(place) : stretchOf(place);
}

function toDiagnostic({ problem, others }: Entry, masks: readonly Place[]): Diagnostic {
  const { severity = 'error', rule, hint, address, path, place } = problem;
  return {
    severity,
    rule,
    message: withOthers(problem, others.size),
    ...(hint === undefined ? {} : { hint }),
    ...(address === undefined ? {} : { address }),
    ...(path === undefined || path === '' ? {} : { path }),
    ...(place === undefined ? {} : { position: placed(place, masks) }),
    // A file that could not be read has no lines to show.
    ...(place === undefined || place.source.text === '' ? {} : { frame: frameOf(place, masks) }),
  };
}

/** `agent.clinic["harbor"] (and 299 others): voice_settings.speed must be at most 1.2` */
function withOthers({ message, address }: Problem, others: number): string {
  if (others === 0 || address === undefined || !message.startsWith(address)) return message;
  const more = others === 1 ? '1 other' : `${others} others`;
  return `${address} (and ${more})${message.slice(address.length)}`;
}

/** What a problem says, whichever resource it is said of: one that many share is told once. */
function sharedWords({ rule, message, address }: Problem): string {
  // A prompt that many agents share has its mistake reported once, whatever field it fills.
  if (rule.startsWith('template/') || rule.startsWith('text/')) return rule;
  const words = address !== undefined && message.startsWith(address);
  return `${rule} ${words ? message.slice(address.length) : message}`;
}

/** For what is looked at a second time, or without being used. */
export const SILENT: Report = {
  add: () => {},
  mask: () => {},
  hasErrors: () => false,
  diagnostics: () => [],
};

export function openReport(): Report {
  const entries: Entry[] = [];
  // A place that many resources share is hidden once.
  const masks = new Map<Source, Map<string, Place>>();
  const seen = new Map<Source, Map<string, Entry>>();
  return {
    add: (problem) => {
      const entry: Entry = { problem, others: new Set() };
      const { place, address } = problem;
      if (place !== undefined) {
        const known = seen.get(place.source) ?? new Map<string, Entry>();
        seen.set(place.source, known);
        const key = `${place.start} ${place.end} ${sharedWords(problem)}`;
        const first = known.get(key);
        if (first !== undefined) {
          if (address !== undefined && address !== first.problem.address) first.others.add(address);
          return;
        }
        known.set(key, entry);
      }
      entries.push(entry);
    },
    mask: (place) => {
      const known = masks.get(place.source) ?? new Map<string, Place>();
      masks.set(place.source, known.set(`${place.start} ${place.end}`, place));
    },
    hasErrors: () => entries.some(({ problem }) => (problem.severity ?? 'error') === 'error'),
    diagnostics: () => {
      const sorted = new Map(
        [...masks].map(([source, places]) => [source, sortedMasks([...places.values()])]),
      );
      return entries
        .map((entry) => {
          const { place } = entry.problem;
          const hidden = place && sorted.get(place.source);
          return toDiagnostic(entry, place && hidden ? masksAround(place, hidden) : []);
        })
        .sort(compare);
    },
  };
}
