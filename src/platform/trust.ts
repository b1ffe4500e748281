import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { CallsheetError, errorCode, reasonIn } from '../core/errors.ts';

/**
 * Whom a connection trusts, who it says that it is, and which proxy it goes through, as the environment says: for the
 * platform, the stores and whatever else is sent to.
 */

type Env = Readonly<Record<string, string | undefined>>;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const PEM = 'in PEM form, or unset it.';

/** The last context made: a system's whole bundle takes tens of milliseconds, and clients are opened often. */
let last: { readonly key: string; readonly context: SecureContext } | undefined;

/**
 * Returns the TLS settings if the environment says anything about them; undefined: Node's own rule.
 *
 * | variable                                        | names                                                       |
 * |-------------------------------------------------|-------------------------------------------------------------|
 * | `SSL_CERT_FILE`                                 | authorities, beside those that Node trusts (`NODE_EXTRA_CA_CERTS` among them) |
 * | `SSL_CERT_DIR`                                  | folders of such files                                       |
 * | `CALLSHEET_CLIENT_CERT`, `CALLSHEET_CLIENT_KEY` | the certificate that is shown to servers that ask, and its key |
 *
 * Throws `CallsheetError('config')` where a file cannot be used. `isIdentified`: the client certificate is shown.
 */
export function trustFrom(env: Env, isIdentified = true): SecureContext | undefined {
  const authorities = [...authoritiesInFile(env), ...authoritiesInFolders(env)];
  const own = isIdentified ? readIdentity(env) : undefined;
  if (authorities.length === 0 && own === undefined) return undefined;
  const key = JSON.stringify([authorities, own]);
  if (last?.key === key) return last.context;
  const ca =
    authorities.length === 0 ? {} : { ca: [...getCACertificates('default'), ...authorities] };
  last = { key, context: buildContext({ ...ca, ...own }) };
  return last.context;
}

function authoritiesInFile({ SSL_CERT_FILE: file }: Env): readonly string[] {
  if (!file) return [];
  const found = certificatesIn(readPem('SSL_CERT_FILE', file), 'SSL_CERT_FILE', file);
  if (found.length === 0) throw unusable('SSL_CERT_FILE', file, 'it holds no certificate');
  return found;
}

/** Reads the certificates of folders. Other files are passed by: such folders hold links, lists and keys as well. */
function authoritiesInFolders({ SSL_CERT_DIR: folders }: Env): readonly string[] {
  if (!folders) return [];
  const found = new Set<string>();
  for (const folder of folders.split(delimiter).filter((one) => one !== '')) {
    for (const name of listFolder(folder)) {
      const text = textAt(join(folder, name));
      for (const certificate of text.match(CERTIFICATE) ?? []) found.add(certificate);
    }
  }
  const sound = [...found].filter(isSound);
  if (sound.length === 0) throw unusable('SSL_CERT_DIR', folders, 'there is no certificate in it');
  return sound;
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (cause) {
    throw unusable('SSL_CERT_DIR', folder, reasonIn(cause), cause);
  }
}

/** Empty for what cannot be read, such as another folder or a link to nothing. */
function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function certificatesIn(text: string, variable: string, file: string): readonly string[] {
  const found = text.match(CERTIFICATE) ?? [];
  if (!found.every(isSound)) throw unusable(variable, file, 'a certificate in it is damaged');
  return found;
}

function isSound(certificate: string): boolean {
  try {
    new X509Certificate(certificate);
    return true;
  } catch {
    return false;
  }
}

const CERT = 'CALLSHEET_CLIENT_CERT';
const KEY = 'CALLSHEET_CLIENT_KEY';

type Identity = { readonly cert: string; readonly key: string };

function readIdentity(env: Env): Identity | undefined {
  const { [CERT]: certFile, [KEY]: keyFile } = env;
  if (!certFile && !keyFile) return undefined;
  if (!certFile || !keyFile) {
    const [given, missing] = certFile ? [CERT, KEY] : [KEY, CERT];
    throw new CallsheetError('config', `${given} is set, and ${missing} is not`, {
      hint: `Set ${missing} as well: the path of a file in PEM form. Or unset ${given}.`,
    });
  }
  const cert = readPem(CERT, certFile);
  if (certificatesIn(cert, CERT, certFile).length === 0)
    throw unusable(CERT, certFile, 'it holds no certificate');
  return { cert, key: readPem(KEY, keyFile) };
}

function readPem(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw unusable(variable, file, reasonIn(cause), cause);
  }
}

/** OpenSSL says in codes what is wrong with a key. They quote nothing of it. */
function buildContext(options: { readonly ca?: string[] } & Partial<Identity>): SecureContext {
  try {
    return createSecureContext(options);
  } catch (cause) {
    const code = errorCode(cause) ?? '';
    const why = /MISMATCH/.test(code)
      ? `it is not the key of ${CERT}`
      : /PASSWORD|PASSPHRASE|INTERRUPTED|BAD_DECRYPT/.test(code)
        ? 'it is encrypted with a passphrase'
        : 'it holds no private key that can be read';
    throw new CallsheetError('config', `the file of ${KEY} cannot be used: ${why}`, {
      hint: `Set ${KEY} to the unencrypted private key of ${CERT}, ${PEM}`,
    });
  }
}

function unusable(variable: string, file: string, reason: string, cause?: unknown): CallsheetError {
  return new CallsheetError('config', `${variable} ${file} cannot be used: ${reason}`, {
    hint: `Set it to ${variable === 'SSL_CERT_DIR' ? 'folders of certificates' : 'a file of certificates'} ${PEM}`,
    cause,
  });
}

/** Proxies by what is asked through them: addresses of http, and of https. */
export type Proxies = { readonly http: string; readonly https: string };

/**
 * The proxies that the environment names; undefined where it names none. `ALL_PROXY` counts where the other two say
 * nothing. Throws `CallsheetError('config')` for what is no address of a proxy that speaks http.
 */
export function findProxies(env: Env): Proxies | undefined {
  const http = findProxy(env, ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']);
  const https = findProxy(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']) ?? http;
  return https === undefined ? undefined : { http: http ?? '', https };
}

function findProxy(env: Env, variables: readonly string[]): string | undefined {
  const name = variables.find((variable) => env[variable]);
  const text = name === undefined ? undefined : env[name];
  if (name === undefined || text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.host !== '') return text;
  const isSocks = /^socks/i.test(text);
  throw new CallsheetError(
    'config',
    isSocks
      ? `${name} names a SOCKS proxy, which Callsheet does not use`
      : `${name} is not the address of a proxy`,
    {
      hint: isSocks
        ? `Set HTTPS_PROXY to a proxy that speaks http, such as http://proxy.example.com:3128, or unset ${name}.`
        : 'Use the form http://proxy.example.com:3128.',
    },
  );
}

/** Why a certificate was refused, to go on after its name, and what to do. */
export type CertificateFault = { readonly why: string; readonly todo: string };

const UNKNOWN: CertificateFault = {
  why: 'is not trusted: no authority that is known here signed it',
  todo: 'If it is signed by an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.',
};
const OTHER_NAME: CertificateFault = {
  why: 'is for another name',
  todo: 'Use a name that the certificate has in the address, or check that the address leads to the right server.',
};
const OVER: CertificateFault = {
  why: 'has expired',
  todo: 'Renew it on the server. If it was renewed, check the clock of this machine.',
};
const NOT_YET: CertificateFault = { ...OVER, why: 'is not valid yet' };
const REFUSED: CertificateFault = {
  why: 'is not accepted',
  todo: 'Check the certificate of the server: it was revoked, or is not for this use.',
};

const FAULTS: { readonly [code: string]: CertificateFault } = {
  CERT_HAS_EXPIRED: OVER,
  CERT_NOT_YET_VALID: NOT_YET,
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_NAME,
  HOSTNAME_MISMATCH: OTHER_NAME,
  CERT_REVOKED: REFUSED,
  CERT_REJECTED: REFUSED,
  INVALID_PURPOSE: REFUSED,
  CERT_CHAIN_TOO_LONG: REFUSED,
  PATH_LENGTH_EXCEEDED: REFUSED,
  CERT_UNTRUSTED: UNKNOWN,
  INVALID_CA: UNKNOWN,
  CERT_SIGNATURE_FAILURE: UNKNOWN,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN,
};

/** Codes that say that it was the certificate. */
export const CERTIFICATE_CODES: readonly string[] = Object.keys(FAULTS);

/** Why the certificate of a server was refused; undefined for a failure of another kind. */
export function findCertificateFault(code: string): CertificateFault | undefined {
  return FAULTS[code];
}

/** Returns true if a server refused the certificate that was shown to it, or wants one. */
export function isIdentityRefused(code: string): boolean {
  return ALERTS.test(code);
}

const ALERTS =
  /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|CERTIFICATE_UNKNOWN|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_EXPIRED|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|ACCESS_DENIED)$/;

export const IDENTIFY = `Set ${CERT} and ${KEY} to the files of a certificate that the server accepts, and of its key (PEM).`;
