import { expect } from 'vitest';
import { ID } from './ids.ts';
import { locking, SEED } from './seed.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, records, type World } from './world.ts';

const SCOPES = [
  ['', 'account', ID.account],
  [`?reseller_id=${ID.tidewater}`, 'reseller', ID.tidewater],
  [`?organization_id=${ID.harbor}`, 'organization', ID.harbor],
] as const;

const models = async ({ get }: World, query = ''): Promise<readonly unknown[]> =>
  records(await get(`/v1/llm-models${query}`)).map(({ id }) => id);

const lockedKeys = async ({ get }: World, query: string): Promise<readonly unknown[]> =>
  records(await get(`/v1/features${query}`))
    .filter(({ state }) => state === 'locked')
    .map(({ key }) => key);

const OF_HARBOR = `?organization_id=${ID.harbor}`;

export const features: readonly Row[] = [
  ...section(
    'Endpoints · Features',
    SCOPES.map(([query, level, id]) =>
      reads(
        `the ${level} is named as the scope`,
        answers(({ get }) => get(`/v1/features${query}`), 200, {
          feature_administration_enabled: true,
          scope: { level, id },
          data: expect.any(Array),
        }),
      ),
    ),
    SCOPES.map(([query, level]) =>
      reads(`the ${level} gets one entry per feature`, async ({ get }) => {
        const keys = records(await get(`/v1/features${query}`)).map(({ key }) => key);
        const all = records(await get('/v1/features')).map(({ key }) => key);
        expect(keys).toEqual([...new Set(all)]);
      }),
    ),
    reads('entries are sorted by key', async ({ get }) => {
      const keys = records(await get('/v1/features')).map(({ key }) => String(key));
      expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? -1 : 1)));
    }),
    reads('the default model has no entry', async ({ get }) => {
      const keys = records(await get('/v1/features')).map(({ key }) => key);
      expect(keys).not.toContain('llm.alpha-4.1');
    }),
    reads('every other model has one', async ({ get }) => {
      const keys = records(await get('/v1/features')).map(({ key }) => key);
      const others = (await models({ get } as World)).filter((id) => id !== 'alpha-4.1');
      expect(keys).toEqual(expect.arrayContaining(others.map((id) => `llm.${String(id)}`)));
    }),
    writes(
      'without a parameter only locks of the account count',
      async (world) => {
        world.sim.lock('reseller', ID.tidewater, 'custom_voices');
        world.sim.lock('organization', ID.harbor, 'phi_redaction');
        expect(await lockedKeys(world, '')).toEqual(['secure_access']);
      },
      locking('account', 'secure_access'),
    ),
    writes(
      'a reseller sees its own locks and those of the account',
      async (world) => {
        world.sim.lock('reseller', ID.tidewater, 'custom_voices');
        world.sim.lock('organization', ID.harbor, 'phi_redaction');
        expect(await lockedKeys(world, `?reseller_id=${ID.tidewater}`)).toEqual([
          'custom_voices',
          'secure_access',
        ]);
      },
      locking('account', 'secure_access'),
    ),
    writes(
      'an organization sees the locks of the whole chain',
      async (world) => {
        world.sim.lock('reseller', ID.tidewater, 'custom_voices');
        world.sim.lock('organization', ID.harbor, 'phi_redaction');
        expect(await lockedKeys(world, OF_HARBOR)).toEqual([
          'custom_voices',
          'phi_redaction',
          'secure_access',
        ]);
      },
      locking('account', 'secure_access'),
    ),
    writes(
      'where the matrix does not govern, that is said',
      async ({ get }) => {
        const { body } = await get('/v1/features');
        expect(body.feature_administration_enabled).toBe(false);
      },
      { seed: { ...SEED, feature_administration_enabled: false } },
    ),
    writes(
      'where the matrix does not govern, older settings decide',
      async ({ get }) => {
        const entries = records(await get('/v1/features'));
        expect(entries.find(({ key }) => key === 'secure_access')).toMatchObject({
          state: 'locked',
          decided_by: 'legacy_column',
        });
      },
      {
        seed: {
          ...SEED,
          feature_administration_enabled: false,
          legacy_settings: { secure_access: false },
        },
      },
    ),
    writes(
      'where the matrix governs, older settings do not decide',
      async (world) => {
        expect(await lockedKeys(world, '')).toEqual([]);
      },
      { seed: { ...SEED, legacy_settings: { secure_access: false } } },
    ),
    ...[true, false].map((enabled) =>
      writes(
        `integrations keep to the account’s list where the matrix ${enabled ? 'governs' : 'does not'}`,
        async (world) => {
          const locked = await lockedKeys(world, OF_HARBOR);
          expect(locked).toContain('integration.calendarA');
          expect(locked).not.toContain('integration.smsProvider');
        },
        {
          seed: {
            ...SEED,
            feature_administration_enabled: enabled,
            integrations_allowed: ['smsProvider'],
          },
        },
      ),
    ),
    ...['secure_access', 'phi_redaction', 'use_reseller_smtp'].flatMap((key) => [
      writes(`${key} that is available may be opted in to`, async ({ put }) => {
        const reply = await put(`/v1/agents/${ID.bare}`, { body: { config: { [key]: true } } });
        expect(record(reply).config).toMatchObject({ [key]: true });
      }),
      writes(
        `${key} that is locked may not`,
        async ({ put }) => {
          const body = { config: { [key]: true } };
          expect((await put(`/v1/agents/${ID.bare}`, { body })).status).toBe(403);
        },
        locking('organization', key),
      ),
      writes(`a lock of ${key} does not switch it off where it is in use`, async (world) => {
        const path = `/v1/agents/${ID.bare}`;
        await world.put(path, { body: { config: { [key]: true } } });
        world.sim.lock('organization', ID.harbor, key);
        expectReply(await world.put(path, { body: { name: 'Renamed' } }), 200);
        expect(record(await world.get(path)).config).toMatchObject({ [key]: true });
      }),
    ]),
    reads('what nobody decided is available by default', async ({ get }) => {
      const deciders = records(await get('/v1/features')).map((entry) => entry.decided_by);
      expect(new Set(deciders)).toEqual(new Set(['default_available']));
    }),
    ...[
      [`organization_id=${ID.harbor}&reseller_id=${ID.tidewater}`, 'both parameters together'],
      ['organization_id=', 'an empty organization_id'],
      ['reseller_id=', 'an empty reseller_id'],
    ].map(([query, what]) =>
      reads(
        `${what} is a bad request`,
        answers(({ get }) => get(`/v1/features?${query}`), 400, coded('invalid_request')),
      ),
    ),
    ...['organization_id', 'reseller_id'].map((name) =>
      reads(
        `an unknown ${name} is not found`,
        answers(({ get }) => get(`/v1/features?${name}=${ID.nobody}`), 404, coded('not_found')),
      ),
    ),
    writes('what cannot be resolved whole is a 503', async ({ get, sim }) => {
      sim.faults.add({ operation: 'listFeatures', status: 503 });
      expectReply(await get('/v1/features'), 503, coded('service_unavailable'));
    }),
  ),
  ...section(
    'Endpoints · LLM models',
    writes(
      'a lock of the account leaves a model out',
      async (world) => {
        expect(await models(world)).not.toContain('alpha-4o');
        expect(await models(world, OF_HARBOR)).not.toContain('alpha-4o');
      },
      locking('account', 'llm.alpha-4o'),
    ),
    ...(['reseller', 'organization'] as const).map((level) =>
      writes(
        `a lock of the ${level} counts only where its organization is named`,
        async (world) => {
          expect(await models(world)).toContain('alpha-4o');
          expect(await models(world, OF_HARBOR)).not.toContain('alpha-4o');
          expect(await models(world, `?organization_id=${ID.north}`)).toContain('alpha-4o');
        },
        locking(level, 'llm.alpha-4o'),
      ),
    ),
    writes(
      'the default model is never left out',
      async (world) => {
        expect(await models(world)).toContain('alpha-4.1');
        expect(await models(world, OF_HARBOR)).toContain('alpha-4.1');
      },
      locking('account', 'llm.alpha-4.1'),
    ),
    reads(
      'an unknown organization is not found',
      answers(
        ({ get }) => get(`/v1/llm-models?organization_id=${ID.nobody}`),
        404,
        coded('not_found'),
      ),
    ),
  ),
  ...section(
    'Endpoints · STT providers',
    reads('providers stand under data', async ({ get }) => {
      expect(records(await get('/v1/stt-providers')).map(({ id }) => id)).toContain('voxc');
    }),
  ),
];
