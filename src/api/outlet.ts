import type { Dispatcher } from 'undici';
import { isLinkLocal, isLoopback } from '../core/base-url.ts';
import { CallsheetError } from '../core/errors.ts';
import { MOST_ANSWER_BYTES } from './bounds.ts';
import { createIntake, exchange, type RawAnswer } from './exchange.ts';
import type { Timeouts } from './timeouts.ts';
import type { WireRequest } from './transport.ts';
import { trustFrom } from './trust.ts';
import { loadUndici } from './undici.ts';

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** Pools of keep-alive connections. */
type Pools = {
  /** What is on this machine or its link is reached directly: a proxy would see the token in clear, or is elsewhere. */
  readonly direct: Dispatcher;
  readonly proxied: Dispatcher;
};

/** How requests get out. */
export type Outlet = {
  readonly exchange: (url: URL, wire: WireRequest) => Promise<RawAnswer>;
  /** The host of the proxy on the way to an address, where there may be one. */
  readonly proxyFor: (url: URL) => string | undefined;
  /** Lets requests in flight finish. */
  readonly close: () => Promise<void>;
};

/**
 * Makes an outlet with the proxy and the authorities that the environment names. Throws
 * `CallsheetError('config')` where these are unfit; connects to nothing yet. An answer of more than `mostBytes` is an
 * error.
 */
export function createOutlet(
  connections: number,
  timeouts: Timeouts,
  mostBytes = MOST_ANSWER_BYTES,
): Outlet {
  const allowance = { time: timeouts.answer, bytes: mostBytes, intake: createIntake() };
  const secureContext = trustFrom(process.env);
  const proxy = proxyOf(process.env);
  const tls = secureContext === undefined ? {} : { secureContext };
  const options = {
    connections,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    connect: { timeout: timeouts.connect, ...tls },
  };
  const isDirect = (url: URL) => isLoopback(url) || isLinkLocal(url);
  let pools: Promise<Pools> | undefined;

  async function openPools(): Promise<Pools> {
    const { Agent, EnvHttpProxyAgent } = await loadUndici();
    const direct = new Agent(options);
    if (proxy === undefined) return { direct, proxied: direct };
    const proxied = new EnvHttpProxyAgent({
      ...options,
      connectTimeout: timeouts.connect,
      ...(secureContext === undefined ? {} : { requestTls: tls, proxyTls: tls }),
    });
    return { direct, proxied };
  }

  return {
    async exchange(url, wire) {
      pools ??= openPools();
      const { direct, proxied } = await pools;
      const target = { origin: url.origin, path: `${url.pathname}${url.search}` };
      return exchange(isDirect(url) ? direct : proxied, target, wire, allowance);
    },
    proxyFor: (url) => (isDirect(url) ? undefined : proxy),
    async close() {
      if (pools === undefined) return;
      const { direct, proxied } = await pools;
      await Promise.all([...new Set([direct, proxied])].map((pool) => pool.close()));
    },
  };
}

/** The host of the proxy that the environment names, which undici reads there as well. */
function proxyOf(env: NodeJS.ProcessEnv): string | undefined {
  const name = PROXY_VARIABLES.find((variable) => env[variable]);
  if (name === undefined) return undefined;
  const text = env[name] ?? '';
  if (URL.canParse(text) && new URL(text).host !== '') return new URL(text).host;
  throw new CallsheetError('config', `${name} is not the address of a proxy`, {
    hint: 'It looks like http://proxy.example.com:3128.',
  });
}
