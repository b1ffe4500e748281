import { openAsBlob } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import { type Admit, type NamedBy, Origin } from '../core/origin.ts';
import type { Blob as FileValue } from '../core/value.ts';
import { getText, recordIn } from '../kinds/making.ts';
import type { Credentials } from '../platform/auth.ts';
import {
  type Client,
  type Connection,
  type ConnectionOptions,
  createClient,
  openConnection,
} from '../platform/client.ts';
import { checkBaseUrl, DEFAULT_ENDPOINTS, type Endpoints } from '../platform/endpoints.ts';
import type { Transport } from '../platform/transport.ts';
import type { RunContext } from './context.ts';

/** Requests in flight at once, unless `--concurrency` says otherwise. */
export const DEFAULT_CONCURRENCY = 8;

type ClientSource = {
  /** Folder that files are sent from. */
  readonly dir: string;
  readonly platform: { readonly base_url: string | undefined; readonly by: NamedBy };
  /** Files that lie elsewhere than in that folder. */
  readonly openFile?: FileSource | undefined;
};

/** The bytes of a file; undefined where they lie on the disk. */
export type FileSource = (file: FileValue) => Promise<globalThis.Blob | undefined>;

/**
 * The client of every command: where the environment or the stack says that the platform is, with the
 * credentials of the environment. Sends nothing yet. Throws `CallsheetError('config')` where either is missing, or where
 * the stack alone names that host.
 */
export async function openClient(
  { dir, platform, openFile }: ClientSource,
  context: RunContext,
  concurrency: number = DEFAULT_CONCURRENCY,
  endpoints: Endpoints = DEFAULT_ENDPOINTS,
): Promise<Client> {
  const wire = (transport: Transport) => {
    const wired = context.wire?.(transport) ?? transport;
    return context.traffic === undefined ? wired : counted(wired, context.traffic);
  };
  const { pause, timeouts, trace, connections } = context;
  const own = { concurrency, wire, pause, timeouts, trace };
  return createClient({
    origin: await platformOrigin(platform, context),
    credentials: context.sandbox?.credentials ?? credentialsFrom(context.env),
    pbxApiKey: context.env.CALLSHEET_PBX_API_KEY,
    concurrency,
    endpoints,
    trace: context.trace,
    wire,
    // A simulated copy has an address, and a pace, of its own.
    connection:
      context.sandbox === undefined && connections
        ? (baseUrl) => connections.at(baseUrl, own)
        : undefined,
    ...(context.pause === undefined ? {} : { pause: context.pause }),
    ...(context.timeouts === undefined ? {} : { timeouts: context.timeouts }),
    openFile: async (file) =>
      (await openFile?.(file)) ?? openAsBlob(resolve(dir, file.path), { type: file.mime }),
  });
}

/**
 * Returns the address of the platform. A rehearsal's copy was started by this process; the environment wins over the
 * stack.
 */
async function platformOrigin(
  { base_url, by }: ClientSource['platform'],
  context: RunContext,
): Promise<Origin> {
  const elsewhere = context.sandbox?.baseUrl ?? context.env.CALLSHEET_BASE_URL;
  if (elsewhere !== undefined) return Origin.given(checkBaseUrl(elsewhere));
  const url = checkBaseUrl(base_url);
  return admitIn(context)({ url, by, credentials: 'of the platform' });
}

function credentialsFrom(env: RunContext['env']): Credentials | undefined {
  // A copied credential often brings a line break along, and none has blanks around it.
  const accessToken = env.CALLSHEET_ACCESS_TOKEN?.trim();
  if (accessToken) return { accessToken };
  const clientId = env.CALLSHEET_CLIENT_ID?.trim();
  const clientSecret = env.CALLSHEET_CLIENT_SECRET?.trim();
  if (clientId && clientSecret) return { clientId, clientSecret };
  // The PBX provider's own token mints its sessions without them.
  if (env.CALLSHEET_PBX_API_KEY) return undefined;
  throw new CallsheetError('config', 'there are no credentials for the platform', {
    hint: 'Set CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET (from the dashboard), or CALLSHEET_ACCESS_TOKEN.',
  });
}

/** The connections of a process that works on many stacks, one for each base address. */
/** The account that the credentials of a client are for. */
export async function readAccountId(client: Pick<Client, 'call'>): Promise<string> {
  return getText(recordIn(await client.call({ operation: 'getMe' })), 'account_id');
}

type Connections = {
  /** That of a base address. What it is opened with is what its first client asks for. */
  readonly at: (baseUrl: string, options: ConnectionOptions) => Connection;
  readonly close: () => Promise<void>;
};

/**
 * A process has one set of credentials, so what has the same base address is the same account. `limitAt` holds a
 * connection to a rate of its own.
 */
export function openConnections(
  limitAt?: (baseUrl: string) => ConnectionOptions['limit'],
): Connections {
  const opened = new Map<string, Connection>();
  return {
    at(baseUrl, options) {
      const known = opened.get(baseUrl);
      if (known !== undefined) return known;
      const limit = limitAt?.(baseUrl);
      const connection = openConnection(limit === undefined ? options : { ...options, limit });
      opened.set(baseUrl, connection);
      return connection;
    },
    async close() {
      await Promise.all([...opened.values()].map((connection) => connection.close()));
    },
  };
}

/** A transport that counts what it sends once more. */
function counted(transport: Transport, traffic: NonNullable<RunContext['traffic']>): Transport {
  return {
    ...transport,
    send(request) {
      if (request.attempt > 1) traffic.retries += 1;
      return transport.send(request);
    },
  };
}

/** Decides which servers get credentials, by the environment and by a person's confirmation. */
export function admitIn({ env, confirm }: Pick<RunContext, 'env' | 'confirm'>): Admit {
  const file = fileOfHosts(env);
  return (address) =>
    Origin.admit(address, {
      hosts: env.CALLSHEET_ALLOW_HOSTS,
      async confirm(host, question) {
        if ((await confirmedHosts(file)).includes(host)) return true;
        if ((await confirm?.(`${question} Send them?`)) !== true) return false;
        await remember(file, host);
        return true;
      },
    });
}

/** The hosts that this person confirmed: one a line, in the person's own folder and never in a repository. */
function fileOfHosts({
  XDG_STATE_HOME: states,
  HOME: home,
}: RunContext['env']): string | undefined {
  const folder = states || (home && join(home, '.local', 'state'));
  return folder ? join(folder, 'callsheet', 'hosts') : undefined;
}

async function confirmedHosts(file: string | undefined): Promise<readonly string[]> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Remembers a confirmed host. If that cannot be written down, the question is asked again the next time. */
async function remember(file: string | undefined, host: string): Promise<void> {
  if (file === undefined) return;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${host}\n`, { mode: 0o600 });
  } catch {
    // The confirmation holds for this command.
  }
}
