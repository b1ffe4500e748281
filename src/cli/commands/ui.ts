import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, join, resolve } from 'node:path';
import type { PlanDocument } from '../../core/plan-document.ts';
import { packDocument } from '../../page/pack.ts';
import { renderUi } from '../../page/ui.ts';
import { renderFailureJson } from '../../render/failure.ts';
import { layoutOf } from '../../state/layout.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { failureOf } from '../report.ts';
import { openStack } from '../stack.ts';
import { followJournals } from '../ui/journal-feed.ts';
import { type Answer, serve } from '../ui/serve.ts';
import { readPlanFile } from './apply.ts';
import { drift } from './drift.ts';
import { runs } from './runs.ts';
import { list } from './state.ts';

export type UiFlags = CommonFlags & { readonly port: number };

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
  const stateFile = layoutOf(file).state;
  const inJson = { ...flags, format: 'json' } as const;
  const documents: Readonly<Record<string, () => Promise<Printed>>> = {
    'fleet.json': () => printed((quiet) => list([], inJson, quiet), context),
    'runs.json': () => printed((quiet) => runs(undefined, inJson, quiet), context),
    'drift.json': async () => packed(await printed((quiet) => drift(inJson, quiet), context)),
    ...(plan === undefined ? {} : { 'plan.json': async () => packedPlan(plan) }),
  };
  const answer: Answer = (path, request, response) => {
    if (path === '') return Promise.resolve(void sendHtml(response, html));
    if (path === 'events') return streamEvents(stateFile, request, response, context.stop);
    const [, run] = /^runs\/([A-Za-z0-9._-]+)\.json$/.exec(path) ?? [];
    const read =
      run === undefined
        ? documents[path]
        : () => printed((quiet) => runs(run, inJson, quiet), context);
    return read?.().then((document) => sendJson(response, document));
  };
  const served = await serve(flags.port, answer);
  try {
    context.terminal.out(served.url);
    context.terminal.err(
      'Open this address on this machine. It only shows things, and whoever has it sees them; interrupt (Ctrl-C) to stop it.',
    );
    await untilAborted(context.stop);
    return EXIT.done;
  } finally {
    await served.close();
  }
}

/** A plan or drift as the page reads it. */
function packed(document: Printed): Printed {
  return document.isFailure ? document : packedPlan(JSON.parse(document.json));
}

function packedPlan(plan: PlanDocument): Printed {
  return { isFailure: false, json: JSON.stringify(packDocument(plan)) };
}

function sendHtml(response: ServerResponse, html: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

function sendJson(response: ServerResponse, { isFailure, json }: Printed): void {
  // What is to be shown instead is in the document.
  response
    .writeHead(isFailure ? 502 : 200, { 'content-type': 'application/json; charset=utf-8' })
    .end(json);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What a command printed, and whether it came to its end. */
type Printed = { readonly isFailure: boolean; readonly json: string };

/**
 * Has a command print its JSON document into a text: so the page is fed by what `--format json` prints, and cannot
 * say anything else. A failure is the document that a program would get.
 */
async function printed(
  command: (context: Context) => Promise<ExitCode>,
  context: Context,
): Promise<Printed> {
  const texts: string[] = [];
  const terminal = {
    ...context.terminal,
    out: (text: string) => void texts.push(text),
    err: () => undefined,
    canAsk: false,
  };
  try {
    await command({ ...context, terminal });
    return { isFailure: false, json: texts.join('') };
  } catch (error) {
    return { isFailure: true, json: renderFailureJson(failureOf(error)) };
  }
}

/** Often enough to look alive; a look is one listing of a folder while no run is at work. */
const LOOK_MS = 400;
/** What keeps a connection open that nothing is to be told on. */
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
    await pause(LOOK_MS, over);
  }
  response.end();
}

function pause(milliseconds: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    over.addEventListener('abort', done, { once: true });
    if (over.aborted) done();
  });
}
