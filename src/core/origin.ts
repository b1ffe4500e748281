import { formatPosition, type SourcePosition } from './diagnostics.ts';
import { CallsheetError } from './errors.ts';

/**
 * Who names an address: the operator, who gives Callsheet credentials (the environment, the command line), or a
 * file of the stack, which can come from a stranger's pull request.
 */
export type NamedBy = 'operator' | SourcePosition;

/** An address that credentials are to go to. */
type NamedAddress = {
  readonly url: string;
  readonly by: NamedBy;
  /** The owner of the credentials, for people: `of the platform`. */
  readonly credentials: string;
};

/** Permissions that people give beside the stack. */
type HostLeave = {
  /** `CALLSHEET_ALLOW_HOSTS`. */
  readonly hosts: string | undefined;
  /** Asks a person, who may have said so before. */
  readonly confirm: (host: string, question: string) => Promise<boolean>;
};

/** Lets an address have credentials, or throws. Every sender of credentials is opened with what this gives. */
export type Admit = (address: NamedAddress) => Promise<Origin>;

/**
 * A server that credentials may be sent to. There are two ways to one: `given`, where the operator names the address
 * and gives the credentials, and `admit`, where somebody else may have named it.
 */
export class Origin {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  get url(): string {
    return this.#url;
  }

  /** Accepts an address that comes with the credentials. Never one from a stack. */
  static given(url: string): Origin {
    return new Origin(url);
  }

  /**
   * Loopback is let be: nothing leaves the machine. Throws `CallsheetError('config')` for a host that only the stack
   * names and no person confirms, and where a stack asks for less than a checked certificate.
   */
  static async admit({ url, by, credentials }: NamedAddress, leave: HostLeave): Promise<Origin> {
    const at = new URL(url);
    const allowed = readHosts(leave.hosts ?? '');
    if (by === 'operator' || isLoopback(at)) return new Origin(url);
    const weak = findWeakTls(at);
    if (weak === undefined && isAllowed(at, allowed)) return new Origin(url);
    const host = at.host.toLowerCase();
    const where = formatPosition(by);
    if (weak !== undefined) {
      const question = `${where} names ${host} with ${weak}: its certificate is not checked in full. The credentials ${credentials} would be sent there.`;
      if (await leave.confirm(`${host} ${weak}`, question)) return new Origin(url);
      throw new CallsheetError(
        'config',
        `the credentials ${credentials} are not sent to ${host}: only the stack asks for ${weak}, with which the certificate of the server is not checked in full (${where})`,
        {
          hint: `Nothing was sent. Remove sslmode from the address in the stack. If that server has no certificate, set the whole address in CALLSHEET_STATE.`,
        },
      );
    }
    const question = `${where} names ${host}. The credentials ${credentials} would be sent there.`;
    if (await leave.confirm(host, question)) return new Origin(url);
    throw new CallsheetError(
      'config',
      `the credentials ${credentials} are not sent to ${host}: only the stack names that host (${where})`,
      { hint: `Nothing was sent. If the host is yours, set ${HOSTS}=${host} in the environment.` },
    );
  }

  /** Returns true if a request to the address stays at this server. */
  serves(url: URL): boolean {
    return new URL(this.#url).origin === url.origin;
  }
}

const HOSTS = 'CALLSHEET_ALLOW_HOSTS';
/** The one mode of a database's address that checks authority and name. */
const CHECKED = 'verify-full';

/** How an address asks for less than a checked certificate; undefined where it does not. */
function findWeakTls({ searchParams }: URL): string | undefined {
  const mode = searchParams.get('sslmode') ?? CHECKED;
  return mode === CHECKED ? undefined : `sslmode=${mode}`;
}

type AllowedHost = { readonly name: string; readonly port: string | undefined };

/** `voice.example.test, state.example.test:8443`. Throws `CallsheetError('usage')` for what is no host. */
function readHosts(text: string): readonly AllowedHost[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.map((entry) => {
    const [, name = '', port] = /^([\w.-]+|\[[\da-f:.]+\])(?::(\d+))?$/i.exec(entry) ?? [];
    if (name !== '') return { name: name.toLowerCase(), port };
    throw new CallsheetError(
      'usage',
      `${HOSTS} holds ${JSON.stringify(entry)}, which is not a host`,
      {
        hint: 'Give host names, with or without a port, such as voice.example.test state.example.test:8443.',
      },
    );
  });
}

/** The port that an address of each protocol means without one. */
export const PORTS: { readonly [protocol: string]: string } = {
  'https:': '443',
  'http:': '80',
  'postgres:': '5432',
  'postgresql:': '5432',
};

function isAllowed({ hostname, port, protocol }: URL, hosts: readonly AllowedHost[]): boolean {
  const name = hostname.toLowerCase();
  const own = port === '' ? PORTS[protocol] : port;
  return hosts.some((host) => host.name === name && (host.port ?? own) === own);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/** An http(s) address; undefined for any other text. */
export function readHttpAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** An address as messages show it: without credentials, and without what its query may hide. */
export function bareAddress({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

/** Why an address cannot be that of the platform, and what to do. */
type BaseUrlFault = { readonly message: string; readonly hint: string };

/**
 * Refuses a base address with which credentials would be sent in clear over a network, or stand in a file that is
 * committed. Never repeats a secret.
 */
export function baseUrlFault(text: string): BaseUrlFault | undefined {
  const url = readHttpAddress(text);
  if (url === undefined) {
    // Without a scheme, `key:secret@host` is malformed and must not be repeated.
    const shown = text.includes('@') ? 'as given' : JSON.stringify(text);
    return {
      message: `base_url ${shown} is not an http(s) address`,
      hint: 'It looks like https://api.example.com, and begins with https://.',
    };
  }
  if (hasMore(url)) {
    return {
      message: 'base_url must not hold credentials, a query or a fragment',
      hint: 'Set credentials in CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.',
    };
  }
  if (isConfidential(url)) return undefined;
  return {
    message: `base_url ${url.origin} is plain http, which would send credentials unencrypted`,
    hint: 'Use https. Plain http is allowed for loopback addresses only.',
  };
}

/** Returns true if an address has parts that may hold a secret. */
function hasMore({ username, password, search, hash }: URL): boolean {
  return username !== '' || password !== '' || search !== '' || hash !== '';
}

/** Returns true if data sent to the address cannot be read on its way. */
export function isConfidential(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url);
}

const LINK_LOCAL = /^(169\.254(\.\d{1,3}){2}|\[fe80:[\da-f:]+\]|\[fd00:ec2::[\da-f]+\])$/;

/**
 * Returns true if an address never leaves the machine's own link: a cloud answers there what runs in it, and no proxy
 * leads there.
 */
export function isLinkLocal({ hostname }: URL): boolean {
  return LINK_LOCAL.test(hostname);
}

export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return LOOPBACK.test(hostname);
}
