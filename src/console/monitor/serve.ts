import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CallsheetError, errorCode, formatDuration } from '../../core/errors.ts';
import { getOwn, inSeconds } from '../../core/value.ts';
import { paint, span, wrap } from '../../render/terminal.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import type { CommonFlags, Context } from '../context.ts';
import type { ListenAddress } from '../flags.ts';
import type { Exposed } from './metrics.ts';

/** An answer as it is sent. */
export type Reply = { readonly status: number; readonly type: string; readonly body: string };

/** Paths are matched exactly, without the query. */
export type Routes = {
  readonly [path: string]: {
    readonly [method in 'GET' | 'POST']?: (request: IncomingMessage) => Promise<Reply> | Reply;
  };
};

type Served = {
  /** `127.0.0.1:9464`, with the port that was taken. */
  readonly at: string;
  readonly close: () => Promise<void>;
};

/** A client that sends its request a byte at a time is disconnected. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 15_000;
/** A prober, a scraper or two, and a few webhooks. */
const MOST_CONNECTIONS = 64;

/** Serves a few paths, and nothing else. */
export async function serveRoutes(address: ListenAddress, routes: Routes): Promise<Served> {
  const options = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: HEADERS_MS,
  };
  const server = createServer(options, (request, response) => {
    answer(request, routes).then(
      (reply) => send(request, response, reply),
      () => send(request, response, text(500, 'It could not be answered.')),
    );
  });
  server.maxConnections = MOST_CONNECTIONS;
  const { host } = address;
  const { port, close } = await listen(server, address, refused);
  return { at: `${host.includes(':') ? `[${host}]` : host}:${port}`, close };
}

/** A sentence as an answer. */
export function text(status: number, body: string): Reply {
  return { status, type: 'text/plain; charset=utf-8', body: `${body}\n` };
}

async function answer(request: IncomingMessage, routes: Routes): Promise<Reply & Allowing> {
  const [path = ''] = (request.url ?? '').split('?');
  const methods = getOwn(routes, path);
  if (methods === undefined) return text(404, 'There is nothing here.');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const reply = method === 'GET' || method === 'POST' ? methods[method] : undefined;
  if (reply !== undefined) return reply(request);
  const allow = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return { ...text(405, 'This is not how it is asked.'), allow: allow.join(', ') };
}

type Allowing = { readonly allow?: string };

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, allow }: Reply & Allowing,
): void {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', type);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.setHeader('x-content-type-options', 'nosniff');
  if (allow !== undefined) response.setHeader('allow', allow);
  // The rest of a body that was not read is not waited for.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status).end(request.method === 'HEAD' ? undefined : body);
}

/** Has a server listen. `refused` puts into words why it cannot. */
export async function listen(
  server: Server,
  { host, port }: ListenAddress,
  refused: (error: NodeJS.ErrnoException, address: ListenAddress) => Error,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refused(error, { host, port })));
    server.listen(port, host, resolve);
  });
  return {
    port: getPort(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Streams of events never end by themselves.
        server.closeAllConnections();
      }),
  };
}

/** The port that a server listens on. */
export function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A failure to listen on a port of `--port`. */
export function portTaken(cause: unknown, port: number): unknown {
  if (errorCode(cause) !== 'EADDRINUSE') return cause;
  const hint = 'Choose another port with --port, or any free port with --port 0.';
  return new CallsheetError('usage', `port ${port} is in use`, { hint, cause });
}

const WHY: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may not be used by this user',
  ENOTFOUND: 'is no host that is known here',
};

function refused(error: NodeJS.ErrnoException, { host, port }: ListenAddress): Error {
  const why = WHY[error.code ?? ''];
  if (why === undefined) return error;
  return new CallsheetError('usage', `${host}:${port} ${why}`, {
    hint: 'Choose another with --listen, such as 127.0.0.1:9465.',
    cause: error,
  });
}

/** The answer of `/healthz`, for a supervisor that restarts a command that hangs. Each command adds members. */
export type HealthReport = {
  readonly status: 'ok' | 'failing';
  /** Null where nothing is wrong with the process itself. */
  readonly reason: string | null;
};

/** A command whose loop has not come round for longer than it may be is failing. Milliseconds. */
export function judgeSilence(what: string, silent: number, patience: number): HealthReport {
  if (silent <= patience) return { status: 'ok', reason: null };
  return {
    status: 'failing',
    reason: `${what} for ${formatDuration(silent / 1000)}, longer than ${formatDuration(patience / 1000)}`,
  };
}

/** `/healthz` and `/metrics`. */
export function monitorRoutes(deps: {
  readonly report: () => HealthReport;
  readonly expose: Exposed;
}): Routes {
  return {
    '/healthz': {
      GET: () => {
        const report = deps.report();
        return {
          status: report.status === 'ok' ? 200 : 503,
          type: 'application/json; charset=utf-8',
          body: `${JSON.stringify(report, null, 2)}\n`,
        };
      },
    },
    '/metrics': {
      GET: async () => {
        const { type, text: body } = await deps.expose();
        return { status: 200, type, body };
      },
    },
  };
}

/**
 * `monitor/` is what commands that run for long have in common: a log, metrics for Prometheus, and a `/healthz`. What
 * is logged and measured is said by each of them (`watch/`, `queue/`).
 */

/** How much an event matters. */
type Level = 'debug' | 'info' | 'warn' | 'error';

/** The level of one kind of event, and its sentence for a terminal. */
type LogEntry<Event> = {
  readonly getLevel: (event: Event) => Level;
  readonly formatWords: (event: Event) => string;
  /** True if it says again what was said before: a person reads it only with `--verbose`. */
  readonly isRepeated?: (event: Event) => boolean;
};

/** Entries by the name of the event. Text from others is sanitised when it is printed. */
export type LogEntries = { readonly [event: string]: LogEntry<never> };

/** An event of a table: its name, and what its sentence is made of. */
export type LoggedEvent<Entries> = {
  [Name in keyof Entries]: Entries[Name] extends LogEntry<infer Facts>
    ? { readonly event: Name } & Facts
    : never;
}[keyof Entries];

type At = <Event = unknown>(formatWords: (event: Event) => string) => LogEntry<NoInfer<Event>>;

const at =
  (level: Level): At =>
  (formatWords) => ({ getLevel: () => level, formatWords });

export const debug = at('debug');
export const info = at('info');
export const warn = at('warn');
export const error = at('error');

export function exposedWords({ listen }: { readonly listen: string }): string {
  return `${listen} is not a loopback address: anyone who can reach it can read the metrics`;
}

/** Takes note of what happens. */
export type Log<Event> = (event: Event) => void;

export type LogFlags = Pick<CommonFlags, 'quiet' | 'verbose'> & {
  /** Text on a terminal and JSON elsewhere, unless given. */
  readonly log?: 'text' | 'json';
};

const RANKS: { readonly [level in Level]: number } = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * A log on standard output, one line an event as JSON, or as sentences for a person. Values of fields are in none of
 * them: logs are kept for long, and read by many.
 */
export function openLog<Entries extends LogEntries>(
  entries: Entries,
  flags: LogFlags,
  { terminal: { out, render }, now }: Pick<Context, 'terminal' | 'now'>,
): Log<LoggedEvent<Entries>> {
  const format = flags.log ?? (process.stdout.isTTY === true ? 'text' : 'json');
  const least = flags.quiet === true ? 'warn' : flags.verbose === true ? 'debug' : 'info';
  return (event: { readonly event: keyof Entries }) => {
    // The type of the log says that an event has what its entry takes.
    const entry = entries[event.event] as unknown as LogEntry<typeof event>;
    const { getLevel, formatWords, isRepeated } = entry;
    const level = getLevel(event);
    if (RANKS[level] < RANKS[least]) return;
    const time = now().toISOString();
    if (format === 'json') {
      out(escapeInJson(JSON.stringify({ level, time, ...event })));
      return;
    }
    if (least !== 'debug' && isRepeated?.(event) === true) return;
    const head = `${inSeconds(time)} ${level.padEnd(5)} `;
    const lines = formatWords(event)
      .split('\n')
      .map((line, at) => [span(at === 0 ? head : ' '.repeat(head.length)), span(line)]);
    // A log that is kept has one line an event, however long.
    const width = render.isPiped === false ? render.width : Infinity;
    const broken = lines.flatMap((line) => wrap(line, width, head.length));
    out(paint(broken, false).trimEnd());
  };
}
