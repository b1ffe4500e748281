import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Known, signatureFault } from './s3-server.ts';

/**
 * A stand-in for what hands out keys on AWS, by Amazon's description of each: STS, the endpoint of a container, and
 * version 2 of an instance's metadata. Each answer has new keys, which are put among those that a bucket knows.
 */
export const ROLE = 'arn:aws:iam::123456789012:role/deploy';
export const TOKEN = 'canary-identity-token-71ac';
const SESSION = 'canary-session-2f90';

const HOUR = 3_600_000;

export type AwsServer = Awaited<ReturnType<typeof startAws>>;

/** `life`: milliseconds that keys hold. */
export async function startAws(keys: Map<string, Known>, life = HOUR) {
  /** What was asked, in order, without what it was asked with. */
  const asked: string[] = [];
  const answers: { status: number; body: string }[] = [];
  let count = 0;

  function mint() {
    count += 1;
    const id = `ASIACANARY${count}`;
    const known = {
      secret: `canary/minted+secret${count}`,
      token: `canary//minted+token${count}==`,
    };
    keys.set(id, known);
    const expiration = new Date(Date.now() + life).toISOString();
    return { id, ...known, expiration };
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const [path = ''] = (request.url ?? '').split('?');
    asked.push(`${request.method} ${path}`);
    const given = answers.shift() ?? answer(request, path, body);
    response.writeHead(given.status).end(given.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  function answer(request: IncomingMessage, path: string, body: string) {
    const { headers, method } = request;
    if (path === '/' && method === 'POST') return sts(request, body);
    if (path === '/container')
      return headers.authorization === TOKEN ? json() : { status: 401, body: 'Unauthorized' };
    if (path === '/latest/api/token' && method === 'PUT')
      return Number(headers['x-aws-ec2-metadata-token-ttl-seconds']) > 0
        ? { status: 200, body: SESSION }
        : { status: 400, body: '' };
    if (headers['x-aws-ec2-metadata-token'] !== SESSION) return { status: 401, body: '' };
    const roles = '/latest/meta-data/iam/security-credentials/';
    if (path === roles) return { status: 200, body: 'runner' };
    return path === `${roles}runner` ? json() : { status: 404, body: '' };
  }

  function json() {
    const { id, secret, token, expiration } = mint();
    const said = { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration };
    return { status: 200, body: JSON.stringify({ Code: 'Success', ...said }) };
  }

  function sts(request: IncomingMessage, body: string) {
    const form = new URLSearchParams(body);
    const action = form.get('Action') ?? '';
    const refused = (code: string, message: string) => ({
      status: 403,
      body: `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
    });
    const fault =
      action === 'AssumeRole'
        ? signatureFault(request, new URL(url), body, keys)
        : form.get('WebIdentityToken') === TOKEN
          ? undefined
          : 'InvalidIdentityToken';
    if (fault !== undefined) return refused(fault, 'No, not you');
    if (form.get('RoleArn') !== ROLE) return refused('AccessDenied', 'Not authorized to assume it');
    const { id, secret, token, expiration } = mint();
    return {
      status: 200,
      body: `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
  <AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey>
  <SessionToken>${token}</SessionToken><Expiration>${expiration}</Expiration>
</Credentials></${action}Result></${action}Response>`,
    };
  }

  return {
    url,
    asked,
    /** What is answered next, in the place of what would be. */
    answers,
    /** Has all keys that were handed out so far end. */
    expire() {
      for (const [id, known] of keys)
        if (id.startsWith('ASIA')) keys.set(id, { ...known, hasExpired: true });
    },
  };
}
