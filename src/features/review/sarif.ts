import { createHash } from 'node:crypto';
import words from '../../../schemas/rules.json' with { type: 'json' };
import type { Diagnostic } from '../../core/diagnostics.ts';
import { formatCount } from '../../core/errors.ts';
import { bySeverity, isAbsolute, type Report, toReportPath } from '../../render/diagnostics.ts';
import { jsonText, sanitise, sanitiseLine } from '../../render/untrusted.ts';

/** The words of a rule of `validate`, which hold for each of its findings. */
type RuleWords = {
  /** One sentence: what is wrong where the rule reports something. */
  readonly summary: string;
  /** The way to mend it. */
  readonly remedy: string;
  /**
   * The reason why it is an error: sections of the specification and assumptions, the limits of `fields`, or the
   * configuration `language` itself. A rule of our own taste is a `warning`.
   */
  readonly basis: string | readonly string[];
};

/**
 * Every rule of `validate` by its name, in the order of names. Reports for machines and `docs/reference/rules.md` say
 * of a rule what stands in `schemas/rules.json`; a test holds it against the rules in the code.
 */
export const RULES: ReadonlyMap<string, RuleWords> = new Map(Object.entries(words));

/** Returns the words of a rule; one that is not listed, such as a team's own, has general words. */
export function wordsOfRule(name: string): RuleWords {
  return (
    RULES.get(name) ?? {
      summary: `The rule ${name} of the stack is not kept.`,
      remedy: 'See the message of each finding.',
      basis: 'language',
    }
  );
}

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** The base of the URIs of files: readers know it as the root of the repository. */
const ROOT = '%SRCROOT%';

/** The file at which problems with a stack as a whole are shown. */
const STACK_FILE = 'callsheet.yaml';

/** GitHub refuses a file with more results than this, and shows the 5,000 most severe ones of it. */
const MAX_RESULTS = 25_000;

/** GitHub cuts descriptions there. */
const MAX_TITLE = 1024;

/**
 * The diagnostics as SARIF 2.1.0, within what GitHub code scanning asks for: every result has a place,
 * an end of that place, a rule with its descriptions, and a fingerprint that outlives moved lines. Ends
 * in a line break.
 */
export function renderReportSarif(report: Report): string {
  const shown = bySeverity(report.diagnostics).slice(0, MAX_RESULTS);
  const names = [...new Set([...RULES.keys(), ...shown.map(({ rule }) => rule)])];
  const occurrences = new Map<string, number>();
  const run = {
    tool: {
      driver: {
        name: 'Callsheet',
        version: report.version,
        semanticVersion: report.version,
        rules: names.map(describeRule),
      },
    },
    // Keeps the results of several stacks of one repository apart.
    automationDetails: { id: `${['callsheet', toUri(report.folder)].filter(Boolean).join('/')}/` },
    originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository.' } } },
    columnKind: 'unicodeCodePoints',
    invocations: [{ executionSuccessful: true, ...leftOut(report, shown.length) }],
    results: shown.map((diagnostic) => ({
      ruleId: diagnostic.rule,
      ruleIndex: names.indexOf(diagnostic.rule),
      level: diagnostic.severity,
      message: { text: formatMessage(diagnostic) },
      locations: [buildLocation(diagnostic, report)],
      partialFingerprints: {
        primaryLocationLineHash: computeFingerprint(diagnostic, report, occurrences),
      },
    })),
  };
  return `${jsonText({ $schema: SCHEMA, version: '2.1.0', runs: [run] })}\n`;
}

function describeRule(name: string) {
  const { summary, remedy } = wordsOfRule(name);
  return {
    id: name,
    shortDescription: { text: summary },
    fullDescription: { text: `${summary} ${remedy}` },
    help: { text: remedy },
    properties: { tags: ['configuration'], precision: 'very-high' },
  };
}

function leftOut({ diagnostics }: Report, shown: number) {
  const rest = diagnostics.length - shown;
  if (rest === 0) return {};
  const text = `${formatCount(rest, 'more problem is', 'more problems are')} left out: a file may hold ${MAX_RESULTS} results.`;
  return { toolExecutionNotifications: [{ level: 'warning', message: { text } }] };
}

/** The message and the hint as sentences. What reads like a link in it is not to become one. */
function formatMessage({ message, hint }: Diagnostic): string {
  const text = [message, hint]
    .filter((part) => part !== undefined)
    // A colon announces what only the text format goes on to show.
    .map((part) => part.replace(/[\s:]+$/, ''))
    .map((part) => (/[.?!…]$/.test(part) ? part : `${part}.`))
    .join(' ');
  const plain = sanitiseLine(text).replaceAll('](', '] (');
  return [...plain].slice(0, MAX_TITLE).join('');
}

function buildLocation({ position, frame, address, path }: Diagnostic, report: Report) {
  const { file, line, column, end_column } = position ?? { line: 1, column: 1 };
  const lines = linesOfFrame(frame);
  const marked = lines.find((shown) => shown.marked !== undefined)?.marked;
  const name = [address, path].filter(Boolean).join('.');
  return {
    physicalLocation: {
      artifactLocation: buildArtifact(
        file === undefined ? toReportPath(STACK_FILE, report) : toReportPath(file, report),
      ),
      region: {
        startLine: line,
        startColumn: column,
        endLine: line,
        endColumn: Math.max(end_column ?? 0, column + 1),
        ...(marked ? { snippet: { text: marked } } : {}),
      },
      ...(lines.length === 0
        ? {}
        : {
            contextRegion: {
              startLine: lines[0]?.number ?? line,
              endLine: lines.at(-1)?.number ?? line,
              snippet: { text: `${lines.map(({ text }) => text).join('\n')}\n` },
            },
          }),
    },
    ...(name === ''
      ? {}
      : { logicalLocations: [{ fullyQualifiedName: sanitiseLine(name), kind: 'member' }] }),
  };
}

/** A file by its URI; one outside the repository has no base that a reader would know. */
function buildArtifact(path: string) {
  if (isAbsolute(path)) return { uri: `file:///${toUri(path.replace(/^[\\/]+/, ''))}` };
  return { uri: toUri(path), ...(path.startsWith('../') ? {} : { uriBaseId: ROOT }) };
}

/** A path as a relative URI reference (RFC 3986), step by step. */
function toUri(path: string): string {
  return path
    .split('/')
    .map((step) => encodeURIComponent(step.toWellFormed()))
    .join('/');
}

/**
 * Recognises a result in another commit by its rule, its field, and its line as the frame shows it, which never holds a
 * secret; not by the line's number. Equal ones are numbered.
 */
function computeFingerprint(
  { rule, address, path, position, frame, message }: Diagnostic,
  report: Report,
  occurrences: Map<string, number>,
): string {
  const line = linesOfFrame(frame)
    .find(({ marked }) => marked !== undefined)
    ?.text.trim();
  const parts = [rule, address ?? '', path ?? '', line ?? (address === undefined ? message : '')];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
  const key = `${hash} ${position === undefined ? '' : toReportPath(position.file, report)}`;
  const count = (occurrences.get(key) ?? 0) + 1;
  occurrences.set(key, count);
  return `${hash}:${count}`;
}

/** A line of the code frame of a diagnostic. What is secret in it has been replaced. */
type FrameLine = {
  readonly number: number;
  readonly text: string;
  /** The part of the line that the carets below it mark, on the line that the diagnostic is about. */
  readonly marked?: string;
};

const LINE = /^[> ] +(?<number>\d+) \|(?: (?<text>.*))?$/s;
const CARETS = /^ +\| (?<before>[ \t]*)(?<carets>\^+)$/;

/** The lines that a code frame shows, without its margin and its carets. */
export function linesOfFrame(frame: string | undefined): readonly FrameLine[] {
  const rows = frame?.split('\n') ?? [];
  return rows.flatMap((row, index) => {
    const { number, text = '' } = LINE.exec(row)?.groups ?? {};
    if (number === undefined) return [];
    const line = { number: Number(number), text: sanitise(text) };
    const { before, carets } = CARETS.exec(rows[index + 1] ?? '')?.groups ?? {};
    if (before === undefined || carets === undefined) return [line];
    // A caret stands below each character.
    const marked = [...text].slice(before.length, before.length + carets.length).join('');
    return [{ ...line, marked: sanitise(marked) }];
  });
}
