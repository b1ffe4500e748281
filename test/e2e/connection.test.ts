import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { scenario } from './harness.ts';

/** A website at the address where the platform should be. */
let website: Server;
/** An address where nothing listens any more. */
let nobody: string;

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  website = await listen(
    createServer((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/html' });
      answer.end('<!doctype html><title>Welcome</title>');
    }),
  );
  const closed = await listen(createServer());
  nobody = urlOf(closed);
  closed.close();
  await once(closed, 'close');
});

afterAll(() => website.close());

type Env = Readonly<Record<string, string | undefined>>;

const rows: readonly (readonly [string, () => Env, RegExp])[] = [
  [
    'a wrong client secret',
    () => ({ CALLSHEET_CLIENT_SECRET: 'canary-wrong-secret' }),
    /^Error: the platform refused the credentials: POST \S+\/oauth\/token answered 401/,
  ],
  [
    'an unknown client',
    () => ({ CALLSHEET_CLIENT_ID: 'nobody' }),
    /^Error: the platform refused the credentials/,
  ],
  [
    'an access token that does not hold',
    () => ({ CALLSHEET_ACCESS_TOKEN: 'canary-wrong-token' }),
    /^Error: GET \S+\/v1\/me answered 401[^\n]*\n[^\n]*CALLSHEET_ACCESS_TOKEN/,
  ],
  [
    'no credentials',
    () => ({ CALLSHEET_CLIENT_ID: undefined, CALLSHEET_CLIENT_SECRET: undefined }),
    /^Error: there are no credentials for the platform\nSet CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET/,
  ],
  [
    'nobody listens',
    () => ({ CALLSHEET_BASE_URL: nobody }),
    /^Error: POST \S+: nothing listens at 127\.0\.0\.1/,
  ],
  [
    'a website',
    () => ({ CALLSHEET_BASE_URL: urlOf(website) }),
    /^Error: POST \S+ answered 200 with text\/html instead of JSON\n[^\n]*base_url/,
  ],
  [
    'plain http over a network',
    () => ({ CALLSHEET_BASE_URL: 'http://platform.example.test' }),
    /^callsheet\.yaml:3:\d+\s+error\s[^(]*is\s+plain\s+http,\s+which\s+would\s+send\s+credentials\s+unencrypted/,
  ],
  ['no address', () => ({ CALLSHEET_BASE_URL: undefined }), /CALLSHEET_BASE_URL/],
  [
    'an address that is none',
    () => ({ CALLSHEET_BASE_URL: 'platform' }),
    /^callsheet\.yaml:3:\d+[^\n]*platform\.base_url must begin with http/,
  ],
];

for (const [what, env, message] of rows) {
  scenario(`${what}: one clear sentence, and nothing else is sent`, async (world) => {
    const { out, err } = await world.run(['plan'], { env: env(), exit: 1 });
    expect(out).toBe('');
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at |node:internal|Callsheet itself failed/);
    expect(err).not.toContain('canary-wrong');
    expect(err.trim().split('\n').length).toBeLessThanOrEqual(16);
    expect(world.writes()).toEqual([]);
    expect(world.sim.requests.every(({ status }) => status === 401)).toBe(true);
  });
}

scenario('a scoped key that cannot change what the plan changes is told so', async (world) => {
  const env = { CALLSHEET_CLIENT_ID: 'harbor-only', CALLSHEET_CLIENT_SECRET: 'canary-scoped' };
  const [organization] = world.sim.organizations;
  world.sim.store.keys.set(env.CALLSHEET_CLIENT_ID, {
    clientId: env.CALLSHEET_CLIENT_ID,
    clientSecret: env.CALLSHEET_CLIENT_SECRET,
    generation: 1,
    scope: { level: 'organization', id: organization?.id ?? '' },
  });
  const { out } = await world.run(['apply', '--auto-approve'], { env, exit: 4 });
  expect(out.replace(/\s+/g, ' ')).toContain(
    'createRetryPolicy is closed to this key, which is limited to one organization; use a key of the whole account',
  );
  expect(world.writes()).toEqual([]);
  await world.apply();
});
