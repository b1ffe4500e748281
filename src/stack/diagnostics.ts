import { isResourceName } from '../core/address.ts';
import { credentialsIn } from '../core/credentials.ts';
import {
  type Diagnostic,
  isError,
  type Severity,
  type SourcePosition,
} from '../core/diagnostics.ts';
import { formatCount } from '../core/errors.ts';
import { oncePer } from '../core/value.ts';
import {
  lineAt,
  lineRange,
  type Member,
  type Source,
  type SourceRange,
  toPosition,
  toStretch,
} from './source.ts';

/** A diagnostic before its place is turned into a position and a frame. */
export type Problem = {
  /** `error` unless said otherwise. */
  readonly severity?: Severity;
  readonly rule: string;
  readonly message: string;
  /** A function is asked once everything was read. */
  readonly hint?: string | (() => string) | undefined;
  readonly address?: string | undefined;
  readonly path?: string | undefined;
  readonly range?: SourceRange | undefined;
};

/** A problem without a place. The message begins with a verb. */
export type ProblemMessage = Pick<Problem, 'rule' | 'message'> & {
  readonly hint?: string | undefined;
};

/**
 * Collects the problems of a load. Frames are drawn at the end, when every stretch that holds a secret
 * is known: a frame shows the lines around its place, and a neighbour may be the one to hide.
 */
export type Report = {
  readonly add: (problem: Problem) => void;
  /** Hides a stretch of a file in every frame. */
  readonly mask: (range: SourceRange) => void;
  /** Hides a text wherever a message quotes it. */
  readonly hide: (text: string) => void;
  /** The hidden stretches of a file. */
  readonly masked: (file: string) => readonly SourceRange[];
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
  readonly ranges: readonly SourceRange[];
  /** The furthest end of each place and those before it. */
  readonly reach: readonly number[];
};

function sortedMasks(ranges: readonly SourceRange[]): Masks {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  let furthest = 0;
  const reach = sorted.map(({ end }) => {
    furthest = Math.max(furthest, end);
    return furthest;
  });
  return { ranges: sorted, reach };
}

/** The masks that may show in the frame of a place: it has the lines before and after. */
function masksAround(
  { source, start, end }: SourceRange,
  { ranges, reach }: Masks,
): readonly SourceRange[] {
  const line = lineAt(source, start);
  const from = lineRange(source, line - 1)?.start ?? 0;
  const to = Math.max(end, lineRange(source, line + 1)?.end ?? source.text.length);
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reach[middle] ?? 0) > from) high = middle;
    else low = middle + 1;
  }
  const found: SourceRange[] = [];
  for (let at = low; at < ranges.length; at += 1) {
    const range = ranges[at] as SourceRange;
    if (range.start >= to) break;
    if (range.end > from) found.push(range);
  }
  return found;
}

/** Returns a position. For masked text it has no end, which would reveal the length. */
function placed(range: SourceRange, masks: readonly SourceRange[]): SourcePosition {
  const isHidden = masks.some((mask) => mask.start < range.end && mask.end > range.start);
  return isHidden ? toPosition(range) : toStretch(range);
}

function toDiagnostic(
  { problem, others }: Entry,
  masks: readonly SourceRange[],
  hidden: HiddenTexts,
): Diagnostic {
  const { severity = 'error', rule, address, path, range } = problem;
  const hint = typeof problem.hint === 'function' ? problem.hint() : problem.hint;
  return {
    severity,
    rule,
    message: withoutQuotes(withOthers(problem, others.size), hidden),
    ...(hint === undefined ? {} : { hint: withoutQuotes(hint, hidden) }),
    ...(address === undefined ? {} : { address }),
    ...(path === undefined || path === '' ? {} : { path }),
    ...(range === undefined ? {} : { position: placed(range, masks) }),
    // A file that could not be read has no lines to show.
    ...(range === undefined || range.source.text === '' ? {} : { frame: codeFrame(range, masks) }),
  };
}

/** `agent.clinic["harbor"] (and 299 others): voice_settings.speed must be at most 1.2` */
function withOthers({ message, address }: Problem, others: number): string {
  if (others === 0 || address === undefined || !message.startsWith(address)) return message;
  return `${address} (and ${formatCount(others, 'other')})${message.slice(address.length)}`;
}

/** Texts that no message quotes, by how they begin. */
type HiddenTexts = {
  readonly add: (text: string) => void;
  readonly isIn: (text: string) => boolean;
};

/** Shorter texts stand in others by chance. */
const SHORTEST = 4;

function openHiddenTexts(): HiddenTexts {
  const whole = new Set<string>();
  const byStart = new Map<string, string[]>();
  return {
    add: (text) => {
      if (text === '' || whole.has(text)) return;
      whole.add(text);
      if (text.length < SHORTEST) return;
      const start = text.slice(0, SHORTEST);
      const known = byStart.get(start);
      if (known === undefined) byStart.set(start, [text]);
      else known.push(text);
    },
    isIn: (text) => {
      if (whole.has(text)) return true;
      if (byStart.size === 0) return false;
      for (let at = 0; at + SHORTEST <= text.length; at += 1) {
        const found = byStart.get(text.slice(at, at + SHORTEST));
        if (found?.some((one) => text.startsWith(one, at)) === true) return true;
      }
      return false;
    },
  };
}

/** A quoted text, or the key of a row: that is a part of an address, which is no secret. */
const QUOTED = /\[?"(?:[^"\\]|\\.)*"/g;

/** A message that quotes no text which must not be seen. */
function withoutQuotes(message: string, hidden: HiddenTexts): string {
  return message.replace(QUOTED, (quoted) =>
    quoted.startsWith('"') && hidden.isIn(unquote(quoted)) ? `"${MASK}"` : quoted,
  );
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Returns the same key for a problem that many resources share, so that it is reported once. */
function sharedWords({ rule, message, address }: Problem): string {
  // A prompt that many agents share has its mistake reported once, whatever field it fills.
  if (/^(?:template|text|secret)\//.test(rule)) return rule;
  const words = address !== undefined && message.startsWith(address);
  return `${rule} ${words ? message.slice(address.length) : message}`;
}

export const NAME_HINT = 'Use letters, digits, _ and -, and begin with a letter';

/** Returns true for a valid name and reports any other: `holder` is what has it, `what` what it would name. */
export function checkName(
  { key, keyPlace: range }: Pick<Member, 'key' | 'keyPlace'>,
  { rule, holder, what }: { readonly rule: string; readonly holder: string; readonly what: string },
  report: Report,
): boolean {
  if (isResourceName(key)) return true;
  const message = `${holder} has ${JSON.stringify(key)}, which is not a valid name for ${what}`;
  report.add({ rule, message, hint: NAME_HINT, range });
  return false;
}

/** For what is looked at a second time, or without being used. */
export const SILENT: Report = {
  add: () => {},
  mask: () => {},
  hide: () => {},
  masked: () => [],
  hasErrors: () => false,
  diagnostics: () => [],
};

/** Wraps a report to note if it gets an error that `matters`. */
export function notingErrors(
  report: Report,
  matters: (problem: Problem) => boolean = () => true,
): { readonly report: Report; readonly hasErrors: () => boolean } {
  let found = false;
  const add = (problem: Problem) => {
    found ||= isError(problem) && matters(problem);
    report.add(problem);
  };
  return { report: { ...report, add }, hasErrors: () => found };
}

export function openReport(): Report {
  const entries: Entry[] = [];
  // A place that many resources share is hidden once.
  const masks = new Map<Source, Map<string, SourceRange>>();
  const seen = new Map<Source, Map<string, Entry>>();
  const hidden = openHiddenTexts();
  return {
    add: (problem) => {
      const entry: Entry = { problem, others: new Set() };
      const { range, address } = problem;
      if (range !== undefined) {
        const known = seen.get(range.source) ?? new Map<string, Entry>();
        seen.set(range.source, known);
        const key = `${range.start} ${range.end} ${sharedWords(problem)}`;
        const first = known.get(key);
        if (first !== undefined) {
          if (address !== undefined && address !== first.problem.address) first.others.add(address);
          return;
        }
        known.set(key, entry);
      }
      entries.push(entry);
    },
    mask: (range) => {
      const known = masks.get(range.source) ?? new Map<string, SourceRange>();
      masks.set(range.source, known.set(`${range.start} ${range.end}`, range));
    },
    hide: hidden.add,
    masked: (file) =>
      [...masks].flatMap(([source, places]) => (source.file === file ? [...places.values()] : [])),
    hasErrors: () => entries.some(({ problem }) => isError(problem)),
    diagnostics: () => {
      const sorted = new Map(
        [...masks].map(([source, places]) => [source, sortedMasks([...places.values()])]),
      );
      return entries
        .map((entry) => {
          const { range } = entry.problem;
          const near = range && sorted.get(range.source);
          return toDiagnostic(entry, range && near ? masksAround(range, near) : [], hidden);
        })
        .sort(compare);
    },
  };
}

/** Longest stretch of a line that a frame shows; longer lines are cut around the place. */
const WIDTH = 140;
const BEFORE = 50;
const MASK = '***';

type Shown = {
  readonly text: string;
  /** Maps an offset of the file to one of `text`. */
  readonly at: (offset: number) => number;
  /** It is the last of its file. */
  readonly last: boolean;
};

/** Findings by the start of their line: a line of some megabytes may be in many frames. */
const credentialsBy = oncePer((_: Source) => new Map<number, readonly SourceRange[]>());

/** The stretches of a line that are credentials by themselves: a place that no schema knows may hold one. */
function credentialsOn({ source, start, end }: SourceRange): readonly SourceRange[] {
  const known = credentialsBy(source).get(start);
  if (known !== undefined) return known;
  const line = source.text.slice(start, end);
  const ranges = credentialsIn(line).flatMap((credential): readonly SourceRange[] => {
    const own: SourceRange[] = [];
    if (credential === '') return own;
    for (let at = line.indexOf(credential); at >= 0; at = line.indexOf(credential, at + 1))
      own.push({ source, start: start + at, end: start + at + credential.length });
    return own;
  });
  credentialsBy(source).set(start, ranges);
  return ranges;
}

/** One line with what must not be seen replaced. */
function showLine(
  range: SourceRange,
  line: number,
  masks: readonly SourceRange[],
): Shown | undefined {
  const whole = lineRange(range.source, line);
  if (whole === undefined) return undefined;
  const last = whole.end === range.source.text.length;
  const covered = [...masks, ...credentialsOn({ source: range.source, ...whole })]
    .filter((mask) => mask.start < whole.end && mask.end > whole.start)
    .map((mask) => ({
      start: Math.max(mask.start, whole.start),
      end: Math.min(mask.end, whole.end),
    }))
    .sort((a, b) => a.start - b.start);
  let text = '';
  let from = whole.start;
  const pieces: { readonly start: number; readonly shown: number }[] = [];
  for (const mask of covered) {
    if (mask.end <= from) continue;
    const start = Math.max(mask.start, from);
    text += range.source.text.slice(from, start);
    pieces.push({ start, shown: text.length });
    text += MASK;
    from = mask.end;
    pieces.push({ start: from, shown: text.length });
  }
  text += range.source.text.slice(from, whole.end);
  const at = (offset: number) => {
    const piece = pieces.findLast(({ start }) => start <= offset);
    return piece === undefined
      ? offset - whole.start
      : Math.min(piece.shown + offset - piece.start, text.length);
  };
  return { text, at, last };
}

/** The part of a line that is shown, with control characters made visible. */
function cut(text: string, from: number): string {
  const end = from + WIDTH;
  const shown = text.slice(from, end).replace(/[[\p{Cc}\p{Bidi_Control}]--\t]/gv, '\uFFFD');
  return `${from > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`;
}

/**
 * The line of a place with its neighbours and a caret under the place. `masks` are the stretches of the
 * file that hold secrets: they are shown as `***`, whatever the frame is about.
 */
export function codeFrame(range: SourceRange, masks: readonly SourceRange[]): string {
  const line = lineAt(range.source, range.start);
  const wanted = showLine(range, line, masks);
  if (wanted === undefined) return '';
  const caret = wanted.at(range.start);
  const until = Math.max(caret + 1, Math.min(wanted.at(range.end), wanted.text.length));
  const from = wanted.text.length > WIDTH ? Math.max(0, caret - BEFORE) : 0;
  const digits = String(line + 1).length;
  const rows: string[] = [];
  for (const number of [line - 1, line, line + 1]) {
    const shown = number === line ? wanted : showLine(range, number, masks);
    // The empty line that a file's last line break begins shows nothing.
    if (shown === undefined || (number > line && shown.text === '' && shown.last)) continue;
    const mark = number === line ? '>' : ' ';
    rows.push(`${mark} ${String(number).padStart(digits)} | ${cut(shown.text, from)}`.trimEnd());
    if (number !== line) continue;
    const before = `${from > 0 ? ' ' : ''}${wanted.text.slice(from, caret)}`;
    const indent = [...before].map((char) => (char === '\t' ? '\t' : ' ')).join('');
    const width = Math.min([...wanted.text.slice(caret, until)].length, WIDTH - BEFORE);
    rows.push(`  ${' '.repeat(digits)} | ${indent}${'^'.repeat(Math.max(1, width))}`);
  }
  return rows.join('\n');
}
