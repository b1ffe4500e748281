import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { CallsheetError } from '../core/errors.ts';
import { Origin } from '../core/origin.ts';
import { type Json, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { createClient as createUntypedClient, UNASKED } from './client.ts';
import { checkBaseUrl, type EndpointOverride, readEndpoints } from './endpoints.ts';
import type { Timeouts } from './limits.ts';
import type { LocalFile, TraceEntry } from './operation.ts';
import type { OperationId, operations } from './operations.generated.ts';
import type { Operations } from './types.generated.ts';

/** How to reach a platform. */
export type ClientOptions = {
  /** Address of the platform: https, or http on this machine. */
  readonly baseUrl: string;
  /** A key, or an access token that was minted elsewhere. Sessions of the PBX provider need neither. */
  readonly credentials?:
    | { readonly clientId: string; readonly clientSecret: string }
    | { readonly accessToken: string };
  /** The PBX provider's API token; only `createPbxSession` needs it. */
  readonly pbxApiKey?: string;
  /** Requests in flight at once; 8 unless given. */
  readonly concurrency?: number;
  /** Operations that this platform has elsewhere. */
  readonly endpoints?: { readonly [O in OperationId]?: EndpointOverride };
  /** True, or absent, if operations that the specification does not show may be called. */
  readonly assume?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  /** Receives every try of every request, without secrets. */
  readonly trace?: (entry: TraceEntry) => void;
};

/** The platform's operations. What is refused throws `ApiError`; no answer at all, `NetworkError`. */
export type Client = {
  /** The address in its normal form. */
  readonly baseUrl: string;
  /** Performs one operation. */
  readonly call: <O extends OperationId>(call: CallOf<O>) => Promise<AnswerOf<O>>;
  /** Every item of a list, all pages of it, checked to be complete. */
  readonly list: <O extends ListId>(call: ListCallOf<O>) => Promise<readonly ItemOf<O>[]>;
  /** The items of a list one by one. Pages are asked for as they are needed. */
  readonly each: <O extends ListId>(call: ListCallOf<O>) => AsyncIterable<ItemOf<O>>;
  /** Puts a file where `createKnowledgeSource` says, without the access token. */
  readonly upload: (presignedUrl: string, file: LocalFile) => Promise<void>;
  /** Requests sent so far, and the seconds that they took together. */
  readonly spent: () => { readonly requests: number; readonly seconds: number };
  /** Ends what is being read, lets writes finish and closes the connections. */
  readonly close: () => Promise<void>;
};

const DEFAULT_CONCURRENCY = 8;

/** Opens a client. Nothing is sent yet. Throws `CallsheetError('config')` where an option is unfit. */
export function createClient(options: ClientOptions): Client {
  const { concurrency = DEFAULT_CONCURRENCY, endpoints = {}, assume = true } = options;
  const { baseUrl, ...rest } = options;
  const client = createUntypedClient({
    ...rest,
    // A program names the address and gives the credentials.
    origin: Origin.given(checkBaseUrl(baseUrl)),
    credentials: options.credentials,
    concurrency,
    endpoints: readEndpoints({ endpoints, assume }),
    openFile: ({ path, mime }) => openAsBlob(path, { type: mime }),
  });
  const writer = client.writing(UNASKED);
  return {
    ...client,
    // The contract types what comes; its top is checked when it does.
    async call<O extends OperationId>(wanted: CallOf<O>) {
      return (await writer.call(await plainCall(wanted))) as AnswerOf<O>;
    },
    async list<O extends ListId>(wanted: ListCallOf<O>) {
      return (await client.list(await plainCall(wanted))) as readonly ItemOf<O>[];
    },
    async *each<O extends ListId>(wanted: ListCallOf<O>) {
      yield* client.each(await plainCall(wanted)) as AsyncIterable<ItemOf<O>>;
    },
    upload: async (url, file) => writer.upload(url, await stackFile(file)),
  };
}

/** Any typed call, as it is at run time. */
type LooseCall = {
  readonly operation: string;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly form?: unknown;
};

/** A call in the form in which kinds describe theirs. */
async function plainCall({ operation, path, query, body, form }: LooseCall): Promise<Call> {
  return {
    operation,
    ...(path === undefined ? {} : { path: texts(path) }),
    ...(query === undefined ? {} : { query: queryTexts(query) }),
    ...(body === undefined ? {} : { body: body as Json }),
    ...(form === undefined ? {} : { form: await plainForm(form) }),
  };
}

function texts(values: unknown): { readonly [name: string]: string } {
  return Object.fromEntries(given(values).map(([name, value]) => [name, String(value)]));
}

function queryTexts(values: unknown): NonNullable<Call['query']> {
  return Object.fromEntries(
    given(values).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );
}

async function plainForm(values: unknown): Promise<NonNullable<Call['form']>> {
  const members = given(values);
  const files = members.filter((entry): entry is [string, LocalFile] => isFile(entry[1]));
  const fields = members.filter(([, value]) => !isFile(value));
  return {
    fields: texts(Object.fromEntries(fields)),
    files: Object.fromEntries(
      await Promise.all(files.map(async ([name, file]) => [name, await stackFile(file)] as const)),
    ),
  };
}

/** Members that are not undefined. */
function given(values: unknown): readonly [string, unknown][] {
  return Object.entries(Object(values)).filter(([, value]) => value !== undefined);
}

function isFile(value: unknown): value is LocalFile {
  return typeof value === 'object' && value !== null && 'path' in value;
}

/** A file with the hash that it has now, so that what is sent is what was named. */
async function stackFile({ path, type }: LocalFile): Promise<StackFile> {
  try {
    const content = await openAsBlob(path, { type });
    const hash = createHash('sha256');
    for await (const chunk of content.stream()) hash.update(chunk);
    return new StackFile(path, hash.digest('hex'), content.size, type);
  } catch (cause) {
    throw new CallsheetError('usage', `${path} cannot be read`, { cause });
  }
}

/** The parts of one call: its operation, and the path, query, body or form that it takes. */
export type CallOf<O extends OperationId> = { readonly operation: O } & Needed<O, 'path'> &
  Given<O, 'query'> &
  Needed<O, 'body'> &
  Needed<O, 'form'>;

/** A list call; which page is nothing to say where pages are followed. */
export type ListCallOf<O extends ListId> = Omit<CallOf<O>, 'query'> & Asked<O>;

/** The answer of a call. Null if the specification shows none: then it may also be anything else. */
export type AnswerOf<O extends OperationId> = Operations[O] extends { answer: infer A }
  ? (typeof operations)[O]['answer'] extends 'any'
    ? A | null
    : A
  : null;

/** Operations that answer a list. */
export type ListId = {
  [O in OperationId]: (typeof operations)[O]['answer'] extends 'data-list' ? O : never;
}[OperationId];

/** One item of a list. */
export type ItemOf<O extends ListId> = Operations[O] extends { answer: { data: (infer I)[] } }
  ? I
  : never;

type PartOf<O extends OperationId, Part extends string> =
  Operations[O] extends Readonly<Record<Part, infer V>> ? V : never;

/** A part that must be given where the operation has it. */
type Needed<O extends OperationId, Part extends string> = [PartOf<O, Part>] extends [never]
  ? { readonly [P in Part]?: never }
  : { readonly [P in Part]: PartOf<O, Part> };

/** A part that may be left out where nothing in it is required. */
type Given<O extends OperationId, Part extends string> = [PartOf<O, Part>] extends [never]
  ? { readonly [P in Part]?: never }
  : OptionalIfEmpty<Part, PartOf<O, Part>>;

type OptionalIfEmpty<Part extends string, V> = object extends V
  ? { readonly [P in Part]?: V }
  : { readonly [P in Part]: V };

type Asked<O extends ListId> = (typeof operations)[O]['paginated'] extends true
  ? [PartOf<O, 'query'>] extends [never]
    ? { readonly query?: never }
    : OptionalIfEmpty<'query', Omit<PartOf<O, 'query'>, 'page' | 'limit'>>
  : Given<O, 'query'>;
