import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { isObject, type JsonObject } from '../../src/core/value.ts';
import { stateIn } from '../cli/state-stage.ts';
import { agentNamed, SEED } from '../e2e/clinic.ts';
import { mediaOf, restoreOn, wipe } from '../features/recovery/restoring.ts';
import { coveringRows } from '../long.ts';
import { FOR_KEY, take, withKey } from '../snapshot/taking.ts';
import { type Stage, staged, stagedBothWays } from './stage.ts';

/**
 * A facet is written by itself, so that whatever refuses it refuses nothing else: with `--skip-refused` the rest is
 * written, and without it the same is said of every facet.
 */

const BAY = '7d1f2c3b-4a5e-4f60-8b9c-0d1e2f3a4b5c';
const TWO = { ...SEED, organizations: [...(SEED.organizations ?? []), { id: BAY, name: 'Bay' }] };

type Row = {
  readonly facet: string;
  readonly on: JsonObject;
  readonly off: JsonObject;
  /** The values that it is set to, one after the other; more than one member where it has more. */
  readonly several: readonly JsonObject[];
  /** From then on the platform takes it. */
  readonly allow: (stage: Stage) => void;
  /** From then on the platform refuses to switch it on. */
  readonly refuse: (stage: Stage) => void;
  /** Whether a plan can tell so of an agent that is not there yet. */
  readonly isKnownEarly: boolean;
};

function setMerchant({ sim: { store } }: Stage, status: 'active' | 'restricted'): void {
  for (const organization of store.organizations.values()) {
    organization.merchant = { status, charges: status === 'active' };
    organization.knownMerchant = { ...organization.merchant };
  }
}

function register({ sim }: Stage, data: JsonObject | null): void {
  for (const id of sim.store.agents.keys()) sim.edit(id, { sip_registration_data: data });
}

const ROWS: readonly Row[] = [
  {
    facet: 'sip',
    on: { registration_enabled: true },
    off: { registration_enabled: false },
    several: [true, false, true].map((one) => ({ registration_enabled: one })),
    allow: (stage) => register(stage, { username: 'desk', registrationEnabled: false }),
    refuse: (stage) => register(stage, null),
    isKnownEarly: true,
  },
  {
    facet: 'payments',
    on: { tool_enabled: true },
    off: { tool_enabled: false },
    several: ['a', 'b', 'c'].map((one) => ({
      tool_enabled: true,
      success_url: `https://${one}.example.test/`,
    })),
    allow: (stage) => setMerchant(stage, 'active'),
    refuse: (stage) => setMerchant(stage, 'restricted'),
    isKnownEarly: false,
  },
];

const SMS = {
  smsProvider: {
    account_sid: 'AC01',
    auth_token: { $secret: 'env:SMS_TOKEN' },
    fromNumber: '+15550100',
  },
};

const write = (stage: Stage, greeting: string, more: object = {}) =>
  stage.write(
    'agents.yaml',
    JSON.stringify({
      agents: {
        desk: { name: 'Desk', greeting_message: greeting, integrations: SMS, ...more },
      },
    }),
  );

const greetingOf = ({ sim }: Stage) =>
  [...sim.store.agents.values()].find(({ record }) => record.name === 'Desk')?.record
    .greeting_message;

/** Applies what may be refused, and gives the line of the agent with what its plan said. */
async function tried(stage: Stage, skipRefused: boolean) {
  const { changes } = await stage.plan({ skipRefused, allowDelete: true }, { exit: 'any' });
  const said = changes.find(({ address }) => address === 'agent.desk');
  const ledger = await stage.apply(
    { skipRefused, allowDelete: true },
    { exit: 'any', leaves: () => true },
  );
  const line = ledger.find(({ address }) => address === 'agent.desk');
  return { said, line };
}

const wayOf = (facet: string) =>
  expect.stringMatching(
    new RegExp(`^${facet} cannot be set: .*--skip-refused leaves ${facet} out and writes the rest`),
  );

const isOn = ({ sim }: Stage, facet: string) => {
  const { record, payments } = agentNamed(sim, 'Desk');
  const { sip_registration_data: sip } = record;
  return facet === 'payments' ? payments.enabled : isObject(sip) && sip.registrationEnabled;
};

/** A facet's own value, as far as it is told. */
const liveFacet = (stage: Stage, facet: string) => {
  const { enabled, limits } = agentNamed(stage.sim, 'Desk').payments;
  if (facet === 'payments') return enabled && limits.success_url;
  return isOn(stage, facet);
};

const LIVES = [false, true].flatMap((facetEntries) =>
  [false, true].map((historyCreatedAt) => ({ facetEntries, historyCreatedAt, historyLagMs: 40 })),
);

/** Time between two commands, by which whole seconds tell them apart. */
const LATER_MS = 3000;

const LIVED = ROWS.flatMap((row) => LIVES.map((dialect) => ({ row, dialect })));
const takenLives = coveringRows(
  LIVED,
  ({ row, dialect }) => [row.facet, dialect.facetEntries, dialect.historyCreatedAt],
  2,
);

for (const { row, dialect } of takenLives) {
  const { facet, on, off, several, allow } = row;
  describe(`the entry that ${facet} may have, ${JSON.stringify(dialect)}`, () => {
    const rolledBack = async (stage: Stage, run?: string) => {
      const flags: RollbackFlags = { dir: stage.folder, format: 'json', autoApprove: true };
      const asked = run === undefined ? flags : { ...flags, run };
      const { out, err } = await stage.run((to) => rollback(asked, to), { exit: 'any' });
      return `${out}${err}`;
    };
    const applied = async (stage: Stage, greeting: string, facets: JsonObject) => {
      await write(stage, greeting, { [facet]: facets });
      await stage.apply();
      return (await stateIn(stage)).last_run ?? '';
    };
    const begun = async (stage: Stage, passed = 0) => {
      await write(stage, 'One');
      await stage.apply();
      stage.sim.advance(passed);
      allow(stage);
      stage.sim.advance(passed);
      await applied(stage, 'One', off);
    };

    for (const greeting of ['One', 'Two'])
      staged(
        `is the run's own when it is rolled back (${greeting})`,
        async (stage) => {
          await begun(stage);
          await applied(stage, greeting, on);
          expect(isOn(stage, facet)).toBe(true);
          expect(await rolledBack(stage)).not.toContain('edited since');
          expect([greetingOf(stage), isOn(stage, facet)]).toEqual(['One', false]);
        },
        { dialect },
      );

    staged(
      'is that of each run of several, which are rolled back one after the other',
      async (stage) => {
        await begun(stage, LATER_MS);
        const ran: [string, unknown][] = [];
        for (const [at, facets] of [...several, off].entries()) {
          stage.sim.advance(LATER_MS);
          // An update that the platform ignores leaves no entry.
          if (at === 2) await stage.apply({ resendSecrets: true });
          stage.sim.advance(LATER_MS);
          const before = liveFacet(stage, facet);
          ran.push([await applied(stage, 'One', facets), before]);
        }
        for (const [run, before] of ran.toReversed()) {
          stage.sim.advance(LATER_MS);
          const said = await rolledBack(stage, run);
          expect(said).not.toContain('edited since');
          expect(liveFacet(stage, facet), said).toEqual(before);
        }
      },
      { dialect: { ...dialect, timestamps: 'seconds', dates: false, emptyUpdates: 'ignored' } },
    );

    // Runs within a second of each other are not told apart by times.
    if (dialect.historyCreatedAt) return;
    staged(
      'is an edit of its run where an earlier one is rolled back, until that is taken back',
      async (stage) => {
        await begun(stage);
        const first = await applied(stage, 'Two', on);
        const second = await applied(stage, 'Two', off);
        // Nothing but its entry tells of a change of a facet alone.
        if (dialect.facetEntries)
          expect(await rolledBack(stage, first)).toContain(`last by run ${second}`);
        expect(await rolledBack(stage, second)).not.toContain('edited since');
        expect(isOn(stage, facet)).toBe(true);
        expect(await rolledBack(stage, first)).not.toContain('edited since');
        expect([greetingOf(stage), isOn(stage, facet)]).toEqual(['One', false]);
      },
      { dialect },
    );
  });
}

const REFUSED = ROWS.flatMap((row) => [false, true].map((skipRefused) => ({ row, skipRefused })));

for (const { row, skipRefused } of coveringRows(REFUSED, (one) => [one.row.facet, one.skipRefused]))
  describe(`${row.facet} that is refused, ${skipRefused ? 'with' : 'without'} --skip-refused`, () => {
    const { facet, on, off, allow, refuse, isKnownEarly } = row;
    const leftOut = expect.stringMatching(new RegExp(`${facet}\\.\\w+ is left out: `));

    stagedBothWays('of a new agent', async (stage) => {
      refuse(stage);
      await write(stage, 'One', { [facet]: on });
      const { said, line } = await tried(stage, skipRefused);
      if (skipRefused) expect(line).toMatchObject({ status: 'done', message: leftOut });
      else if (isKnownEarly)
        expect(said).toMatchObject({ verdict: 'refused', reason: wayOf(facet) });
      else
        expect(line).toMatchObject({ status: 'failed', message: expect.stringContaining(facet) });
      expect(greetingOf(stage)).toBe(skipRefused || !isKnownEarly ? 'One' : undefined);
    });

    stagedBothWays('of an agent that changes elsewhere, too', async (stage) => {
      await write(stage, 'One');
      await stage.apply();
      refuse(stage);
      await write(stage, 'Two', { [facet]: on });
      const { said, line } = await tried(stage, skipRefused);
      if (skipRefused) expect(line).toMatchObject({ status: 'done', message: leftOut });
      else expect(said).toMatchObject({ verdict: 'refused', reason: wayOf(facet) });
      expect(greetingOf(stage)).toBe(skipRefused ? 'Two' : 'One');
      allow(stage);
      await stage.apply({ acceptConflicts: true });
      expect(greetingOf(stage)).toBe('Two');
    });

    stagedBothWays('and nothing else changes', async (stage) => {
      await write(stage, 'One');
      await stage.apply();
      refuse(stage);
      await write(stage, 'One', { [facet]: on });
      const { said } = await tried(stage, skipRefused);
      expect(said).toMatchObject({
        verdict: 'refused',
        reason: expect.stringMatching(new RegExp(`^${facet} cannot be set: `)),
      });
    });

    stagedBothWays(
      'of an agent that is replaced: the old one stays',
      async (stage) => {
        await write(stage, 'One');
        await stage.apply();
        const { id } = agentNamed(stage.sim, 'Desk');
        refuse(stage);
        await write(stage, 'Two', { organization: BAY, [facet]: on });
        const { said, line } = await tried(stage, skipRefused);
        expect([said?.verdict === 'refused', line?.status === 'failed']).toContain(true);
        expect(stage.sim.store.agents.has(id)).toBe(true);
      },
      { seed: TWO },
    );

    stagedBothWays('in a rollback: the rest is put back', async (stage) => {
      await write(stage, 'One');
      await stage.apply();
      allow(stage);
      await write(stage, 'One', { [facet]: on });
      await stage.apply();
      await write(stage, 'Two', { [facet]: off });
      await stage.apply();
      refuse(stage);
      const flags = {
        dir: stage.folder,
        format: 'json',
        autoApprove: true,
        undoEdited: true,
      } as const;
      const { out } = await stage.run((to) => rollback({ ...flags, skipRefused }, to), {
        exit: 3,
      });
      expect(greetingOf(stage), out).toBe('One');
      expect(out).toContain(`${facet}.`);
    });

    stagedBothWays('in a restoration: the rest is made', async (stage) => {
      await write(stage, 'One');
      await stage.apply();
      allow(stage);
      await write(stage, 'One', { [facet]: on });
      await stage.apply();
      const { file } = await take(stage, 'then.snapshot', FOR_KEY);
      const media = await mediaOf(stage.sim, `${stage.folder}/media`);
      wipe(stage.sim);
      refuse(stage);
      const key = await withKey(stage);
      const given = { ...key, media, withoutSecrets: true, skipRefused };
      const { out, err } = await restoreOn(stage, file, given as never, { exit: 'any' });
      expect(greetingOf(stage)).toBe('One');
      expect(`${out}${err}`).toContain(facet);
      expect(isObject(JSON.parse(out))).toBe(true);
    });
  });

for (const isInTime of [true, false]) {
  staged(
    `a SIP flag that takes ${isInTime ? 'some seconds is waited for' : 'too long is a failure that names it'}`,
    async (stage) => {
      await stage.apply();
      const { id } = agentNamed(stage.sim);
      const data = { username: 'desk', registrationEnabled: false };
      stage.sim.edit(id, { sip_registration_data: data });
      await stage.edit(
        'agents.yaml',
        'status: active',
        'status: active\n    sip: { registration_enabled: true }',
      );
      // Answered at once, and carried out later.
      stage.sim.faults.add({
        operation: 'setSipRegistration',
        status: 200,
        body: { success: true, data: {} },
      });
      const waits: number[] = [];
      const sleep = async (milliseconds: number) => {
        waits.push(milliseconds);
        if (isInTime && waits.length === 2)
          stage.sim.edit(id, { sip_registration_data: { ...data, registrationEnabled: true } });
      };
      const ledger = await stage.apply(
        {},
        { exit: isInTime ? 0 : 3, outside: { pause: { sleep, random: () => 0 } } },
      );
      const line = ledger.find(({ address }) => address === 'agent.desk');
      expect(line?.status).toBe(isInTime ? 'done' : 'failed');
      expect(waits).toEqual(isInTime ? [1000, 2000] : [1000, 2000, 4000, 8000, 15_000]);
      if (!isInTime) expect(line?.message).toContain('sip.registration_enabled');
    },
  );
}
