import { request } from 'undici';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import { checkAnswer } from './contract.ts';
import { SEED } from './seed.ts';

/** What goes with a request, beside method and path. */
export type Ask = {
  readonly body?: unknown;
  /** The body as it goes over the wire. */
  readonly raw?: string | Buffer;
  readonly form?: FormData;
  readonly headers?: { readonly [name: string]: string };
  /** The key whose token is sent; the account's own unless given. */
  readonly as?: string;
  /** The Authorization header as it is sent; null sends none. */
  readonly authorization?: string | null;
};

export type Reply = {
  readonly status: number;
  /** The body where it is a JSON object; empty otherwise. */
  readonly body: JsonObject;
  readonly text: string;
  readonly headers: { readonly [name: string]: string };
};

/** What an ask's body is as bytes, and the headers that say so. */
async function written({ body, form, raw }: Ask) {
  if (form !== undefined) {
    // Written out here: undici 8 waits for ever with a form that is not its own (nodejs/undici#5520).
    const whole = new Response(form);
    return {
      headers: { 'content-type': whole.headers.get('content-type') ?? '' },
      body: Buffer.from(await whole.arrayBuffer()),
    };
  }
  if (body === undefined) return { headers: {}, body: raw ?? null };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

type Send = (path: string, ask?: Ask) => Promise<Reply>;

/** A simulated platform and a plain HTTP client for it. */
export type World = {
  readonly sim: Simulator;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
  readonly patch: Send;
  readonly delete: Send;
  /** A token of a key, as it goes into the Authorization header. Minted once a key. */
  readonly bearer: (clientId?: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Starts a platform that holds the seed of this suite. */
export async function openWorld(options: SimulatorOptions = {}): Promise<World> {
  const sim = await startSimulator({ seed: SEED, ...options });
  const tokens = new Map<string, string>();

  const send = async (method: string, path: string, ask: Ask = {}): Promise<Reply> => {
    const url = path.startsWith('http') ? path : sim.url + path;
    const authorization =
      ask.authorization === undefined ? await bearer(ask.as ?? sim.clientId) : ask.authorization;
    const { headers: describing, body: content } = await written(ask);
    const response = await request(url, {
      method,
      headers: {
        ...(authorization === null ? {} : { authorization }),
        ...describing,
        ...ask.headers,
      },
      body: content,
    });
    const text = await response.body.text();
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    const body = parsed(text);
    checkAnswer(method, new URL(url).pathname, response.statusCode, body);
    return { status: response.statusCode, body: isObject(body) ? body : {}, text, headers };
  };

  const bearer = async (clientId: string = sim.clientId): Promise<string> => {
    const known = tokens.get(clientId);
    if (known !== undefined) return known;
    const { body } = await send('POST', '/oauth/token', {
      authorization: null,
      body: credentials(sim, clientId),
    });
    const header = `Bearer ${String(body.access_token)}`;
    tokens.set(clientId, header);
    return header;
  };

  return {
    sim,
    get: (path, ask) => send('GET', path, ask),
    post: (path, ask) => send('POST', path, ask),
    put: (path, ask) => send('PUT', path, ask),
    patch: (path, ask) => send('PATCH', path, ask),
    delete: (path, ask) => send('DELETE', path, ask),
    bearer,
    close: sim.close,
  };
}

/** The body of a token request for a key of the account. */
export function credentials(sim: Simulator, clientId = sim.clientId): JsonObject {
  const seeded = SEED.keys?.find((key) => key.client_id === clientId);
  return {
    client_id: clientId,
    client_secret: seeded?.client_secret ?? sim.clientSecret,
    audience: `${sim.url}/`,
    grant_type: 'client_credentials',
  };
}

function parsed(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The single record of an answer. Throws when there is none. */
export function record({ status, body, text }: Reply): JsonObject {
  if (!isObject(body.data)) throw new Error(`${status} without a record: ${text}`);
  return body.data;
}

/** The records of an answer's list. Throws when there is none. */
export function records({ status, body, text }: Reply): readonly JsonObject[] {
  if (!Array.isArray(body.data)) throw new Error(`${status} without a list: ${text}`);
  return body.data.filter((item: Json) => isObject(item));
}
