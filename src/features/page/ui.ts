import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { basename, join, resolve } from 'node:path';
import { listDocument, runsDocument } from '../../cli/commands/state.ts';
import { readReceipts, withStore } from '../../cli/state/edit.ts';
import type { CommonFlags, Context } from '../../console/context.ts';
import { failureJson, say } from '../../console/events.ts';
import { getPort, listen, portTaken } from '../../console/monitor/serve.ts';
import { driftNow } from '../../console/notify.ts';
import { readPlanFile } from '../../console/plan.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { kinds } from '../../kinds/index.ts';
import { realPause } from '../../platform/rate.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import { restoreStates, withReceipts } from '../../run/receipts.ts';
import { readState } from '../../run/session.ts';
import { openStack } from '../../run/stack.ts';
import type { JournalEntry } from '../../state/journal.ts';
import { getLayout } from '../../state/runs.ts';
import { readLogDocument } from '../log/show.ts';
import { followJournals } from './feed.ts';
import { factsOfFleet, valuesOfRun } from './live.ts';
import { packDocument } from './pack.ts';
import { renderUi } from './render.ts';

type UiFlags = CommonFlags & { readonly port: number };

/** `callsheet ui [PLANFILE]`: the stack in a browser, read only, until it is interrupted. */
export async function ui(
  planFile: string | undefined,
  flags: UiFlags,
  context: Context,
): Promise<ExitCode> {
  const { stack } = await openStack(flags, context, 'skip');
  const plan = planFile === undefined ? undefined : await readPlanFile(planFile);
  const html = await renderUi({
    dir: basename(resolve(flags.dir)),
    hasPlan: plan !== undefined,
    version: context.version,
  });
  // A run whose state is kept elsewhere shows once it has ended.
  const file = 'file' in stack.state ? stack.state.file : join(stack.dir, '.callsheet/state.json');
  const stateFile = getLayout(file).state;
  const quiet: Context = { ...context, emit: () => undefined, confirm: undefined };
  const documents: Readonly<Record<string, () => Promise<unknown>>> = {
    'fleet.json': () =>
      withStore(flags, quiet, async ({ store }) => listDocument((await readState(store)).state)),
    'facts.json': () =>
      withStore(flags, quiet, async ({ store }) => {
        const { state } = await readState(store);
        const latest: (readonly JournalEntry[])[] = [];
        for await (const { entries = [] } of readReceipts(store, MOST_READ)) latest.push(entries);
        return factsOfFleet(state, stack.organizations, latest);
      }),
    'runs.json': () => runsDocument(undefined, flags, quiet),
    'drift.json': async () => packDocument((await driftNow(flags, quiet)).document),
    ...(plan === undefined ? {} : { 'plan.json': async () => packDocument(plan) }),
  };
  const readLog = (address: string) =>
    withReceipts(stack, restoreStates(stack.dir), quiet, (receipts) =>
      readLogDocument(address, { ...flags, since: LOG_SINCE }, receipts, quiet),
    );
  const answer: Answer = (path, request, response) => {
    if (path === '') return Promise.resolve(void response.writeHead(200, HTML).end(html));
    if (path === 'events') return streamEvents(stateFile, request, response, context.stop);
    const address = /^log\/(.+)\.json$/.exec(path)?.[1];
    if (address !== undefined)
      return sendJson(response, async () => readLog(decodeURIComponent(address)));
    const [, what, run] = /^(runs|values)\/([A-Za-z0-9._-]+)\.json$/.exec(path) ?? [];
    if (run === undefined) {
      const read = documents[path];
      return read && sendJson(response, read);
    }
    return sendJson(response, async () => {
      const document = await runsDocument(run, flags, quiet);
      const isReceipt = document.format === 'callsheet-receipt';
      return what === 'values' && isReceipt ? valuesOfRun(document.entries, readSchema) : document;
    });
  };
  const served = await serve(flags.port, answer);
  try {
    context.terminal.out(served.url);
    say(
      context.terminal,
      'Open this address on this machine. The page is read only. Anyone with the address can see it. Interrupt (Ctrl-C) to stop it.',
    );
    if (!context.stop.aborted) await once(context.stop, 'abort');
    return EXIT.done;
  } finally {
    await served.close();
  }
}

function readSchema(kind: string) {
  return kinds.find(({ name }) => name === kind)?.schema;
}

/** Runs that are read to say which of them wrote a resource last: a journal of a fleet takes a while. */
const MOST_READ = 20;

/** The changes of a resource that are listed are not older: journals of a year take a while. */
const LOG_SINCE = '90d';

/** Sends the output of `--format json`, or the document of the failure. */
async function sendJson(response: ServerResponse, read: () => Promise<unknown>): Promise<void> {
  const answer = await read().then(
    (document) => ({ status: 200, json: escapeInJson(JSON.stringify(document)) }),
    // The document has the error that is shown instead.
    (error: unknown) => ({ status: 502, json: failureJson(error) }),
  );
  response
    .writeHead(answer.status, { 'content-type': 'application/json; charset=utf-8' })
    .end(answer.json);
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };

/** Often enough to look alive; a look is one listing of a folder while no run is at work. */
const LOOK_MS = 400;
/** After so long without an event, a comment keeps the connection open. */
const ALIVE_MS = 15_000;

/** Tells one browser what runs do, until it goes away or the page is closed. */
async function streamEvents(
  stateFile: string,
  request: IncomingMessage,
  response: ServerResponse,
  stop: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  // A browser that lost the connection comes back after a second, and says where it was.
  response.write('retry: 1000\n\n');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => gone.abort());
  const over = AbortSignal.any([stop, gone.signal]);
  const last = request.headers['last-event-id'];
  const feed = followJournals(stateFile, typeof last === 'string' ? last : undefined);
  let quiet = 0;
  while (!over.aborted) {
    const notes = await feed.next();
    for (const { id, event } of notes) {
      response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    quiet = notes.length > 0 ? 0 : quiet + LOOK_MS;
    if (quiet >= ALIVE_MS) {
      response.write(': still here\n\n');
      quiet = 0;
    }
    await realPause.sleep(LOOK_MS, over);
  }
  response.end();
}

/** Only this machine: the page shows a whole fleet, and has no login. */
const LOOPBACK = '127.0.0.1';

/** Answers a path below the token, such as `fleet.json`; undefined for an unknown path. */
type Answer = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void> | undefined;

type Served = {
  /** With the token, as somebody opens it. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/** Headers of every answer: it stays out of caches, frames and referrers, and no other site reads it. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Serves answers to reading requests on a loopback port, below a random token. */
async function serve(port: number, answer: Answer): Promise<Served> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refusal = findRefusal(request, getPort(server));
    if (refusal !== undefined) return end(response, ...refusal);
    const path = pathBelow(token, request.url ?? '');
    const answered = path === undefined ? undefined : answer(path, request, response);
    if (answered === undefined) return end(response, 404, 'There is nothing here.');
    answered.catch(() => {
      if (!response.headersSent) return end(response, 500, 'It could not be read.');
      response.destroy();
    });
  });
  const asked = { host: LOOPBACK, port };
  const taken = await listen(server, asked, (error) => portTaken(error, port) as Error);
  return { url: `http://${LOOPBACK}:${taken.port}/${token}/`, close: taken.close };
}

/**
 * Why a request is not answered. Another site may lead a browser here by a name of its own (DNS rebinding) or by a
 * link; a name that is not this machine's, or a request that another site made, is refused whatever it asks for.
 */
function findRefusal(
  { method, headers }: IncomingMessage,
  port: number,
): readonly [number, string] | undefined {
  const hosts = [`${LOOPBACK}:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.host ?? ''))
    return [421, 'This server does not serve the requested host.'];
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site' || headers.origin !== undefined)
    return [403, 'Another site asks for this.'];
  if (method !== 'GET') return [405, 'This page only shows things.'];
  return undefined;
}

/** Returns the path behind the token; undefined where the token is wrong. */
function pathBelow(token: string, url: string): string | undefined {
  const [, given = '', path] = /^\/([^/?#]*)\/([^?#]*)$/.exec(url) ?? [];
  const [known, received] = [Buffer.from(token), Buffer.from(given)];
  const isKnown = known.length === received.length && timingSafeEqual(known, received);
  return isKnown ? path : undefined;
}

/** Ends an answer with a sentence. */
function end(response: ServerResponse, status: number, text: string): void {
  if (status === 405) response.setHeader('allow', 'GET');
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
