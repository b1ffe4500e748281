import { expect, test } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { stateCommands, stateIn } from '../cli/state-stage.ts';
import { CANARIES } from '../e2e/clinic.ts';
import { mortal } from '../kill/mortal.ts';
import { coveringRows } from '../long.ts';

/**
 * A run that found a hand edit, or took a secret away, is undone by each of the ways that lead there. The oracle below
 * shares no code with the program: it knows what the files say and what the store of the platform holds.
 */

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const TOKEN = CANARIES.SMS_TOKEN;
const KEY = CANARIES.CRM_KEY;

type Files = Readonly<Record<'desk' | 'recall', JsonObject>>;

const provider = {
  account_sid: 'AC01',
  auth_token: { $secret: 'env:SMS_TOKEN' },
  fromNumber: '+15550100',
};
/** What no schema names a secret of. */
const records = { username: 'desk', api_key: { $secret: 'env:CRM_KEY' } };

const BEFORE: Files = {
  desk: {
    name: 'Front desk',
    greeting_message: 'Hello',
    description: 'Desk',
    integrations: { smsProvider: provider, ehrProvider: records },
  },
  recall: { name: 'Recall', greeting_message: 'Hello', description: 'Recall' },
};

const desk = (patch: JsonObject): Files => ({
  desk: { ...BEFORE.desk, greeting_message: 'Good day', ...patch },
  recall: { ...BEFORE.recall, greeting_message: 'Good day' },
});

const RUNS: Readonly<Record<string, Files>> = {
  'changes texts': desk({}),
  'nulls a provider': desk({ integrations: { smsProvider: null, ehrProvider: records } }),
  'nulls its members': desk({
    integrations: {
      smsProvider: { account_sid: null, auth_token: null, fromNumber: null },
      ehrProvider: records,
    },
  }),
  'drops providers': desk({ integrations: { smsProvider: provider } }),
  'drops its block': desk({ integrations: { ehrProvider: records } }),
  'nulls all of them': desk({ integrations: null }),
  'adds a provider': desk({
    integrations: {
      smsProvider: provider,
      ehrProvider: records,
      pbxProvider: { client_id: 'desk', client_secret: { $secret: 'env:CRM_KEY' } },
    },
  }),
  'changes accounts': desk({
    integrations: {
      smsProvider: { ...provider, account_sid: 'AC02' },
      ehrProvider: { ...records, username: 'recall' },
    },
  }),
};

const EDITS: Readonly<Record<string, JsonObject>> = {
  'no edit': {},
  'an edit of what the run changes': { greeting_message: 'BY HAND' },
  'an edit of what it does not': { description: 'BY HAND' },
  'an edit of what nobody owns': { system_prompt: 'BY HAND' },
  'providers removed': { integrations: null },
  'providers emptied': { integrations: { smsProvider: {}, ehrProvider: {} } },
};

const WAYS = ['rollback', 'on failure', 'killed before', 'killed after'] as const;
const BETWEEN = ['nothing', 'state rm', 'adopted before', 'providers removed since'] as const;

type Row = {
  readonly run: string;
  readonly edit: string;
  readonly way: (typeof WAYS)[number];
  readonly between: (typeof BETWEEN)[number];
};

const ROWS: readonly Row[] = Object.keys(RUNS).flatMap((run) =>
  Object.keys(EDITS).flatMap((edit) =>
    WAYS.flatMap((way) =>
      BETWEEN.filter((between) => between === 'nothing' || way === 'rollback').map(
        (between): Row => ({ run, edit, way, between }),
      ),
    ),
  ),
);

const TAKEN = coveringRows(ROWS, ({ run, edit, way, between }) => [run, `${edit} ${way}`, between]);

test.each(TAKEN)('a run $run, $edit, $between, $way', async (row) => {
  const stage = await openStage({ seed: SEED as SeedDocument });
  try {
    await playRow(row, stage);
    expect(stage.leaks()).toEqual([]);
  } finally {
    await stage.close();
  }
});

const SEED = { organizations: [{ id: ORGANIZATION, name: 'Harbor' }] };

async function playRow({ run, edit, way, between }: Row, stage: Stage): Promise<void> {
  await stage.remove('resources.yaml');
  await write(stage, BEFORE);
  await stage.apply();
  if (between === 'adopted before') {
    await stage.forget();
    await stage.apply();
  }
  stage.sim.edit(idOf(stage, 'Front desk'), EDITS[edit] ?? {});
  stage.sim.edit(idOf(stage, 'Recall'), EDITS[edit] ?? {});
  stage.sim.advance(60_000);
  const found = liveOf(stage);

  await write(stage, RUNS[run] ?? BEFORE);
  const applied = await applyBy(way, stage);
  stage.sim.advance(60_000);
  const state = stateCommands(stage);
  if (between === 'state rm') await state.rm(['agent.recall']);
  if (between === 'providers removed since')
    stage.sim.edit(idOf(stage, 'Front desk'), { integrations: null });
  const left = liveOf(stage);

  const isEdited = between === 'providers removed since';
  const flags = { dir: stage.folder, format: 'json' as const, autoApprove: true };
  const { out } =
    way === 'on failure'
      ? applied
      : await stage.run((to) => rollback({ ...flags, undoEdited: isEdited }, to), {
          exit: [0, 1, 3],
        });
  const said: Receipt = out === '' ? {} : JSON.parse(out);
  const { status, verification } = said.rollback ?? said;
  const named = (verification?.left ?? []).map(({ address }) => address);
  stage.sim.advance(60_000);
  const after = liveOf(stage);

  if (between === 'state rm') {
    // It is nobody's of this stack any more: neither changed nor taken back, and named.
    expect(named).toContain('agent.recall');
    expect(after.Recall).toEqual(left.Recall);
    expect((await stateIn(stage)).resources).not.toHaveProperty('agent.recall');
    await stage.rollback({}, { exit: 'any' });
    expect((await stateIn(stage)).resources).not.toHaveProperty('agent.recall');
  } else if (!isEdited && status !== 'partial')
    expect(withoutSecrets(after)).toEqual(withoutSecrets(found));
  // What came with the run went with it, secrets as well.
  if (run === 'adds a provider') {
    expect(JSON.stringify(verification?.left ?? [])).not.toContain('pbxProvider');
    if (way === 'rollback' && edit === 'no edit' && between === 'nothing') {
      expect(status).toBe('done');
      expect(JSON.stringify(after)).not.toContain('client_secret');
    }
  }
  // What is not put back is said.
  const takesAway = run !== 'changes texts' && run !== 'adds a provider';
  const isLost = secretsIn(found) !== secretsIn(after);
  if (isLost && takesAway) expect(status).toBe('partial');

  // Only what the run introduced is held.
  await write(stage, RUNS[run] ?? BEFORE);
  const { refusals = [] } = await stage.plan({ target: ['agent.desk'] }, { exit: 'any' });
  const held = refusals.filter(({ guard }) => guard === 'hold').map(({ message }) => message);
  expect(held.join('\n')).not.toContain('agent.desk description');

  // With the files back the plan tells what is not as they say, and apply mends it.
  await write(stage, BEFORE);
  const addresses = between === 'state rm' ? ['agent.desk'] : ['agent.desk', 'agent.recall'];
  for (const refresh of ['full', 'fast'] as const) {
    const plan = await stage.plan({ refresh, target: addresses, releaseHold: true });
    // A secret whose object was gone is written again, whatever the platform kept of it.
    const planned = plan.changes.filter(
      ({ address, fields }) =>
        fields.some(({ cause }) => cause !== 'secret_unwritten' && cause !== 'unknown_secret') ||
        (fields.length > 0 && !named.includes(address)),
    );
    const differing = addresses.filter((address) => !isAsConfigured(after, address));
    expect(
      differing.filter((one) => !plan.changes.some(({ address }) => address === one)),
      refresh,
    ).toEqual([]);
    expect(
      planned.map(({ address }) => address).filter((one) => !differing.includes(one)),
      refresh,
    ).toEqual([]);
  }
  await stage.apply({ target: addresses, acceptConflicts: true, releaseHold: true });
  const mended = liveOf(stage);
  expect(addresses.filter((address) => !isAsConfigured(mended, address))).toEqual([]);
}

type Receipt = {
  readonly status?: string;
  readonly verification?: { readonly left: readonly { readonly address: string }[] };
  readonly rollback?: Receipt;
};

/** Applies the second files, to the end that the way has. */
async function applyBy(way: Row['way'], stage: Stage) {
  const flags = { dir: stage.folder, format: 'json' as const, autoApprove: true };
  const choice = { ...flags, acceptConflicts: true, concurrency: 1 };
  if (way === 'rollback') return stage.run((to) => apply(undefined, choice, to));
  if (way === 'on failure') {
    stage.sim.faults.add({ operation: 'updateAgent', status: 403, skip: 1 });
    const whole = { ...choice, rollbackOnFailure: true };
    return stage.run((to) => apply(undefined, whole, to), { exit: 3 });
  }
  const name = `${way === 'killed after' ? 'after' : 'before'} request PUT updateAgent`;
  const { outside, isDead } = mortal({ name, nth: way === 'killed after' ? 1 : 2 });
  const said = await stage.run((to) => apply(undefined, choice, to), { outside, exit: 'any' });
  expect(isDead()).toBe(true);
  return said;
}

function secretsIn(live: Live): string {
  const secrets: unknown[] = [];
  JSON.stringify(live, (key, value) => {
    if (SECRETS.has(key)) secrets.push(value ?? null);
    return value;
  });
  return JSON.stringify(secrets);
}

async function write(stage: Stage, files: Files): Promise<void> {
  await stage.write('agents.yaml', JSON.stringify({ agents: files }));
}

type Live = Readonly<Record<string, JsonObject>>;

function liveOf({ sim }: Stage): Live {
  return Object.fromEntries(
    [...sim.store.agents.values()].map(({ record }) => [
      String(record.name),
      structuredClone(record) as JsonObject,
    ]),
  );
}

function idOf({ sim }: Stage, name: string): string {
  const [id] = [...sim.store.agents].find(([, { record }]) => record.name === name) ?? [''];
  return id;
}

const SECRETS = new Set(['auth_token', 'api_key']);
const MOVING = new Set(['updated_at', 'version', ...SECRETS]);

function withoutSecrets(live: Live): unknown {
  const kept = (value: Json): Json | undefined => {
    if (!isObject(value)) return value ?? undefined;
    const members = Object.entries(value).flatMap(([key, member]) => {
      const one = MOVING.has(key) ? undefined : kept(member);
      return one === undefined ? [] : [[key, one] as const];
    });
    return members.length === 0 ? undefined : Object.fromEntries(members);
  };
  return kept(live);
}

/** Tells whether all that the first files say of an agent is live, secrets as well. */
function isAsConfigured(live: Live, address: string): boolean {
  const wanted = BEFORE[address.slice('agent.'.length) as keyof Files];
  return holds(wanted, live[String(wanted.name)]);
}

const VALUES: Readonly<Record<string, unknown>> = { 'env:SMS_TOKEN': TOKEN, 'env:CRM_KEY': KEY };

function holds(wanted: unknown, live: unknown): boolean {
  if (!isObject(wanted as never)) return (wanted ?? null) === (live ?? null);
  const { $secret: source } = wanted as { $secret?: string };
  if (source !== undefined) return VALUES[source] === live;
  const members = (live ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(wanted as object).every(([key, value]) => holds(value, members[key]));
}
