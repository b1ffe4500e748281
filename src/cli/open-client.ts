import { openAsBlob } from 'node:fs';
import { resolve } from 'node:path';
import type { Credentials } from '../api/auth.ts';
import { checkBaseUrl } from '../api/base-url.ts';
import { type Client, createClient } from '../api/client.ts';
import { DEFAULT_ENDPOINTS, type Endpoints } from '../api/endpoints.ts';
import type { Transport } from '../api/transport.ts';
import { CallsheetError } from '../core/errors.ts';
import { type NamedBy, Origin } from '../core/origin.ts';
import type { Blob as FileValue } from '../core/value.ts';
import type { Context } from './context.ts';
import { admitIn } from './origins.ts';
import { counted } from './traffic.ts';

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
  context: Context,
  concurrency: number = DEFAULT_CONCURRENCY,
  endpoints: Endpoints = DEFAULT_ENDPOINTS,
): Promise<Client> {
  const wire = (transport: Transport) => {
    const wired = context.wire?.(transport) ?? transport;
    return context.traffic === undefined ? wired : counted(wired, context.traffic);
  };
  const { pause, timeouts, trace, lanes } = context;
  const own = { concurrency, wire, pause, timeouts, trace };
  return createClient({
    origin: await platformOrigin(platform, context),
    credentials: context.copy?.credentials ?? credentialsFrom(context.env),
    pbxApiKey: context.env.CALLSHEET_PBX_API_KEY,
    concurrency,
    endpoints,
    trace: context.trace,
    wire,
    // A simulated copy has an address, and a pace, of its own.
    lane: context.copy === undefined && lanes ? (baseUrl) => lanes.at(baseUrl, own) : undefined,
    ...(context.pause === undefined ? {} : { pause: context.pause }),
    ...(context.timeouts === undefined ? {} : { timeouts: context.timeouts }),
    openFile: async (file) =>
      (await openFile?.(file)) ?? openAsBlob(resolve(dir, file.path), { type: file.mime }),
  });
}

/** Where the platform is. A rehearsal's copy was started by this process; the environment wins over the stack. */
async function platformOrigin(
  { base_url, by }: ClientSource['platform'],
  context: Context,
): Promise<Origin> {
  const elsewhere = context.copy?.baseUrl ?? context.env.CALLSHEET_BASE_URL;
  if (elsewhere !== undefined) return Origin.given(checkBaseUrl(elsewhere));
  const url = checkBaseUrl(base_url);
  return admitIn(context)({ url, by, credentials: 'of the platform' });
}

function credentialsFrom(env: Context['env']): Credentials | undefined {
  const accessToken = env.CALLSHEET_ACCESS_TOKEN;
  if (accessToken) return { accessToken };
  const clientId = env.CALLSHEET_CLIENT_ID;
  const clientSecret = env.CALLSHEET_CLIENT_SECRET;
  if (clientId && clientSecret) return { clientId, clientSecret };
  // The PBX provider's own token mints its sessions without them.
  if (env.CALLSHEET_PBX_API_KEY) return undefined;
  throw new CallsheetError('config', 'there are no credentials for the platform', {
    hint: 'Set CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET (from the dashboard), or CALLSHEET_ACCESS_TOKEN.',
  });
}
