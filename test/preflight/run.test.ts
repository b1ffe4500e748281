import { expect, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { Stage } from '../apply/stage.ts';
import { account, BAY, configure, HARBOR, liveAgent, RESELLER, withStack } from './stack.ts';

const desk = (fields: JsonObject) => ({ name: 'Desk', ...fields });
const refusedOnes = ({ verdict }: { readonly verdict: string }) => verdict === 'refused';
const operations = (stage: Stage) => stage.sim.requests.map(({ operation }) => operation ?? '');
const QUESTIONS = ['listFeatures', 'listLlmModels', 'listSttProviders'];

/** A voice that cannot be made, an agent that speaks with it, one that does not, and a policy. */
const mixed = {
  custom_voices: { one: { name: 'One', clip: 'voices/harbor.wav', consent: true } },
  retry_policies: { gentle: { name: 'Gentle', on_exhausted: 'end' } },
  agents: {
    desk: desk({ voice_settings: { voice_id: { $ref: 'custom_voice.one' } } }),
    recall: { name: 'Recall', default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
  },
};
const mixedSeed = account(['custom_voices'], 'reseller', {
  agents: [liveAgent('Desk'), liveAgent('Recall')],
});

test('a plan with refused changes exits 4, and apply writes nothing', async () => {
  await withStack(mixed, { seed: mixedSeed }, async (stage) => {
    const made = await stage.plan({}, { exit: 4 });
    expect(made.summary).toMatchObject({ refused: 2, create: 2, update: 2 });
    await stage.apply({}, { exit: 4 });
    expect(stage.writes()).toEqual([]);
  });
});

test('what depends on something refused is refused with it, and says on what', async () => {
  const scope = { level: 'organization' as const, id: HARBOR };
  const keys = [{ client_id: 'scoped', client_secret: 'scoped-secret', scope }];
  const env = { CALLSHEET_CLIENT_ID: 'scoped', CALLSHEET_CLIENT_SECRET: 'scoped-secret' };
  const seed = account([], 'account', { agents: [liveAgent('Recall')], keys });
  const { retry_policies, agents } = mixed;
  await withStack(
    { retry_policies, agents: { recall: agents.recall } },
    { seed },
    async (stage) => {
      const { changes } = await stage.plan({}, { exit: 4, env });
      expect(changes.map(({ verdict }) => verdict)).toEqual(['refused', 'refused']);
      expect(changes[1]?.reason).toContain(
        'it refers to retry_policy.gentle, which does not exist and is refused too',
      );
    },
  );
});

test('--skip-refused applies the rest, exits 0 and lists what it left out', async () => {
  await withStack(mixed, { seed: mixedSeed }, async (stage) => {
    const ledger = await stage.apply({ skipRefused: true }, { leaves: refusedOnes });
    expect(ledger.map(({ address, status, verdict }) => [address, status, verdict])).toEqual([
      ['retry_policy.gentle', 'done', undefined],
      ['agent.recall', 'done', undefined],
      ['custom_voice.one', 'not_attempted', 'refused'],
      ['agent.desk', 'not_attempted', 'refused'],
    ]);
    expect(ledger[2]?.message).toContain('locked for organization harbor at its reseller');
    // Once it is unlocked the next run does the rest.
    stage.sim.unlock('reseller', RESELLER, 'custom_voices');
    await stage.apply();
  });
});

test('a plan file keeps to what it was planned with', async () => {
  await withStack(mixed, { seed: mixedSeed }, async (stage) => {
    const planned = async (file: string, skipRefused: boolean, exit: number) => {
      const flags = { dir: stage.folder, format: 'json', out: `${stage.folder}/${file}` } as const;
      await stage.run((context) => plan({ ...flags, skipRefused }, context), { exit });
    };
    await planned('strict.json', false, 4);
    await stage.applyFile('strict.json', {}, { exit: 4 });
    expect(stage.writes()).toEqual([]);
    await planned('lenient.json', true, 0);
    await stage.applyFile('lenient.json', { skipRefused: true }, { exit: 1 });
    const file = `${stage.folder}/lenient.json`;
    const flags = { dir: stage.folder, format: 'json' } as const;
    await stage.run((context) => apply(file, flags, context));
    expect(stage.writes().map(({ operation }) => operation)).toEqual([
      'createRetryPolicy',
      'updateAgent',
    ]);
  });
});

test('a lock that is set between plan and apply fails its change alone, in words', async () => {
  const wanted = {
    agents: { desk: desk({ model: 'alpha-4o' }), recall: { name: 'Recall', language: 'multi' } },
  };
  const agents = [liveAgent('Desk'), liveAgent('Recall')];
  await withStack(wanted, { seed: account([], 'organization', { agents }) }, async (stage) => {
    const file = `${stage.folder}/plan.json`;
    const flags = { dir: stage.folder, format: 'json', out: file } as const;
    await stage.run((context) => plan(flags, context));
    stage.sim.lock('reseller', RESELLER, 'llm.alpha-4o');
    const { out } = await stage.applyFile('plan.json', {}, { exit: 3 });
    const { ledger } = JSON.parse(out);
    expect(ledger).toMatchObject([
      { address: 'agent.desk', status: 'failed' },
      { address: 'agent.recall', status: 'done' },
    ]);
    const message =
      'refused since the plan: model needs the feature llm.alpha-4o, which is locked for organization harbor at its reseller; have it unlocked there, or remove it from the configuration';
    expect(ledger[0].message).toContain(message);
    expect(ledger[0].message).toContain('answered 403');
  });
});

test('what a lock that came late refuses blocks what depends on it', async () => {
  const seed = account([], 'organization', { agents: [liveAgent('Desk')] });
  const wanted = { custom_voices: mixed.custom_voices, agents: { desk: mixed.agents.desk } };
  await withStack(wanted, { seed }, async (stage) => {
    const flags = { dir: stage.folder, format: 'json', out: `${stage.folder}/plan.json` } as const;
    await stage.run((context) => plan(flags, context));
    stage.sim.lock('organization', HARBOR, 'custom_voices');
    const { out } = await stage.applyFile('plan.json', {}, { exit: 3 });
    expect(JSON.parse(out).ledger).toMatchObject([
      {
        address: 'custom_voice.one',
        status: 'failed',
        message: expect.stringContaining(
          'locked for organization harbor at the organization itself',
        ),
      },
      { address: 'agent.desk', status: 'blocked', message: 'waits for custom_voice.one' },
    ]);
  });
});

test('a locked model is told by its lock alone, and other problems beside it', async () => {
  const wanted = desk({ model: 'alpha-4o', stt_model: 'earx' });
  const seed = account(['llm.alpha-4o'], 'organization', { agents: [liveAgent('Desk')] });
  await withStack({ agents: { desk: wanted } }, { seed }, async (stage) => {
    const { changes } = await stage.plan({}, { exit: 4 });
    expect(changes[0]?.reason).toMatch(
      /^model needs the feature llm\.alpha-4o, .*; stt_model: the platform has no .* earx/,
    );
    expect(changes[0]?.reason).not.toContain('no language model');
  });
});

test('what moves to another organization is judged by what that one locks', async () => {
  const there = { agents: { desk: desk({ model: 'alpha-4o', organization: 'bay' }) } };
  await withStack(
    { agents: { desk: desk({ model: 'alpha-4o' }) } },
    { seed: account() },
    async (stage) => {
      await stage.apply();
      stage.sim.lock('organization', BAY, 'llm.alpha-4o');
      await configure(stage, there);
      const { changes } = await stage.plan({ allowDelete: true }, { exit: 4 });
      expect(changes[0]?.reason).toContain('is locked for organization bay at the organization');
      stage.sim.unlock('organization', BAY, 'llm.alpha-4o');
      stage.sim.lock('organization', HARBOR, 'llm.alpha-4o');
      await stage.apply({ allowDelete: true });
    },
  );
});

test('a plan that changes nothing, or nothing that is governed, asks no questions', async () => {
  const agents = [liveAgent('Desk', { model: 'alpha-4o', stt_model: 'voxc' })];
  const same = { model: 'alpha-4o', stt_model: 'voxc', greeting_message: 'Hello.' };
  await withStack(
    { agents: { desk: desk(same) } },
    { seed: account([], 'organization', { agents }) },
    async (stage) => {
      await stage.plan();
      const before = operations(stage);
      await configure(stage, { agents: { desk: desk({ ...same, greeting_message: 'Hi.' }) } });
      await stage.plan();
      const all = operations(stage);
      expect(all.filter((one) => QUESTIONS.includes(one))).toEqual([]);
      expect(before).toEqual(['createToken', 'getMe', 'listAgents', 'getAgent']);
      expect(all.slice(before.length).sort()).toEqual([...before, 'listAgentHistory'].sort());
    },
  );
});

test('drift asks no questions', async () => {
  const agents = [liveAgent('Desk')];
  await withStack(
    { agents: { desk: desk({ model: 'alpha-4o' }) } },
    { seed: account([], 'organization', { agents }) },
    async (stage) => {
      const flags = { dir: stage.folder, format: 'json' } as const;
      await stage.run((context) => drift(flags, context));
      expect(operations(stage).filter((one) => QUESTIONS.includes(one))).toEqual([]);
    },
  );
});

test.each(['coded', 'page', 'method'] as const)(
  'a question that is not answered (%s) is a warning and refuses nothing',
  async (absentAnswer) => {
    const agents = ['Desk', 'Recall'].map((name) => liveAgent(name, { stt_model: 'earx' }));
    const absent = ['listFeatures', 'listLlmModels', 'listSttProviders'] as const;
    const fields = { model: 'alpha-4o', stt_model: 'voxc', tts_model: 'minx' };
    const wanted = { agents: { desk: desk(fields), recall: { name: 'Recall', ...fields } } };
    const seed = account([], 'organization', { agents });
    await withStack(
      wanted,
      { seed, dialect: { absent: [...absent], absentAnswer } },
      async (stage) => {
        const { notes: all, summary } = await stage.plan();
        expect(summary.refused).toBe(0);
        // That there is no state yet is told as well.
        const notes = all.filter(
          ({ severity, message }) => severity !== 'info' && !message.startsWith('without a state'),
        );
        expect(notes.map(({ severity, address }) => [severity, address])).toEqual(
          [0, 1, 2].map(() => ['warning', null]),
        );
        expect(notes.map(({ message }) => message).sort()).toEqual([
          expect.stringContaining(
            'Callsheet could not check the locked features of organization harbor before writing',
          ),
          expect.stringContaining('could not check whether this language model exists'),
          expect.stringContaining('could not check whether this speech-to-text provider exists'),
        ]);
        await stage.apply();
      },
    );
  },
);
