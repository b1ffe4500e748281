import { formatLabel } from './address.ts';
import type { Diagnostic } from './diagnostics.ts';
import type { Error as ErrorDocument, Run } from './documents.generated.ts';
import type { Json } from './value.ts';

/**
 * The kind of a failure. `getExitCode` gives each its exit code; nothing else does.
 *
 * | code          | when                                                               |
 * |---------------|--------------------------------------------------------------------|
 * | `usage`       | the command line is wrong                                          |
 * | `config`      | the stack is wrong; `diagnostics` says where                       |
 * | `api`         | the platform refused or answered nonsense                          |
 * | `network`     | no answer                                                          |
 * | `state`       | the state file is damaged or foreign                               |
 * | `refused`     | a guard: protected, threshold, conflict                            |
 * | `stale`       | platform, configuration or state moved since the plan              |
 * | `locked`      | another run holds the state                                        |
 * | `interrupted` | asked to stop                                                      |
 */
export type FailureCode = Exclude<ErrorDocument.Failure['kind'], 'internal'>;

export const PLAN_AGAIN = 'Plan again, review, and apply the new plan.';

/** A failure that a person can act on. It is shown as its message and hint, never with a stack trace. */
export class CallsheetError extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: FailureCode,
    message: string,
    options: {
      readonly hint?: string | undefined;
      readonly diagnostics?: readonly Diagnostic[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CallsheetError';
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

/** A failure that broke a run off. It has the ledger: what was done, and what was not attempted. */
export class RunFailure extends CallsheetError {
  readonly run: string;
  readonly ledger: readonly Run.LedgerLine[];

  constructor(
    cause: CallsheetError,
    { run, ledger, more = '' }: Pick<RunFailure, 'run' | 'ledger'> & { readonly more?: string },
  ) {
    super(cause.code, `${cause.message}${more}`, { hint: cause.hint, cause });
    this.name = 'RunFailure';
    this.run = run;
    this.ledger = ledger;
  }
}

/** Resources that the message of an error lists one by one, and those of one sentence. */
const [MOST_LISTED, MOST_ALIKE] = [20, 3];

/**
 * Sentences about resources, a line each, as the message of an error. Of sentences that differ in nothing but the
 * address the first few are listed, with the number of the rest: a fleet has the same trouble a hundred times.
 */
export function foldSentences(sentences: readonly Sentence[]): string {
  const alike = Map.groupBy(sentences, ({ address, message }) => message.replaceAll(address, ''));
  const listed = [...alike.values()].flatMap((own): readonly (readonly [string, number])[] => {
    // One more is as short as the line that would count it.
    const shown = own.length > MOST_ALIKE + 1 ? own.slice(0, MOST_ALIKE) : own;
    const lines = shown.map((one) => [withName(one), 1] as const);
    const more = own.length - shown.length;
    return more > 0
      ? [...lines, [`and ${formatNumber(more)} more for the same reason`, more]]
      : lines;
  });
  if (listed.length <= MOST_LISTED) return listed.map(([line]) => line).join('\n');
  const rest = listed.slice(MOST_LISTED - 1).reduce((sum, [, count]) => sum + count, 0);
  return [
    ...listed.slice(0, MOST_LISTED - 1).map(([line]) => line),
    `and ${formatNumber(rest)} more`,
  ].join('\n');
}

/** A sentence about a resource, and what people call that. */
type Sentence = {
  readonly address: string;
  readonly name?: string | undefined;
  readonly message: string;
};

function withName({ address, name, message }: Sentence): string {
  return message.startsWith(address)
    ? formatLabel(address, name) + message.slice(address.length)
    : message;
}

/** `1 line`, `4,812 lines`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

/** `4,812`, whatever the locale of the machine. */
export function formatNumber(count: number | string): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * Bytes as people read them: `612 B`, `5.1 KB`, `2 MB`, of 1024 each. Rounded up, so that too much never reads like
 * enough.
 */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, size] = bytes < 1024 * 1024 ? ['KB', 1024] : ['MB', 1024 * 1024];
  return `${Math.ceil((bytes / size) * 10) / 10} ${unit}`;
}

/** From so many hours on, days are counted. */
const HOURS_IN_WORDS = 48;

/** `3 s`, `2 min 10 s`, `1 h 5 min`, `3 days 4 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
  const minutes = Math.round(whole / 60);
  const hours = Math.round(whole / 3600);
  if (hours < HOURS_IN_WORDS)
    return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
  return `${formatNumber(Math.floor(hours / 24))} days${hours % 24 ? ` ${hours % 24} h` : ''}`;
}

/** `a, b, c and 12 more`: the first of some names. One more is named, too: that is no longer than to count it. */
export function formatFirst(names: readonly string[], most: number, where = ''): string {
  const rest = names.length - most;
  if (rest <= 1) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${formatNumber(rest)} more${where}`;
}

/** Joins remarks on one thing: behind semicolons, and as sentences from the first full stop on. */
export function joinRemarks(remarks: readonly (string | undefined)[]): string {
  const [first = '', ...others] = remarks.filter((one) => one !== undefined && one !== '');
  return others.reduce<string>((before, next = '') => {
    if (!/[.!?]$/.test(before)) return `${before}; ${next}`;
    const isWord = /^[a-z]+[ ,]/.test(next);
    const sentence = isWord ? next.charAt(0).toUpperCase() + next.slice(1) : next;
    return `${before} ${sentence}${/[.!?]$/.test(next) ? '' : '.'}`;
  }, first);
}

/** The beginning of a text, and never half of a character. */
export function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}

/** A text, or its beginning and `…`. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${beginning(text, most)}…`;
}

/** `a, b and c`. */
export function formatList(names: readonly string[], last = 'and'): string {
  const before = names.slice(0, -1).join(', ');
  return `${before}${before === '' ? '' : ` ${last} `}${names.at(-1) ?? ''}`;
}

/** The first of some lines, and `and 12 more`, with what says where; one more as in `formatFirst`. */
export function firstLines(lines: readonly string[], most: number, where = ''): readonly string[] {
  const rest = lines.length - most;
  return rest > 1 ? [...lines.slice(0, most), `and ${formatNumber(rest)} more${where}`] : lines;
}

/** The platform has already what was to be made (409). `body` says what it is, where the platform tells. */
export class ConflictError extends CallsheetError {
  readonly body: Json | undefined;

  constructor(
    message: string,
    body: Json | undefined,
    options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super('api', message, options);
    this.name = 'ConflictError';
    this.body = body;
  }
}

/** The platform does not show a part of one resource. Everything else goes on without it. */
export class UnreadError extends CallsheetError {
  constructor(message: string, cause: unknown) {
    super('api', message, { hint: 'Try again once the platform answers.', cause });
    this.name = 'UnreadError';
  }
}

/** For an exhaustive `switch`: reaching it is a bug in Callsheet. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

/** Exit codes, the same for every command and output format (DESIGN §3). */
export const EXIT = {
  done: 0,
  error: 1,
  changes: 2,
  partial: 3,
  refused: 4,
  stale: 5,
  locked: 6,
  interrupted: 130,
} as const;

export type ExitName = keyof typeof EXIT;
export type ExitCode = (typeof EXIT)[ExitName];

/** Returns the name of an exit code; undefined where the command did what was asked. */
export function failureIn(code: ExitCode): ExitName | undefined {
  if (code === EXIT.done || code === EXIT.changes) return undefined;
  return (Object.keys(EXIT) as ExitName[]).find((name) => EXIT[name] === code);
}

/** Some failures end as they are called. */
const EXIT_OF: { readonly [code in FailureCode]?: ExitCode } = EXIT;

/** The exit code of a failure. */
export function getExitCode(code: FailureCode): ExitCode {
  return EXIT_OF[code] ?? EXIT.error;
}

/** Why a file system refused something, by the code of its error. */
const REASONS: { readonly [code: string]: string } = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than this process may write',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENAMETOOLONG: 'a path is longer than the file system allows',
  EIO: 'the disk reports an error',
  // Errors of a network file system whose server is gone.
  ESTALE: 'the disk cannot be reached',
  ENOTCONN: 'the disk cannot be reached',
  EHOSTDOWN: 'the disk cannot be reached',
  ETIMEDOUT: 'the disk cannot be reached',
  ELOOP: 'it is a link that is not followed',
  EMLINK: 'it is a link that is not followed',
  EMFILE: 'too many open files',
};

/** The code of a failure of the system or of a library, such as `ENOSPC` or `Z_DATA_ERROR`. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Why the file system refused something, in words where they are known. */
export function reasonIn(error: unknown): string {
  const known = REASONS[errorCode(error) ?? ''];
  if (known !== undefined) return known;
  return errorMessage(error).split(',')[0] ?? '';
}

/** Any value can be thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error of a call to the system, as Node throws it. */
export type SystemError = Error & {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
};

export function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'syscall' in error &&
    typeof error.syscall === 'string'
  );
}

/** Returns the verb of a system call, such as `read`. */
export function callVerb({ syscall }: Pick<SystemError, 'syscall'>): string {
  switch (syscall) {
    case 'read':
    case 'stat':
    case 'lstat':
    case 'scandir':
      return 'read';
    case 'open':
      return 'open';
    case 'mkdir':
      return 'make the folder';
    default:
      return 'write';
  }
}

/**
 * A failure of the system as a sentence: it is no bug. Any other error as it is. `what` could not be done; without it
 * no caller described the failure, and only one of the file system is explained.
 */
export function explainSystemError(
  error: unknown,
  what?: string,
  { code = 'usage', hint, more = '' }: FailureDetails = {},
): unknown {
  if (what !== undefined) {
    if (error instanceof CallsheetError || errorCode(error) === undefined) return error;
    const message = `${what}: ${reasonIn(error)}${more}`;
    return new CallsheetError(code, message, { hint, cause: error });
  }
  if (!isSystemError(error) || error.path === undefined || !(error.code in REASONS)) return error;
  return explainSystemError(error, `cannot ${callVerb(error)} ${error.path}`, {
    hint: 'Mend that, and run the command again.',
  });
}

type FailureDetails = {
  readonly code?: FailureCode;
  readonly hint?: string | undefined;
  /** Goes on behind the reason. */
  readonly more?: string;
};
