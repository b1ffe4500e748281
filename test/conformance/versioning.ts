import { expect } from 'vitest';
import { isObject } from '../../src/core/value.ts';
import { connection, extend } from './extensions.ts';
import { ID } from './ids.ts';
import { expectReply, type Row, reads, section, writes } from './suite.ts';
import { credentials, record } from './world.ts';

const PREFIXED = [
  '/v1/me',
  '/v1/agents',
  '/v1/features',
  '/v1/llm-models',
  '/v1/stt-providers',
  '/v1/email-templates',
];

export const versioning: readonly Row[] = [
  ...section(
    'Versioning',
    PREFIXED.flatMap((path) => [
      reads(`${path} carries the prefix`, async ({ get }) => expectReply(await get(path), 200)),
      reads(`${path} is nowhere without it`, async ({ get }) => {
        expect((await get(path.slice('/v1'.length))).status).toBe(404);
      }),
    ]),
    ...['/api/v1/sessions', '/api/v1/sessions/pbx'].flatMap((path) => [
      reads(`${path} carries its own prefix`, async ({ post }) => {
        expect((await post(path, { body: {}, authorization: null })).status).toBe(401);
      }),
      reads(`${path} is nowhere under the other`, async ({ post }) => {
        const elsewhere = path.slice('/api'.length);
        expect((await post(elsewhere, { body: {} })).status).toBe(404);
      }),
    ]),
    reads('the token endpoint carries none', async ({ post, sim }) => {
      const ask = { authorization: null, body: credentials(sim) };
      expect((await post('/oauth/token', ask)).status).toBe(200);
      expect((await post('/v1/oauth/token', ask)).status).toBe(404);
    }),
    writes('a tool server is read in another shape than it is written in', async (world) => {
      const { extensions } = record(await extend(world, { mcp_servers: [connection()] }));
      const servers = isObject(extensions) ? extensions.mcp_servers : undefined;
      const [read] = Array.isArray(servers) ? servers : [];
      expect(Object.keys(read)).not.toEqual(expect.arrayContaining(Object.keys(connection())));
      const path = `/v1/agents/${ID.bare}`;
      const body = { extensions: { mcp_servers: servers ?? [] } };
      expect((await world.put(path, { body })).status).toBe(400);
    }),
  ),
];
