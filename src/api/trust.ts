import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { CallsheetError } from '../core/errors.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The last context made: a system's whole bundle takes tens of milliseconds, and clients are opened often. */
let last: { readonly text: string; readonly context: SecureContext } | undefined;

/**
 * What is trusted where `SSL_CERT_FILE` names certificates of authorities (PEM): these beside those that
 * Node trusts, `NODE_EXTRA_CA_CERTS` among them. Undefined where it names none: Node's own rule then.
 * Throws `CallsheetError('config')` where the file cannot be used.
 */
export function trustFrom(env: NodeJS.ProcessEnv): SecureContext | undefined {
  const file = env.SSL_CERT_FILE;
  if (!file) return undefined;
  const unusable = (reason: string, cause?: unknown) =>
    new CallsheetError('config', `SSL_CERT_FILE ${file} cannot be used: ${reason}`, {
      hint: 'It names a file of certificates in PEM form. Unset it where none is needed.',
      ...(cause === undefined ? {} : { cause }),
    });
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw unusable(cause instanceof Error ? (cause.message.split(',')[0] ?? '') : '', cause);
  }
  if (last?.text === text) return last.context;
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw unusable('it holds no certificate');
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw unusable('a certificate in it is damaged', cause);
    }
  }
  const ca = [...getCACertificates('default'), ...certificates];
  last = { text, context: createSecureContext({ ca }) };
  return last.context;
}
