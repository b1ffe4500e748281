import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { PlanDocument, Rehearsal, RehearsalStep } from '../../src/core/plan-document.ts';
import { type RehearseFlags, rehearse } from '../../src/features/rehearse/command.ts';
import { readingOnly } from '../../src/features/rehearse/fleet.ts';
import { withDigest } from '../../src/plan/document.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed, SEED } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { FOR_KEY, take, withKey } from '../snapshot/taking.ts';

type Options = NonNullable<Parameters<Stage['run']>[1]>;

/** Saves a plan to plan.json. */
async function save(stage: Stage, flags: Partial<RehearseFlags> = {}): Promise<PlanDocument> {
  const out = join(stage.folder, 'plan.json');
  await stage.run((to) => plan({ dir: stage.folder, ...flags, format: 'json', out }, to));
  return JSON.parse(await stage.read('plan.json'));
}

/**
 * Rehearses, and holds what every rehearsal has to keep to: nothing is written on the platform, what it holds is as
 * it was, and nothing is left in the folder of temporary files.
 */
async function tryOut(
  stage: Stage,
  file: string | undefined,
  options: Options = {},
  flags: Partial<RehearseFlags> = {},
) {
  const [before, writes] = [stage.sim.dump(), stage.writes().length];
  const given = file === undefined ? undefined : join(stage.folder, file);
  const common = { dir: stage.folder, chaosSeed: 'test', format: 'json' as const };
  const said = await stage.run((to) => rehearse(given, { ...common, ...flags }, to), options);
  expect(stage.writes().slice(writes)).toEqual([]);
  expect(stage.sim.dump()).toEqual(before);
  expect(leftovers()).toEqual([]);
  return said;
}

function leftovers(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) =>
    name.startsWith(`callsheet-rehearsal-${process.pid}-`),
  );
}

async function verdictOf(...given: Parameters<typeof tryOut>): Promise<Rehearsal> {
  const { out, err } = await tryOut(...given);
  const { rehearsal } = JSON.parse(out) as PlanDocument;
  if (rehearsal === undefined) throw new Error(`no verdict: ${err}`);
  return rehearsal;
}

const outcomes = ({ steps }: Rehearsal) => steps.map(({ step, outcome }) => `${step} ${outcome}`);
const stepOf = ({ steps }: Rehearsal, wanted: RehearsalStep['step']) =>
  steps.find(({ step }) => step === wanted);
const whatDiffers = ({ differences }: Rehearsal) =>
  differences.map(({ address, name, path }) => `${address ?? name} ${path ?? 'as a whole'}`).sort();

const ALL_HELD = ['copy', 'apply', 'again', 'failure', 'resume', 'rollback', 'return'].map(
  (step) => `${step} held`,
);

/** Changes of two agents and a policy: half of the writes come through, and all of it can be undone. */
async function changeThree(stage: Stage): Promise<void> {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit(
    'agents.yaml',
    'agent_type: outbound',
    'agent_type: outbound\n    language: es-US',
  );
  await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
}

describe('a good plan', () => {
  staged('passes every step, and the verdict is kept in the plan file', async (stage) => {
    await changeThree(stage);
    const made = await save(stage);
    const verdict = await verdictOf(stage, 'plan.json');
    expect(verdict.verdict).toBe('passed');
    expect(outcomes(verdict)).toEqual(ALL_HELD);
    expect(stepOf(verdict, 'failure')?.message).toBe(
      'from write 2 of 3 on the platform answered 500: 1 done, 2 failed',
    );
    expect(verdict.copied).toMatchObject({ agent: 2, retry_policy: 1, knowledge_source: 2 });
    expect(verdict.assumptions).toContain('retry_policy.list');
    const { rehearsal, ...kept } = JSON.parse(await stage.read('plan.json'));
    expect(kept).toEqual(made);
    expect(rehearsal).toEqual(verdict);
  });

  longStaged('is applied with its verdict on top', async (stage) => {
    await changeThree(stage);
    await save(stage);
    await tryOut(stage, 'plan.json');
    const file = join(stage.folder, 'plan.json');
    const { out } = await stage.run((to) => apply(file, { dir: stage.folder, format: 'text' }, to));
    expect(out).toMatch(
      /^Rehearsal of \S+: every step passed\.\n {2}✓ copy {2}a copy of the fleet/,
    );
    expect(out).toContain('It tests the plan against the simulator');
  });

  longStaged('is the one made now, where no file is given', async (stage) => {
    await changeThree(stage);
    const verdict = await verdictOf(
      stage,
      undefined,
      {},
      { out: join(stage.folder, 'tried.json') },
    );
    expect(outcomes(verdict)).toEqual(ALL_HELD);
    const kept = JSON.parse(await stage.read('tried.json'));
    expect(kept.digest).toBe((await save(stage)).digest);
    expect(kept.rehearsal).toEqual(verdict);
  });

  staged('may hold nothing but secrets that are sent again', async (stage) => {
    await stage.apply();
    const resendSecrets = ['agent.desk'];
    await save(stage, { resendSecrets });
    const flags = { env: { SMS_TOKEN: 'another' }, exit: 3 };
    for (const verdict of [
      await verdictOf(stage, 'plan.json', { exit: 3 }),
      await verdictOf(stage, undefined, flags, { resendSecrets }),
    ]) {
      expect(outcomes(verdict).slice(0, 6)).toEqual(ALL_HELD.slice(0, 6));
      expect(whatDiffers(verdict)).toEqual(['agent.desk integrations.smsProvider.auth_token']);
    }
  });

  staged('of nothing that is there yet makes everything, also under faults', async (stage) => {
    const fault = ['429', '503', 'lost'];
    const verdict = await verdictOf(stage, undefined, { exit: 3 }, { fault, chaosSeed: 'seven' });
    expect(outcomes(verdict).slice(0, 6)).toEqual(ALL_HELD.slice(0, 6));
    // Neither has an endpoint that deletes.
    expect(whatDiffers(verdict)).toEqual([
      'custom_voice.harbor as a whole',
      'knowledge_source.clinic.faq as a whole',
      'knowledge_source.clinic.prices as a whole',
    ]);
    expect(verdict.faults).toEqual([...fault, 'drawn from the seed seven']);
  });
});

describe('a plan that would be refused', () => {
  staged('by a lock that was placed since it was made', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
    await save(stage);
    const [organization] = stage.sim.organizations;
    stage.sim.lock('organization', organization?.id ?? '', 'llm.alpha-4o');
    const verdict = await verdictOf(stage, 'plan.json', { exit: 4 });
    expect(verdict.verdict).toBe('refused');
    expect(outcomes(verdict)).toEqual(['copy refused']);
    expect(stepOf(verdict, 'copy')?.details).toEqual([
      expect.stringMatching(/^agent\.desk: model needs the feature llm\.alpha-4o, which is locked/),
    ]);
  });

  longStaged('by protection', async (stage) => {
    await stage.edit('agents.yaml', '  recall:\n', '  recall:\n    lifecycle: { protect: true }\n');
    await stage.apply();
    const text = await stage.read('agents.yaml');
    await stage.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
    const verdict = await verdictOf(stage, undefined, { exit: 4 }, { allowDelete: true });
    expect(stepOf(verdict, 'copy')?.details).toEqual([expect.stringMatching(/^agent\.recall: /)]);
  });
});

const [HARBOR] = SEED.organizations ?? [];
const SCOPED = { client_id: 'harbor-only', client_secret: 'harbor-only-secret' };

const LEVELS = [
  ['organization', HARBOR?.id ?? ''],
  ['reseller', 'b5a4f0ad-4f4c-4b57-9d2b-5c4fbd0a3f10'],
] as const;
for (const [level, id] of longRows(LEVELS, (_, at) => at === 0)) {
  staged(
    `a key that is limited to the ${level} is limited on the copy, too`,
    async (stage) => {
      const env = {
        CALLSHEET_CLIENT_ID: SCOPED.client_id,
        CALLSHEET_CLIENT_SECRET: SCOPED.client_secret,
      };
      const made = await stage.run(
        (to) => plan({ dir: stage.folder, format: 'json', skipRefused: true }, to),
        { env },
      );
      const { summary } = JSON.parse(made.out) as PlanDocument;
      expect(summary.refused).toBeGreaterThan(0);
      const verdict = await verdictOf(stage, undefined, { env, exit: 3 }, { skipRefused: true });
      expect(outcomes(verdict).slice(0, 5)).toEqual(ALL_HELD.slice(0, 5));
    },
    {
      seed: {
        ...SEED,
        keys: [{ ...SCOPED, scope: { level, id } }],
        resellers: [{ id: 'b5a4f0ad-4f4c-4b57-9d2b-5c4fbd0a3f10', name: 'Tidewater' }],
        organizations: (SEED.organizations ?? []).map((one) => ({
          ...one,
          reseller_id: 'b5a4f0ad-4f4c-4b57-9d2b-5c4fbd0a3f10',
        })),
      },
    },
  );
}

describe('a plan that cannot be undone entirely', () => {
  staged('as it writes another secret', async (stage) => {
    await stage.apply();
    const env = { SMS_TOKEN: 'another-token-7d1e' };
    const verdict = await verdictOf(stage, undefined, { exit: 3, env });
    expect(verdict.verdict).toBe('partial');
    expect(outcomes(verdict).at(-1)).toBe('return partial');
    expect(verdict.differences).toEqual([
      expect.objectContaining({
        address: 'agent.desk',
        path: 'integrations.smsProvider.auth_token',
        before: '(secret)',
        after: '(secret)',
        secret: true,
      }),
    ]);
  });

  longStaged('as it deletes an agent whose secrets nobody can read', async (stage) => {
    await stage.apply();
    const text = await stage.read('agents.yaml');
    await stage.write('agents.yaml', `agents:\n${text.slice(text.indexOf('  recall:'))}`);
    const verdict = await verdictOf(stage, undefined, { exit: 3 }, { allowDelete: true });
    expect(outcomes(verdict).slice(0, 6)).toEqual(ALL_HELD.slice(0, 6));
    expect(whatDiffers(verdict)).toEqual(['agent.desk integrations.smsProvider.auth_token']);
  });

  staged('as it makes a voice, which has no endpoint that deletes it', async (stage) => {
    await stage.apply();
    await stage.edit(
      'resources.yaml',
      'harbor: { name: Harbor,',
      'bay: { name: Bay, clip: voices/harbor.wav, language: en, consent: true }\n  harbor: { name: Harbor,',
    );
    const verdict = await verdictOf(stage, undefined, { exit: 3 });
    expect(whatDiffers(verdict)).toEqual(['custom_voice.bay as a whole']);
  });
});

describe('nothing to carry out', () => {
  staged('is no rehearsal at all', async (stage) => {
    await stage.apply();
    const verdict = await verdictOf(stage, undefined);
    expect(verdict).toMatchObject({ verdict: 'empty', steps: [] });
  });

  longStaged('where all that there is to do waits for a permission', async (stage) => {
    await stage.apply();
    const text = await stage.read('agents.yaml');
    await stage.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
    expect((await verdictOf(stage, undefined)).verdict).toBe('empty');
  });
});

describe('what cannot be rehearsed says why', () => {
  const rows: readonly (readonly [
    string,
    (stage: Stage) => unknown,
    number,
    RegExp,
    Options['env']?,
  ])[] = [
    [
      'a resource was edited since the plan',
      (stage) => stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'By hand.' }),
      5,
      /^Error: agent\.desk was changed on the platform since the plan: greeting_message\nNothing was rehearsed/m,
    ],
    [
      'the configuration changed since the plan',
      (stage) => stage.edit('agents.yaml', 'name: Recall', 'name: Recall II'),
      5,
      /\(agent\.recall\) was changed in the configuration since the plan/,
    ],
    [
      'the plan file was cut off',
      async (stage) => stage.write('plan.json', (await stage.read('plan.json')).slice(0, 400)),
      1,
      /is not a plan: it is not JSON/,
    ],
    [
      'the plan file was changed by hand',
      (stage) => stage.edit('plan.json', '"accept_conflicts": false', '"accept_conflicts": true'),
      5,
      /its digest does not match/,
    ],
    [
      'a verdict was written into it that is none',
      (stage) =>
        stage.edit('plan.json', '"format"', '"rehearsal": { "verdict": "passed" }, "format"'),
      1,
      /is not a plan that callsheet wrote/,
    ],
    [
      'the plan is for another platform',
      async (stage) => {
        const { digest: _, ...made } = JSON.parse(await stage.read('plan.json'));
        const platform = { ...made.platform, account_id: 'another' };
        const other = { ...made, platform };
        await stage.write('plan.json', JSON.stringify(withDigest(other)));
      },
      5,
      /the plan is for account another/,
    ],
    [
      'the platform cannot be reached',
      () => undefined,
      1,
      /nothing listens at 127\.0\.0\.1:9/,
      { CALLSHEET_BASE_URL: 'http://127.0.0.1:9' },
    ],
  ];
  // What is wrong with the file itself is tried with apply, too.
  const FILES = [
    'the plan file was cut off',
    'the plan file was changed by hand',
    'the plan is for another platform',
  ];
  const short = longRows(rows, ([what]) => !FILES.includes(what));
  for (const [what, happens, exit, message, env = {}] of short) {
    staged(what, async (stage) => {
      await changeThree(stage);
      await save(stage);
      await happens(stage);
      const before = await stage.read('plan.json');
      const { out, err } = await tryOut(stage, 'plan.json', { exit, env });
      expect(err).toMatch(message);
      expect(out).toBe('');
      expect(await stage.read('plan.json')).toBe(before);
    });
  }

  staged(
    'a fault that there is not, and flags that were settled when it was planned',
    async (stage) => {
      await stage.apply();
      await save(stage);
      const fault = await tryOut(
        stage,
        'plan.json',
        { exit: 1 },
        { fault: ['{ operation: fly }'] },
      );
      expect(fault.err).toContain('there is no operation fly');
      const flag = await tryOut(stage, 'plan.json', { exit: 1 }, { allowDelete: true });
      expect(flag.err).toContain('--allow-delete cannot be used with a plan file');
    },
  );
});

describe('a fleet from a snapshot', () => {
  staged('is rehearsed on without asking the platform', async (stage) => {
    await changeThree(stage);
    await save(stage);
    const { file } = await take(stage, 'then.snapshot', FOR_KEY);
    const flags = { ...(await withKey(stage)), from: file };
    const asked = stage.sim.requests.length;
    const verdict = await verdictOf(stage, 'plan.json', {}, flags);
    expect(outcomes(verdict)).toEqual(ALL_HELD);
    expect(verdict.source).toMatchObject({ type: 'snapshot', file });
    const again = await verdictOf(stage, undefined, {}, flags);
    expect(again.digest).toBe(verdict.digest);
    expect(stage.sim.requests.slice(asked)).toEqual([]);
  });

  staged('that is not what the plan was made from proves nothing', async (stage) => {
    await changeThree(stage);
    const { file } = await take(stage, 'then.snapshot', FOR_KEY);
    stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'Hello' });
    await save(stage, { acceptConflicts: true });
    const verdict = await verdictOf(
      stage,
      'plan.json',
      { exit: 3 },
      { ...(await withKey(stage)), from: file },
    );
    expect(outcomes(verdict)).toEqual(['copy failed']);
  });

  staged('gives no plan that could be applied', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const flags = { from: file, out: join(stage.folder, 'x.json') };
    const { err } = await tryOut(stage, undefined, { exit: 1 }, flags);
    expect(err).toContain('--out needs a plan of the platform');
  });
});

staged('an interrupt ends it, and takes the folder of its state away', async (stage) => {
  await changeThree(stage);
  const stop = new AbortController();
  const watch = setInterval(() => leftovers().length > 0 && stop.abort(), 1);
  try {
    const { err } = await tryOut(stage, undefined, { exit: 130, stop: stop.signal });
    expect(err).toContain('interrupted; nothing was written');
  } finally {
    clearInterval(watch);
  }
});

staged('a write to the platform is stopped on its way, whoever sends it', async (stage) => {
  const sent: string[] = [];
  const wire = readingOnly({
    send: async ({ method }) => {
      sent.push(method);
      throw new Error('sent');
    },
    close: async () => {},
  });
  const url = stage.sim.url;
  const request = { url, headers: {}, attempt: 1 };
  await expect(wire.send({ ...request, method: 'PATCH' })).rejects.toThrow(/may not send PATCH/);
  await expect(wire.send({ ...request, method: 'GET' })).rejects.toThrow('sent');
  expect(sent).toEqual(['GET']);
});
