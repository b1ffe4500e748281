import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import { type WatchFlags, watch } from '../../../src/features/watch/watch.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import { openStage, type Stage, type StageOptions } from '../../apply/stage.ts';
import { quietContext } from '../../cli/quiet-context.ts';
import { agentNamed, CANARIES, COMMIT, FINGERPRINT_KEY } from '../../e2e/clinic.ts';

/** A line of the log. */
export type Line = {
  readonly level: string;
  readonly time: string;
  readonly event: string;
  readonly [member: string]: unknown;
};

export const INTERVAL = 300_000;

type Options = {
  readonly flags?: Partial<WatchFlags>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly wire?: (transport: Transport) => Transport;
  /** Milliseconds that its clock is ahead from the start on. */
  readonly offset?: number;
};

/** A `watch` in this process whose time only passes when a test says so. */
export type Watching = {
  /** Everything that was logged. */
  readonly lines: readonly Line[];
  /** Lets time pass until the next pass is over. Gives what that logged. */
  readonly pass: () => Promise<readonly Line[]>;
  /** How long it waits for the next one, milliseconds. */
  readonly delay: () => number;
  /** Its environment, which can be changed. */
  readonly env: Record<string, string | undefined>;
  readonly url: string;
  readonly metrics: () => Promise<string>;
  /** Its clock. */
  readonly now: () => Date;
  /** Milliseconds that its clock is set on by. */
  readonly advance: (milliseconds: number) => void;
  readonly stop: () => Promise<number>;
};

/** A stage on which everything is applied. */
export async function openApplied(
  heal: readonly string[] = [],
  options: StageOptions = {},
): Promise<Stage> {
  const stage = await openStage(options);
  onTestFinished(async () => {
    expect(stage.leaks()).toEqual([]);
    await stage.close();
  });
  for (const name of heal) await markHealed(stage, name);
  await stage.apply();
  return stage;
}

/** Marks an agent of the clinic, or takes the mark away. */
export async function markHealed(stage: Stage, name: string, isMarked = true): Promise<void> {
  const [plain, marked] = [`  ${name}:\n`, `  ${name}:\n    lifecycle: { heal: true }\n`];
  await stage.edit('agents.yaml', isMarked ? plain : marked, isMarked ? marked : plain);
}

/** Starts watching, and waits until the first pass is over. It is stopped when the test ends. */
export async function startWatching(stage: Stage, options: Options = {}): Promise<Watching> {
  const { flags = {}, env = {}, wire } = options;
  const stop = new AbortController();
  const { context: quiet, said } = quietContext();
  let { offset = 0 } = options;
  let waiting = Promise.withResolvers<number>();
  let wake = () => {};

  const sleep = (milliseconds: number, signal: AbortSignal) => {
    // Pauses between tries pass at once; what is longer is the wait for the next pass.
    if (milliseconds < INTERVAL / 2) return new Promise<void>((resolve) => setImmediate(resolve));
    return new Promise<void>((resolve) => {
      wake = () => {
        offset += milliseconds;
        resolve();
      };
      signal.addEventListener('abort', () => resolve(), { once: true });
      waiting.resolve(milliseconds);
    });
  };
  const now = () => new Date(Date.now() + offset);
  const environment: Record<string, string | undefined> = {
    ...CANARIES,
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CI_COMMIT_SHA: COMMIT,
    CALLSHEET_BASE_URL: stage.sim.url,
    CALLSHEET_CLIENT_ID: stage.sim.clientId,
    CALLSHEET_CLIENT_SECRET: stage.sim.clientSecret,
    ...env,
  };
  const context: Context = {
    ...quiet,
    env: environment,
    now,
    pause: { sleep, random: () => 0.5 },
    stop: stop.signal,
    ...(wire === undefined ? {} : { wire }),
    terminal: { ...quiet.terminal, out: (line) => quiet.terminal.out(`${line}\n`) },
  };
  const given: WatchFlags = {
    dir: stage.folder,
    interval: INTERVAL,
    listen: { host: '127.0.0.1', port: 0 },
    healLimit: 3,
    log: 'json',
    ...flags,
  };
  const ended = watch(given, context);
  const failed = ended.then(() => Promise.reject(new Error(`it ended:\n${said.out}`)));
  failed.catch(() => undefined);
  // Read once each: a test of a month has thousands.
  const parsed: Line[] = [];
  let read = 0;
  const lines = () => {
    const end = said.out.lastIndexOf('\n') + 1;
    for (const line of said.out.slice(read, end).split('\n'))
      if (line !== '') parsed.push(JSON.parse(line));
    read = Math.max(read, end);
    return [...parsed];
  };

  let url = '';
  const get = (path: string) => fetch(`${url}${path}`).then((answer) => answer.text());
  onTestFinished(async () => {
    const shown = stop.signal.aborted || url === '' ? [] : [get('/metrics'), get('/healthz')];
    const answers = (await Promise.all(shown)).join('');
    stop.abort();
    await ended.catch(() => undefined);
    const printed = [
      { by: 'the log', text: said.out },
      { by: 'an answer', text: answers },
    ];
    expect(stage.leaks(printed)).toEqual([]);
  });
  let delay = await Promise.race([waiting.promise, failed]);
  const at = String(lines().find(({ event }) => event === 'started')?.listen);
  url = `http://${at}`;
  return {
    get lines() {
      return lines();
    },
    async pass() {
      const before = lines().length;
      waiting = Promise.withResolvers();
      wake();
      delay = await Promise.race([waiting.promise, failed]);
      return lines().slice(before);
    },
    delay: () => delay,
    env: environment,
    now,
    url,
    metrics: () => get('/metrics'),
    advance: (milliseconds) => {
      offset += milliseconds;
    },
    stop() {
      stop.abort();
      return ended;
    },
  };
}

/** The lines of one event, without what is the same in all. */
export function ofEvent(lines: readonly Line[], ...events: readonly string[]) {
  return lines
    .filter(({ event }) => events.includes(event))
    .map(({ time: _, level: __, stack: ___, ...facts }) => facts);
}

/** Id of the agent of that name. */
export const agent = ({ sim }: Stage, wanted: string): string => agentNamed(sim, wanted).id;

/** A field of an agent as it is live. */
export function liveField(stage: Stage, wanted: string, field: string): unknown {
  return stage.sim.store.agents.get(agent(stage, wanted))?.record[field];
}

/** Receives notifications; `answer` may be changed between them. */
export async function openReceiver() {
  const received: { readonly is_drifted: boolean; readonly text: string }[] = [];
  const state = { answer: 204 };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    if (state.answer < 300) received.push(body);
    response.writeHead(state.answer).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, state, url: `http://127.0.0.1:${port}/` };
}
