import { expect } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { RESTS } from '../../src/simulator/index.ts';
import { samples } from '../kinds/samples.ts';
import { ASSUMED, ENDPOINTS, type Endpoint, named, send } from './endpoints.ts';
import { struck } from './errors.ts';
import { ID } from './ids.ts';
import { type Row, section, writes } from './suite.ts';
import { record, type World } from './world.ts';

/**
 * Kinds with plain REST endpoints that have no rows of their own yet: each operation is answered with each
 * status that the document gives it. What the specification says beyond that becomes rows by hand.
 */
export const plainKinds: readonly Row[] = RESTS.filter(
  (rest) =>
    ![...ENDPOINTS, ...ASSUMED].some(({ path }) => path === operations[rest.operations.list].path),
).flatMap((rest) => {
  const { kind, key } = rest;
  const field = key.at(-1) ?? 'name';
  const owner: JsonObject = key.includes('organization_id') ? { organization_id: ID.harbor } : {};
  const whole = { ...owner, ...samples.find((one) => one.kind === kind.name)?.whole };
  const path = operations[rest.operations.list].path;
  const at = (id: Json | undefined) => `${path}/${String(id)}`;
  const endpoints: readonly Endpoint[] = [
    { method: 'get', path },
    { method: 'post', path, body: whole },
    { method: 'get', path: at(ID.nobody) },
    { method: 'patch', path: at(ID.nobody), body: {} },
    { method: 'delete', path: at(ID.nobody) },
  ];
  const create = async ({ post }: World, more: JsonObject = {}) =>
    record(await post(path, { body: { ...whole, ...more } }));
  const refuses = async (world: World, wanted: readonly number[]) => {
    const [list, ...writing] = [
      await world.get(`${path}?page=0`),
      await world.post(path, { body: { ...whole, [field]: 7 } }),
      await world.patch(at((await create(world)).id), { body: { [field]: 7 } }),
    ];
    expect([list?.status, ...writing.map(({ status }) => status)]).toEqual(wanted);
  };
  return section(
    'Errors · Statuses',
    endpoints.flatMap((endpoint) => [
      writes(`${named(endpoint)} takes a token`, async (world) => {
        expect((await send(world, endpoint, null)).status).toBe(401);
      }),
      ...[429, 500, 503].map((status) =>
        struck(`${named(endpoint)} can be answered ${status}`, endpoint, status),
      ),
    ]),
    writes(`${path} is created, listed, read, changed and deleted`, async (world) => {
      const made = await create(world);
      expect(made).toMatchObject(whole);
      expect((await world.get(path)).body.data).toEqual([made]);
      expect(record(await world.get(at(made.id)))).toEqual(made);
      expect(record(await world.patch(at(made.id), { body: {} })).id).toBe(made.id);
      expect((await world.delete(at(made.id))).status).toBe(204);
      for (const method of ['get', 'patch', 'delete'] as const)
        expect((await world[method](at(made.id), { body: {} })).status).toBe(404);
    }),
    writes(`${path} refuses a value of another type`, (world) => refuses(world, [400, 400, 400])),
    writes(`${path} refuses a key that is taken`, async (world) => {
      await create(world);
      const other = await create(world, { [field]: 'Another' });
      expect((await world.post(path, { body: whole })).status).toBe(409);
      const body = { [field]: whole[field] ?? null };
      expect((await world.patch(at(other.id), { body })).status).toBe(409);
    }),
    key.includes('organization_id')
      ? writes(`${path} refuses an organization of others`, async (world) => {
          expect((await world.get(`${path}?organization_id=${ID.nobody}`)).status).toBe(403);
          const body = { ...whole, organization_id: ID.nobody };
          expect((await world.post(path, { body })).status).toBe(403);
        })
      : [],
  );
});
