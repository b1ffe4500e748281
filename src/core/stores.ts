import { CallsheetError } from './errors.ts';
import { bareAddress, type NamedBy, PORTS } from './origin.ts';

/**
 * The place of a stack's state. Credentials are never a part of it: they come from the environment, and `by` says who
 * names the server that they would go to.
 */
export type StatePlace =
  | { readonly file: string }
  | { readonly http: HttpPlace; readonly by: NamedBy; readonly lock_by?: NamedBy }
  | { readonly postgres: PostgresPlace; readonly by: NamedBy }
  | { readonly s3: S3Place; readonly by: NamedBy };

/** A server that speaks the protocol of Terraform's `http` backend. */
export type HttpPlace = {
  readonly address: string;
  readonly lock_address?: string;
  readonly unlock_address?: string;
  readonly lock_method?: string;
  readonly unlock_method?: string;
  readonly update_method?: string;
  readonly username?: string;
};

type PostgresPlace = {
  readonly url: string;
  /** One database keeps many stacks, each under a name. */
  readonly stack: string;
};

export type S3Place = {
  readonly bucket: string;
  readonly key: string;
  readonly region?: string;
  /** The endpoint of another service than Amazon's. */
  readonly endpoint?: string;
};

/** A store beside files, as a stack or the environment names a state in it. */
type Store = {
  /** Required members; the first names the place. An environment may leave out those that the stack has. */
  readonly needs: readonly [string, ...string[]];
  /** The members that hold the address of a server, and what such an address begins with. */
  readonly addresses: readonly string[];
  readonly schemes: readonly string[];
  /** The variables that hold what it signs in with, that of a password first. No stack may read them. */
  readonly credentials: readonly [string, ...string[]];
  /** The variables that say who signs in, and from where else credentials come. */
  readonly users?: readonly string[];
  readonly sources?: readonly string[];
  /** Prefixes of the place as one text. */
  readonly protocols: readonly [string, ...string[]];
  /** The place in that text. Throws `CallsheetError('usage')` where something is missing. */
  readonly parse: (text: string) => StatePlace;
  /** The place that `callsheet.yaml` says; undefined where it says none. `by` is asked who names a member. */
  readonly read: (
    given: { readonly [member: string]: string },
    by: (member: string) => NamedBy,
  ) => StatePlace | undefined;
};

export const STORES: { readonly [store: string]: Store } = {
  http: {
    needs: ['address'],
    addresses: ['address', 'lock_address', 'unlock_address'],
    schemes: ['https:', 'http:'],
    credentials: ['CALLSHEET_STATE_PASSWORD'],
    users: ['CALLSHEET_STATE_USERNAME'],
    protocols: ['https:', 'http:'],
    parse: (text) => ({ http: { address: text }, by: 'operator' }),
    read({ address, ...others }, by) {
      if (address === undefined) return undefined;
      const lock = others.lock_address === undefined ? 'unlock_address' : 'lock_address';
      return { http: { ...others, address }, by: by('address'), lock_by: by(lock) };
    },
  },
  postgres: {
    needs: ['url', 'stack'],
    addresses: ['url'],
    schemes: ['postgres:', 'postgresql:'],
    credentials: ['CALLSHEET_STATE_PASSWORD', 'PGPASSWORD'],
    users: ['CALLSHEET_STATE_USERNAME', 'PGUSER'],
    protocols: ['postgres:', 'postgresql:'],
    parse: (text) => ({ postgres: { url: text, stack: stackIn(text) }, by: 'operator' }),
    read: ({ url, stack }, by) =>
      url === undefined || stack === undefined
        ? undefined
        : { postgres: { url, stack }, by: by('url') },
  },
  s3: {
    needs: ['bucket', 'key'],
    addresses: ['endpoint'],
    schemes: ['https:', 'http:'],
    credentials: [
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
      'AWS_SESSION_TOKEN',
      'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    ],
    sources: ['AWS_PROFILE', 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ROLE_ARN'],
    protocols: ['s3:'],
    parse: (text) => ({ s3: bucketIn(text), by: 'operator' }),
    read: ({ bucket, key, ...service }, by) =>
      bucket === undefined || key === undefined
        ? undefined
        : { s3: { ...service, bucket, key }, by: by('endpoint') },
  },
};

/** The variable that a password in the text of a place belongs in. */
export function passwordVariable(place: StatePlace): string | undefined {
  return Object.entries(STORES).find(([store]) => store in place)?.[1].credentials[0];
}

/** The variables that no stack may read, as a store signs in with them. */
export function storeCredentials(): readonly string[] {
  const own = Object.values(STORES).flatMap(({ credentials }) => credentials);
  return [...own, ...own.map(nameOfTarget)];
}

/** The variable that says the same of the state that another one is moved to: `PGPASSWORD_TO`. */
function nameOfTarget(variable: string): string {
  return `${variable}_TO`;
}

/**
 * The environment of the store that a state, or a part of it, is moved to. Where one variable is set for it, none of
 * the credentials of the other end is used: half of each would fit neither.
 */
export function envOfTarget(place: StatePlace, env: Env): Env {
  const store = Object.entries(STORES).find(([name]) => name in place)?.[1];
  if (store === undefined) return env;
  const { credentials, users = [], sources = [] } = store;
  const own = [...credentials, ...sources];
  const given = (name: string) => env[nameOfTarget(name)];
  if ([...own, ...users].every((name) => given(name) === undefined)) return env;
  return {
    ...env,
    ...Object.fromEntries(own.map((name) => [name, given(name)])),
    ...Object.fromEntries(users.map((name) => [name, given(name) ?? env[name]])),
  };
}

type Env = Readonly<Record<string, string | undefined>>;

/** A database keeps many states: the address must say which one is meant. */
function stackIn(text: string): string {
  const stack = URL.parse(text)?.searchParams.get('stack');
  if (stack) return stack;
  throw new CallsheetError('usage', 'CALLSHEET_STATE names a database, but no stack in it', {
    hint: 'Add the name of the stack to the address: postgres://…/database?stack=NAME.',
  });
}

/** `s3://bucket/key`, with region and endpoint behind a question mark. */
function bucketIn(text: string): S3Place {
  const at = URL.parse(text);
  const key = decoded(at?.pathname.slice(1) ?? '');
  if (at === null || at.hostname === '' || key === '')
    throw new CallsheetError('usage', 'CALLSHEET_STATE names no object in a bucket', {
      hint: 'Use the form s3://bucket/folder/state.json, and ?endpoint=https://… for a service that is not Amazon’s.',
    });
  const region = at.searchParams.get('region');
  const endpoint = at.searchParams.get('endpoint');
  return {
    bucket: at.hostname,
    key,
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
  };
}

/** Empty where it is wrongly encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** A place as it is named in messages: its address without credentials and without what a query may hide. */
export function placeAddress(place: StatePlace): string {
  if ('file' in place) return place.file;
  if ('http' in place) return readable(place.http.address);
  if ('s3' in place) return `s3://${place.s3.bucket}/${place.s3.key}`;
  return `${readable(place.postgres.url)}#${place.postgres.stack}`;
}

/** A place as it is named where others read along: nothing of an address that could hold more than where it is. */
export function placeName(place: StatePlace): string {
  if ('file' in place) return place.file;
  if ('http' in place) return `at ${new URL(place.http.address).host}`;
  if ('s3' in place) return `s3://${place.s3.bucket}/${place.s3.key}`;
  return `${place.postgres.stack} in PostgreSQL`;
}

/**
 * Equal for two that are one and the same place, however each is spelled. `withoutLinks` gives the path of a file past the
 * links that lead to it.
 */
export function placeKey(place: StatePlace, withoutLinks: (file: string) => string): string {
  if ('file' in place) return JSON.stringify(['file', withoutLinks(place.file)]);
  if ('http' in place) return JSON.stringify(['http', plainAddress(place.http.address)]);
  if ('s3' in place) {
    const { endpoint = '', bucket, key } = place.s3;
    const service = plainAddress(endpoint);
    return JSON.stringify(['s3', AMAZON.test(service) ? '' : service, bucket, key]);
  }
  const { url, stack } = place.postgres;
  // The query says how to connect; the driver takes a database of this name where none is given.
  const database = plainAddress(url)
    .replace(/^postgresql:/, 'postgres:')
    .replace(/\?.*$/, '')
    .replace(/:\d+$/, '$&/postgres');
  return JSON.stringify(['postgres', database, stack]);
}

/**
 * Returns the place that a seal names: the store's own name of a text. Hosts and folders are left out, which differ
 * from one machine to another (a tunnel, a checkout).
 */
export function sealPlace(place: StatePlace): string {
  if ('file' in place) {
    const names = place.file.split(/[\\/]/);
    const own = names.lastIndexOf('.callsheet');
    return JSON.stringify(['file', ...names.slice(own < 0 ? -1 : own)]);
  }
  if ('s3' in place) return JSON.stringify(['s3', place.s3.bucket, place.s3.key]);
  if ('http' in place) {
    const path = plainAddress(place.http.address).replace(/^[a-z]+:\/\/[^/?]*/, '');
    return JSON.stringify(['http', path]);
  }
  const { url, stack } = place.postgres;
  const database = (URL.parse(url)?.pathname ?? '').replace(/^\/*$/, '/postgres');
  return JSON.stringify(['postgres', database, stack]);
}

/** Names of buckets are Amazon's own, whichever of its addresses leads there. */
const AMAZON = /^https?:\/\/[^/]*\.amazonaws\.com(\.cn)?:/;

/** An address in one spelling, without who signs in. Any other text stays as it is. */
function plainAddress(text: string): string {
  const at = URL.parse(text);
  if (at === null) return text;
  const { protocol, hostname, pathname, searchParams } = at;
  const port = at.port === '' ? (PORTS[protocol] ?? '') : at.port;
  const host = hostname.toLowerCase().replace(/\.$/, '');
  const path = (decoded(pathname) || pathname).replace(/\/+$/, '');
  searchParams.sort();
  const query = searchParams.size === 0 ? '' : `?${searchParams}`;
  return `${protocol}//${host}:${port}${path}${query}`;
}

function readable(address: string): string {
  const at = URL.parse(address);
  return at === null ? 'at an address that cannot be read' : bareAddress(at);
}
