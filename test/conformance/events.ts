import { expect } from 'vitest';
import { extend, webhook } from './extensions.ts';
import { ID } from './ids.ts';
import { type Row, reads, section, writes } from './suite.ts';
import { record } from './world.ts';

const MOST = { before_call: 1, during_call: 4, after_call: 1 };

const several = (condition: string, count: number) =>
  Array.from({ length: count }, (_, at) => webhook({ name: `${condition}_${at}`, condition }));

const ALL = Object.entries(MOST).flatMap(([condition, most]) => several(condition, most));

export const events: readonly Row[] = [
  ...section(
    'Events',
    Object.entries(MOST).flatMap(([condition, most]) => [
      writes(`an agent may have ${most} of ${condition}`, async (world) => {
        expect((await extend(world, { tools: several(condition, most) })).status).toBe(200);
      }),
      reads(`it may not have ${most + 1} of ${condition}`, async (world) => {
        expect((await extend(world, { tools: several(condition, most + 1) })).status).toBe(400);
      }),
      reads(`nor may it be created with ${most + 1} of ${condition}`, async ({ post }) => {
        const extensions = { tools: several(condition, most + 1) };
        const body = { name: 'New', organizationId: ID.harbor, extensions };
        expect((await post('/v1/agents', { body })).status).toBe(400);
      }),
    ]),
    writes('an agent may have the most of each at once', async (world) => {
      const reply = await extend(world, { tools: ALL });
      expect(reply.status).toBe(200);
      expect(record(reply).extensions).toMatchObject({ tools: ALL });
    }),
    writes('an agent can be created with the most of each', async ({ post }) => {
      const body = { name: 'New', organizationId: ID.harbor, extensions: { tools: ALL } };
      expect((await post('/v1/agents', { body })).status).toBeLessThan(300);
    }),
    writes('webhooks can be taken away by an update', async (world) => {
      await extend(world, { tools: ALL });
      expect(record(await extend(world, { tools: [] })).extensions).toMatchObject({ tools: [] });
    }),
  ),
  ...section(
    'Limits · Webhooks',
    reads('an update beyond the limit changes nothing', async (world) => {
      const path = `/v1/agents/${ID.desk}`;
      const before = record(await world.get(path));
      const extensions = { tools: several('before_call', 2) };
      await world.put(path, { body: { name: 'Renamed', extensions } });
      expect(record(await world.get(path))).toEqual(before);
    }),
    Object.entries(MOST).map(([condition, most]) =>
      reads(`others do not make room for ${most + 1} of ${condition}`, async (world) => {
        const others = ALL.filter((tool) => tool.condition !== condition).slice(1);
        const tools = [...others, ...several(condition, most + 1)];
        expect((await extend(world, { tools })).status).toBe(400);
      }),
    ),
  ),
];
