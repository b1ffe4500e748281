import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Makes certificates (X.509, RFC 5280) for servers and clients of tests, with nothing but what they need. */

const SEQUENCE = 0x30;
const SET = 0x31;

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

/** An object identifier whose parts after the first two are below 2^14. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let more = part >> 7; more > 0; more >>= 7) groups.unshift((more & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

const named = (name: string) =>
  der(SEQUENCE, der(SET, der(SEQUENCE, oid('2.5.4.3'), der(0x0c, Buffer.from(name)))));
const time = (at: Date) =>
  der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`));
const ECDSA_SHA256 = der(SEQUENCE, oid('1.2.840.10045.4.3.2'));
const extension = (id: string, value: Buffer) => der(SEQUENCE, oid(id), der(0x04, value));

export type Minted = { readonly cert: string; readonly key: string };
export type Authority = Minted & { readonly name: string; readonly own: KeyObject };

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

const DAY = 24 * 3_600_000;

type CertificateOptions = {
  /** The name that it is for. */
  readonly name: string;
  /** Days from now until which it holds; from ten days before that. */
  readonly days?: number;
};

function mint({ name, days = 5 }: CertificateOptions, by: Authority | undefined): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const until = Date.now() + days * DAY;
  const isAuthority = by === undefined;
  const alternatives = der(SEQUENCE, der(0x82, Buffer.from(name)));
  const extensions = isAuthority
    ? [extension('2.5.29.19', der(SEQUENCE, der(0x01, Buffer.from([0xff]))))]
    : [extension('2.5.29.17', alternatives)];
  const serial = createHash('sha256').update(`${name}${until}`).digest().subarray(0, 8);
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), serial])),
    ECDSA_SHA256,
    named(by?.name ?? name),
    der(SEQUENCE, time(new Date(until - 10 * DAY)), time(new Date(until))),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = sign('sha256', content, by?.own ?? privateKey);
  const whole = der(SEQUENCE, content, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { name, own: privateKey, key: String(key), cert: pem('CERTIFICATE', whole) };
}

/** An authority that signs. */
export function mintAuthority(name: string): Authority {
  return mint({ name, days: 9 }, undefined);
}

/** A certificate for a name, signed by an authority. */
export function mintCertificate(options: CertificateOptions, by: Authority): Minted {
  return mint(options, by);
}
