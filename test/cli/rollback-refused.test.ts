import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

const desk = ({ sim }: Stage) => agentNamed(sim);

/** Two runs: the first is what to go back to, with a model that may be locked afterwards. */
async function changeModelAndStatus(stage: Stage): Promise<void> {
  await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await stage.apply();
  await stage.edit('agents.yaml', 'model: alpha-4o', 'model: alpha-4.1');
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('agents.yaml', 'status: active', 'status: inactive');
  await stage.apply();
}

const lock = (stage: Stage, feature: string) => {
  for (const { locks } of stage.sim.store.organizations.values()) locks.add(feature);
};
const unlock = (stage: Stage, feature: string) => {
  for (const { locks } of stage.sim.store.organizations.values()) locks.delete(feature);
};

const inWords = (stage: Stage, exit: number) =>
  stage.run((to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true }, to), {
    exit,
  });
const flat = (text: string) => text.replace(/\s+/g, ' ');

describe('a lock refuses one leaf of a rollback', () => {
  staged('known when it is planned: the rest is updated, and it is named', async (stage) => {
    await changeModelAndStatus(stage);
    lock(stage, 'llm.alpha-4o');
    const since = stage.writes().length;
    const { out } = await inWords(stage, 3);
    expect(flat(out)).toContain(
      'how: update (status, greeting_message): the platform would refuse a revert: model needs the feature llm.alpha-4o',
    );
    expect(flat(out)).toContain('model is not undone: model needs the feature llm.alpha-4o');
    expect(flat(out)).toContain('agent.desk model wanted "alpha-4o", found "alpha-4.1"');
    const sent = stage.writes().slice(since);
    expect(sent.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'updateAgent 200',
    ]);
    expect(desk(stage).record).toMatchObject({
      model: 'alpha-4.1',
      status: 'active',
      greeting_message: 'Harbor Dental, how can I help?',
    });
  });

  staged('the next rollback goes on with it once the lock is gone', async (stage) => {
    await changeModelAndStatus(stage);
    lock(stage, 'llm.alpha-4o');
    await inWords(stage, 3);
    unlock(stage, 'llm.alpha-4o');
    const { err } = await inWords(stage, 0);
    expect(err).toContain('Continuing the interrupted rollback');
    expect(desk(stage).record.model).toBe('alpha-4o');
  });

  longStaged('the state remembers what could not be undone as the run left it', async (stage) => {
    await changeModelAndStatus(stage);
    lock(stage, 'llm.alpha-4o');
    await inWords(stage, 3);
    // What Git said before, but for the model: nothing is left to do.
    await stage.edit('agents.yaml', 'good day!', 'how can I help?');
    await stage.edit('agents.yaml', 'status: inactive', 'status: active');
    expect((await stage.plan()).changes).toEqual([]);
  });

  staged('nothing else is to be undone: nothing is sent, and it is named', async (stage) => {
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    await stage.apply();
    await stage.edit('agents.yaml', 'model: alpha-4o', 'model: alpha-4.1');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    lock(stage, 'llm.alpha-4o');
    const since = stage.writes().length;
    const lines = await stage.rollback({}, { exit: 3 });
    expect(lines).toMatchObject([
      { address: 'retry_policy.gentle', status: 'done' },
      {
        address: 'agent.desk',
        status: 'not_attempted',
        verdict: 'unsupported',
        message: expect.stringContaining('model needs the feature llm.alpha-4o, which is locked'),
      },
    ]);
    expect(
      stage
        .writes()
        .slice(since)
        .map(({ operation }) => operation),
    ).toEqual(['updateRetryPolicy']);
    const { out } = await inWords(stage, 3);
    expect(flat(out)).toContain('Not undone: the rollback leaves out 1 change');
  });
});

describe('a platform that cannot say now (503)', () => {
  /** Pauses take no time. */
  const patiently = (stage: Stage, exit: number) =>
    stage.run(
      (to) =>
        rollback(
          { dir: stage.folder, format: 'text', autoApprove: true },
          { ...to, pause: { sleep: async () => {}, random: () => 1 } },
        ),
      { exit },
    );
  const body: JsonObject = {
    error: 'temporarily_unavailable',
    error_description: 'Nothing was saved; retry',
  };

  staged('is asked again', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    stage.sim.faults.add({ operation: 'revertAgent', status: 503, body, times: 3 });
    await patiently(stage, 0);
    expect(desk(stage).record.greeting_message).toBe('Harbor Dental, how can I help?');
  });

  longStaged('for as long as is decent; then it is said, and gone on with later', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    stage.sim.faults.add({ operation: 'revertAgent', status: 503, body, times: 10_000 });
    const since = stage.writes().length;
    const { out } = await patiently(stage, 3);
    expect(flat(out)).toMatch(
      /failed agent\.desk \(update\) .*answered 503: temporarily_unavailable/,
    );
    expect(flat(out)).toContain('1 updated, 1 failed');
    // An update would not do instead: the platform could take it while it still refuses the revert.
    expect(
      stage
        .writes()
        .slice(since)
        .map(({ operation }) => operation),
    ).not.toContain('updateAgent');
    stage.sim.faults.clear();
    await patiently(stage, 0);
    expect(desk(stage).record.greeting_message).toBe('Harbor Dental, how can I help?');
  });

  staged('a version that matches already makes no entry, and is no failure', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    // The answer to the revert is lost, and it is sent again.
    stage.sim.faults.add({ operation: 'revertAgent', reset: 'after' });
    const { out } = await patiently(stage, 0);
    expect(out).toContain('Verified: 1 resource read again');
    const reverted = (stage.sim.store.history.get(desk(stage).id) ?? []).filter(
      ({ action }) => action === 'reverted',
    );
    expect(reverted).toHaveLength(1);
    expect(stage.sim.requests.filter(({ operation }) => operation === 'revertAgent').length).toBe(
      2,
    );
  });
});

describe('a refusal that nobody could foresee', () => {
  const FORBIDDEN: JsonObject = {
    error: 'forbidden',
    error_description: 'The version cannot be saved: greeting: it names a closed clinic',
  };

  staged('of the revert: an update does it, and the run says so', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    stage.sim.faults.add({ operation: 'revertAgent', status: 403, body: FORBIDDEN });
    const since = stage.writes().length;
    const [line] = await stage.rollback();
    expect(line).toMatchObject({ status: 'done' });
    expect(line?.message).toMatch(
      /the revert to history entry \d+ was refused .*it names a closed clinic/,
    );
    expect(
      stage
        .writes()
        .slice(since)
        .map(({ operation, status }) => `${operation} ${status}`),
    ).toEqual(['revertAgent 403', 'updateAgent 200']);
  });

  longStaged('of a version that went since the plan', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const body = { error: 'not_found', error_description: 'Version not found' };
    stage.sim.faults.add({ operation: 'revertAgent', status: 404, body });
    const [line] = await stage.rollback();
    expect(line?.message).toMatch(/the revert to history entry \d+ found no such version/);
    expect(desk(stage).record.greeting_message).toBe('Harbor Dental, how can I help?');
  });

  staged('of one leaf that no lock names: it is found by halves', async (stage) => {
    const theirs = '0a000000-0000-4000-8000-000000000002';
    const [organizationId = ''] = stage.sim.store.organizations.keys();
    const record = { id: theirs, name: 'Theirs' };
    const voice = { id: theirs, record, clip: Buffer.from(''), organizationId };
    stage.sim.store.voices.set(theirs, voice);
    await stage.edit('agents.yaml', '{ $ref: custom_voice.harbor }', theirs);
    await stage.apply();
    await stage.edit('agents.yaml', theirs, '{ $ref: custom_voice.harbor }');
    await stage.edit('agents.yaml', 'status: active', 'status: inactive');
    await stage.edit('agents.yaml', 'crm.example.test/patients', 'crm.example.test/v9');
    await stage.apply();
    // Somebody gave the voice to another organization: a save that names it is a 400.
    stage.sim.store.voices.set(theirs, { ...voice, organizationId: 'another' });
    const since = stage.writes().length;
    const [line] = await stage.rollback({}, { exit: 3 });
    expect(line).toMatchObject({ status: 'failed' });
    expect(line?.message).toMatch(/voice_settings.voice_id is not undone: .*another organization/);
    expect(desk(stage).record).toMatchObject({ status: 'active' });
    expect(JSON.stringify(desk(stage).record)).toContain('crm.example.test/patients');
    expect(stage.writes().length - since).toBeLessThan(7);
  });
});

describe('a run that is at work', () => {
  staged('is waited for: the run before it is not taken for the last one', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    stage.sim.faults.add({ operation: 'updateAgent', delayMs: 2000 });
    const running = stage.apply();
    await vi.waitFor(
      async () => {
        const files = await readdir(join(stage.folder, '.callsheet', 'runs'));
        expect(files.some((file) => file.endsWith('.open.jsonl'))).toBe(true);
      },
      { timeout: 20_000, interval: 20 },
    );
    const { out, err } = await inWords(stage, 6);
    expect(out).toBe('');
    expect(flat(err)).toContain('is locked by apply (run ');
    await running.catch(() => undefined);
  });
});

describe('an id that a rollback would put back is that of something that was deleted by hand', () => {
  const rows: readonly (readonly [
    noun: string,
    from: string,
    to: string,
    remove: (stage: Stage) => string,
    path: string,
  ])[] = [
    [
      'retry policy',
      'retry_policy.gentle',
      'retry_policy.fresh',
      ({ sim }) => removeNamed(sim.store.retryPolicies, ({ name }) => name === 'Gentle redial'),
      'default_retry_policy_id',
    ],
    [
      'custom voice',
      'custom_voice.harbor',
      'custom_voice.fresh',
      ({ sim }) => removeNamed(sim.store.voices, ({ record }) => record.name === 'Harbor'),
      'voice_settings.voice_id',
    ],
  ];
  for (const [noun, from, to, remove, path] of rows) {
    staged(`a ${noun}: it stays as it is and is named, and the rest is undone`, async (stage) => {
      await stage.write('more.yaml', MORE);
      await stage.apply();
      await stage.edit('agents.yaml', `$ref: ${from}`, `$ref: ${to}`);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
      const gone = remove(stage);
      const { out } = await inWords(stage, 3);
      expect(flat(out)).toContain(`${path} had the ${noun} ${gone}, which was deleted since`);
      const agents = [...stage.sim.store.agents.values()].map(({ record }) => record);
      expect(JSON.stringify(agents)).not.toContain(gone);
      expect(desk(stage).record.greeting_message).toBe('Harbor Dental, how can I help?');
    });
  }
});

const MORE = `retry_policies:
  fresh: { name: Fresh redial, on_exhausted: end }
custom_voices:
  fresh: { name: Fresh, clip: voices/harbor.wav, consent: true }
`;

/** Deletes what fits, as a person does in the dashboard. Returns its id. */
function removeNamed<T>(all: Map<string, T>, fits: (one: T) => boolean): string {
  const [id = ''] = [...all].find(([, one]) => fits(one)) ?? [];
  all.delete(id);
  return id;
}
