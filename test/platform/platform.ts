import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { Origin } from '../../src/core/origin.ts';
import type { Json } from '../../src/core/value.ts';
import {
  type Client,
  type ClientOptions,
  createClient,
  UNASKED,
  type Writer,
} from '../../src/platform/client.ts';

// nock stands between a file and its sockets as soon as it is loaded: it does so for scripts alone.
nock.restore();

/** The base address of the platform that these tests script. */
export const BASE = 'https://platform.example.test';

/** Where the clients' clocks stand at first. */
export const START = Date.parse('2026-03-01T12:00:00Z');

/** A request as it arrived. */
export type Seen = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What a request is answered; `fault` is the code of a network error instead. */
export type Reply = {
  readonly status?: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fault?: string;
};

/** Answers by method and path (`GET /v1/me`), in the order in which they are given. A request beyond them fails. */
export function script(replies: Readonly<Record<string, readonly Reply[]>>): readonly Seen[] {
  const seen: Seen[] = [];
  const scope = nock(BASE);
  for (const [line, list] of Object.entries(replies)) {
    const [method = '', path = ''] = line.split(' ');
    for (const { status = 200, body, headers = {}, fault } of list) {
      const one = scope.intercept((uri) => uri.split('?')[0] === path, method);
      if (fault !== undefined) {
        one.replyWithError(Object.assign(new Error(`${fault} happened`), { code: fault }));
        continue;
      }
      one.reply(async (request: Request) => {
        seen.push(await readRequest(request));
        return body === undefined ? [status, '', headers] : [status, body, headers];
      });
    }
  }
  return seen;
}

async function readRequest(request: Request): Promise<Seen> {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    path: `${pathname}${search}`,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  };
}

/** A token that the platform mints. */
export const minted = (token: string, seconds = 86_400): Reply => ({
  body: { access_token: token, token_type: 'Bearer', expires_in: seconds },
});

export const KEY = { clientId: 'key-1', clientSecret: 'canary-client-secret' };

/** A client whose time passes only while it waits, or when `pass` says so. */
export type Opened = Client &
  Writer & {
    /** Milliseconds of each wait. */
    readonly waits: readonly number[];
    readonly pass: (seconds: number) => void;
  };

type OpenOptions = Partial<Omit<ClientOptions, 'origin'>> & { readonly baseUrl?: string };

/** Opens a client with a ready token whose random delays are always the longest. */
export function open({ baseUrl = BASE, ...options }: OpenOptions = {}): Opened {
  const waits: number[] = [];
  let clock = START;
  const client = createClient({
    origin: Origin.given(baseUrl),
    credentials: { accessToken: 'canary-token' },
    concurrency: 4,
    openFile: async ({ path }) => {
      throw new Error(`nobody expected ${path} to be opened`);
    },
    now: () => clock,
    pause: {
      sleep: async (milliseconds) => {
        waits.push(milliseconds);
        clock += milliseconds;
      },
      random: () => 1,
    },
    ...options,
  });
  opened.push(client);
  return {
    ...client,
    ...client.writing(UNASKED),
    waits,
    pass: (seconds) => {
      clock += seconds * 1000;
    },
  };
}

const opened: Client[] = [];

/** Sets nock up for a file, and after each test checks that every scripted answer was asked for. */
export function useScripts(): void {
  // Files share a process, and the others are none of nock's business.
  beforeAll(() => nock.activate());
  afterAll(() => nock.restore());
  beforeEach(() => {
    nock.disableNetConnect();
    nock.enableNetConnect('127.0.0.1');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((client) => client.close()));
    const unused = nock.pendingMocks();
    nock.cleanAll();
    nock.enableNetConnect();
    expect(unused).toEqual([]);
  });
}

/** A client over real sockets, which end with the test. */
export function dial(options: OpenOptions = {}): Opened {
  const client = open(options);
  onTestFinished(() => client.close());
  return client;
}

/** What a call throws. Fails where it throws nothing. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(Error);
  return thrown;
}
