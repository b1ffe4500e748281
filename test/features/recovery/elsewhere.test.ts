import { describe, expect } from 'vitest';
import type { SeedDocument, Simulator } from '../../../src/simulator/index.ts';
import { longStaged, staged } from '../../apply/stage.ts';
import { agentNamed, SEED } from '../../e2e/clinic.ts';
import { take } from '../../snapshot/taking.ts';
import { fleetOf, ownState, restoreOn } from './restoring.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const CLINIC_BASE = '7c346549-f8c6-406a-809e-72392ed69b41';
const MARINA = 'b3a1d2f0-5d5e-4a44-9a35-0d7e6c1f8a02';
const MARINA_BASE = 'c9d5e6f7-1a2b-4c3d-8e4f-5a6b7c8d9e0f';
const KEY = { CALLSHEET_CLIENT_ID: 'marina-client', CALLSHEET_CLIENT_SECRET: 'marina-secret' };

const TWO: SeedDocument = {
  ...SEED,
  organizations: [...(SEED.organizations ?? []), { id: MARINA, name: 'Marina Dental' }],
  knowledge_bases: [
    ...(SEED.knowledge_bases ?? []),
    { id: MARINA_BASE, organization_id: MARINA, name: 'Marina' },
  ],
  keys: [
    {
      client_id: 'marina-client',
      client_secret: 'marina-secret',
      scope: { level: 'organization', id: MARINA },
    },
  ],
};

/** What an organization has, with another's id in the place of its own. */
function fleetIn(sim: Simulator, organization: string): unknown {
  const all = fleetOf(sim) as Record<string, Record<string, unknown>>;
  const parts = Object.entries(all).flatMap(([part, records]) =>
    Object.values(records ?? {})
      .filter((one) => JSON.stringify(one).includes(organization))
      .map((one) => `${part}: ${JSON.stringify(one)}`),
  );
  const text = parts.filter((one) => !/^(knowledgeBases|profiles|claims)/.test(one)).sort();
  return JSON.parse(
    JSON.stringify(text).replaceAll(MARINA, HARBOR).replaceAll(MARINA_BASE, CLINIC_BASE),
  );
}

describe('another organization', () => {
  staged(
    'gets a fleet of its own, by names, with a second key',
    async (stage) => {
      await stage.apply();
      const before = fleetIn(stage.sim, HARBOR);
      const { file } = await take(stage);
      const flags = {
        mapOrganization: ['harbor=Marina Dental'],
        mapKnowledgeBase: [`${CLINIC_BASE}=${MARINA_BASE}`],
        state: ownState(stage),
      };
      // A scoped key may not read the names of organizations.
      const unnamed = await restoreOn(stage, file, flags, { exit: 1, env: KEY });
      expect(unnamed.err).toContain('the target has no organization Marina Dental');
      const byId = { ...flags, mapOrganization: [`Harbor Dental=${MARINA.toUpperCase()}`] };
      const { summary } = await restoreOn(stage, file, byId, { env: KEY });
      expect(summary()).toMatchObject({ status: 'done', mapped: { [HARBOR]: MARINA } });
      expect(fleetIn(stage.sim, MARINA)).toEqual(before);
      // The other organization is as it was, and the policy that both use is still one.
      expect(fleetIn(stage.sim, HARBOR)).toEqual(before);
      expect(stage.sim.store.retryPolicies.size).toBe(1);
      // A state that was made elsewhere would have its agents moved from there.
      const moved = { ...flags, mapOrganization: [], mapKnowledgeBase: [], over: true };
      const other = await restoreOn(stage, file, moved, { exit: 1 });
      expect(other.err.replaceAll(/\s+/g, ' ')).toContain('is of another restoration');
      // With the key of the account the name does.
      const again = await restoreOn(stage, file, flags);
      expect(again.summary()).toMatchObject({ status: 'done', runs: [] });
    },
    { seed: TWO },
  );

  longStaged(
    'gets new ids in its texts only when that is asked for',
    async (stage) => {
      await stage.apply();
      const first = agentNamed(stage.sim);
      const recall = agentNamed(stage.sim, 'Recall');
      // Two agents that name each other: neither id is known before both are made.
      stage.sim.edit(first.id, { transfer_rules: `To ${recall.id} of ${HARBOR}.` });
      stage.sim.edit(recall.id, { system_prompt: `Hand over to ${first.id}.` });
      const { file } = await take(stage);
      const flags = {
        mapOrganization: [`${HARBOR.toUpperCase()}=${MARINA}`],
        state: ownState(stage),
      };
      const said = await restoreOn(stage, file, { ...flags, dryRun: true, format: 'text' });
      expect(said.out).toContain('transfer_rules names ids that change, and keeps the old ids');
      const kept = await restoreOn(stage, file, flags);
      expect(kept.summary().status).toBe('done');
      const copy = [...stage.sim.store.agents.values()].find(
        ({ organizationId, record }) => organizationId === MARINA && record.name === 'Front desk',
      );
      expect(copy?.record.transfer_rules).toBe(`To ${recall.id} of ${HARBOR}.`);
      // Sources of the other organization's knowledge base are not touched, and it is said why.
      expect(kept.summary().exceptions.filter(({ what }) => what === 'place')).toHaveLength(2);

      const mapped = await restoreOn(stage, file, { ...flags, mapTexts: true });
      expect(mapped.summary().status).toBe('done');
      const now = [...stage.sim.store.agents.values()].filter(
        ({ organizationId }) => organizationId === MARINA,
      );
      const idOf = (name: string) => now.find(({ record }) => record.name === name)?.id;
      const textOf = (name: string, field: string) =>
        now.find(({ record }) => record.name === name)?.record[field];
      expect(textOf('Front desk', 'transfer_rules')).toBe(`To ${idOf('Recall')} of ${MARINA}.`);
      expect(textOf('Recall', 'system_prompt')).toBe(`Hand over to ${idOf('Front desk')}.`);
    },
    { seed: TWO },
  );
});

const UNKNOWN = '0f0f0f0f-0000-4000-8000-000000000000';

describe('a mapping that cannot be', () => {
  staged(
    'is refused before anything is written',
    async (stage) => {
      await stage.apply();
      const { file } = await take(stage);
      const writes = stage.writes().length;
      const rows: readonly (readonly [flag: string, said: string])[] = [
        ['harbor', 'is not of the form OLD=NEW'],
        ['harbour=marina', 'the snapshot has no organization harbour'],
        [`Harbor Dental=Marina`, 'the target has no organization Marina'],
        [`${HARBOR}=${UNKNOWN}`, `Harbor Dental (${HARBOR}) is mapped to ${UNKNOWN}`],
      ];
      for (const [flag, said] of rows) {
        const flags = { mapOrganization: [flag], state: ownState(stage) };
        const { err } = await restoreOn(stage, file, flags, { exit: 1 });
        expect(err).toContain(said);
      }
      const { err } = await restoreOn(
        stage,
        file,
        { mapKnowledgeBase: [`${CLINIC_BASE}=${UNKNOWN}`], over: true, state: ownState(stage) },
        { exit: 1 },
      );
      expect(err.replaceAll(/\s+/g, ' ')).toContain(`${CLINIC_BASE} is mapped to, is not there`);
      expect(stage.writes().length).toBe(writes);
    },
    { seed: TWO },
  );

  staged(
    'of two organizations onto one is refused where names clash or differ by case only',
    async (stage) => {
      await stage.apply();
      const { store } = stage.sim;
      const [one] = [...store.agents.values()].filter(({ record }) => record.name === 'Recall');
      if (one === undefined) throw new Error('it is there');
      const put = (name: string) =>
        store.agents.set(UNKNOWN, {
          ...one,
          id: UNKNOWN,
          organizationId: MARINA,
          record: { ...one.record, id: UNKNOWN, organization_id: MARINA, name },
        });
      for (const [index, [name, said]] of (
        [
          ['Recall', 'agent "Recall" of'],
          ['RECALL', 'which only differ by case'],
        ] as const
      ).entries()) {
        put(name);
        const { file } = await take(stage, `clash-${index}.snapshot`);
        const flags = {
          mapOrganization: [`${HARBOR}=${MARINA}`, `${MARINA}=${MARINA}`],
          state: ownState(stage),
        };
        const { err } = await restoreOn(stage, file, flags, { exit: 1 });
        expect(err.replaceAll(/\s+/g, ' ')).toContain(said);
      }
    },
    { seed: TWO },
  );
});
