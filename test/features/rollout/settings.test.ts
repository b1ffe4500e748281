// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is text here.
import { describe, expect, test } from 'vitest';
import {
  getRollouts,
  MEASURES,
  type RolloutSettings,
} from '../../../src/features/rollout/record.ts';
import settings from '../../../src/features/rollout/settings.schema.json' with { type: 'json' };
import { BAY, broken, type Files, load, loadGood, MAIN } from '../../stack/stack-folder.ts';

const AT = 'callsheet.yaml: rollouts.careful';

/** Ten agents: one without rows, four of a CSV file, and five of a map that has no region. */
const FLEET: Files = {
  'agents.yaml': `agents:
  desk: { name: Desk, organization: bay }
  clinic:
    for_each: { $file: clinics.csv }
    key: \${each.slug}
    name: \${each.name}
    organization: \${each.organization}
  ward:
    for_each: { one: { floor: { wing: left } }, two: { floor: { wing: right } }, three: {}, four: {}, five: {} }
    name: Ward \${each.key}
retry_policies: { gentle: { name: Gentle } }
`,
  'clinics.csv':
    'slug,name,organization,region,tier\n' +
    'c1,C1,harbor,west,1\nc2,C2,bay,west,2.0\nc10,C10,bay,east,\nc11,C11,harbor,south,1\n',
};
const CLINICS = ['c1', 'c2', 'c10', 'c11'].map((key) => `agent.clinic["${key}"]`);
const WARDS = ['five', 'four', 'one', 'three', 'two'].map((key) => `agent.ward["${key}"]`);
const [C1, C2, C10, C11] = CLINICS as [string, string, string, string];

/** A stack whose only rollout has these members, on one line: line 4, from column 23 on. */
function careful(members: string): Files {
  return { ...FLEET, 'callsheet.yaml': `${MAIN}rollouts: { careful: { ${members} } }\n` };
}

async function read(members: string): Promise<RolloutSettings> {
  return getRollouts(await loadGood(careful(members)))[0] as RolloutSettings;
}

const RESOLVED = { name: 'resolved', margin: 5, better: 'higher' };

test('a rollout with nothing given selects every agent, and has all defaults', async () => {
  expect(await read('')).toEqual({
    name: 'careful',
    agents: [...CLINICS, 'agent.desk', ...WARDS],
    steps: [{ percent: 20 }, { percent: 50 }, { percent: 100 }],
    first: 'spread',
    judge: { measures: [RESOLVED], minCalls: 200, minDays: 3, baselineWeeks: 8 },
    guardRails: { errorWords: ['error', 'failed'], silence: 30 },
    onWorse: 'rollback',
    overdueAfter: 7 * 86_400_000,
    position: { file: 'callsheet.yaml', line: 4, column: 13 },
  });
  expect(getRollouts(await loadGood(FLEET))).toEqual([]);
});

test('everything can be given', async () => {
  const rollout = await read(`steps: [1 agent, 2 agents, 50%, 62.5 %, 100%],
    first: volume, on_worse: ask, overdue_after: 36h,
    judge: {
      measures: { errors: { better: higher, margin: 0.5 }, duration: {}, resolved: {} },
      min_calls: 50, min_days: 7, baseline_weeks: 2 },
    guard_rails: { errors: 5, error_words: timeout, silence: 10 }`);
  const errors = { name: 'errors', margin: 0.5, better: 'higher' };
  // In the order in which all measures are shown, whatever the order of the file.
  const measures = [RESOLVED, { name: 'duration', margin: 20, better: 'lower' }, errors];
  expect(rollout).toMatchObject({
    steps: [{ agents: 1 }, { agents: 2 }, { percent: 50 }, { percent: 62.5 }, { percent: 100 }],
    first: 'volume',
    judge: { measures, minCalls: 50, minDays: 7, baselineWeeks: 2 },
    guardRails: { errors: 5, errorWords: ['timeout'], silence: 10 },
    onWorse: 'ask',
    overdueAfter: 36 * 3_600_000,
  });
});

test('the schema has the measures that the engine knows', () => {
  const { judge } = settings.rollouts.schema.additionalProperties.properties;
  expect(Object.keys(judge.properties.measures.properties)).toEqual(MEASURES);
});

describe('select', () => {
  test.each<[string, readonly string[]]>([
    ['{ targets: agent.clinic }', CLINICS],
    ['{ targets: [agent.d*, \'agent.clinic["c10"]\'] }', [C10, 'agent.desk']],
    ['{ keys: c2 }', [C2]],
    ['{ keys: [one, c11] }', [C11, 'agent.ward["one"]']],
    ['{ organizations: bay }', [C2, C10, 'agent.desk']],
    [`{ organizations: ${BAY} }`, [C2, C10, 'agent.desk']],
    ['{ labels: { region: west } }', [C1, C2]],
    ['{ labels: { region: [west, east] } }', [C1, C2, C10]],
    ['{ labels: { tier: 1 } }', [C1, C11]],
    ['{ labels: { tier: 2 } }', [C2]],
    ['{ labels: { key: one } }', ['agent.ward["one"]']],
    ['{ labels: { floor.wing: [left, right] } }', ['agent.ward["one"]', 'agent.ward["two"]']],
    ['{ labels: { region: west, tier: 1 } }', [C1]],
    ['{ targets: agent.clinic, organizations: [harbor, bay], labels: { region: south } }', [C11]],
    ['{ targets: [agent.clinic, agent.desk], organizations: bay, keys: [c1, c2] }', [C2]],
  ])('%s', async (select, agents) => {
    expect((await read(`steps: [100%], select: ${select}`)).agents).toEqual(agents);
  });
});

/** In a row: members with a mark where the one diagnostic points, what it says (` .` is the rollout), part of a hint. */
function wrong(table: string): void {
  broken(
    Array.from(table.matchAll(/\S.*/g), ([row]) => {
      const [marked = '', says = '', hint] = row.split(' → ');
      const [before = '', after] = marked.split('¦');
      const column = 'rollouts: { careful: { '.length + before.length + 1;
      return {
        title: marked,
        files: careful(`${before}${after}`),
        says: [`callsheet.yaml:4:${column} ${says.replace(' .', ` ${AT}.`)}`],
        ...(hint === undefined ? {} : { hint }),
      };
    }),
  );
}

const STEP = 'must be a number of agents or a share of them';
const OTHER = BAY.replace('9', '8');

describe('refused', () => {
  wrong(`
    steps: [20%, ¦10%, 100%] → rollout/steps .steps[1] is 10%, and an earlier step is 20% → a share is rounded up
    steps: [2 agents, 50%, ¦2 agents, 100%] → rollout/steps .steps[2] is 2 agents, and an earlier step is 2 agents
    steps: [10%, ¦50%] → rollout/steps .steps[1] is 50%, and the last step must be 100% → the last 100%
    steps: [100%, ¦5 agents] → rollout/steps .steps[1] is 5 agents, and the last step must be 100%
    steps: [3 agents, ¦10%, 100%] → rollout/steps .steps[1] is 1 of 10 agents, and an earlier step is 3 of 10 agents
    steps: [10%, 11 agents, ¦100%] → rollout/steps .steps[2] is 10 of 10 agents, and an earlier step is 10 of 10 agents
    select: { keys: c1 }, steps: [10%, ¦100%] → rollout/steps .steps[1] is 1 of 1 agent, and an earlier step is 1 of 1 agent
    steps: ¦100% → schema/type .steps must be a list, not text
    steps: [¦a few, 100%] → schema/format .steps[0] ${STEP}: it must be written as 3 agents or as 10% → For example 3 agents or 10%
    steps: [¦0%, 100%] → schema/format .steps[0] ${STEP}: a share is more than 0% and at most 100%
    steps: [¦1.5 agents, 100%] → schema/format .steps[0] ${STEP}: agents are counted in whole numbers from 1
    select: { targets: [agent.desk, ¦agent.clinc] } → rollout/selection .select.targets[1] names agent.clinc, which matches no agent of the stack → There are agent.clinic["c1"], agent.clinic["c2"]
    select: { targets: ¦agent.dsek } → rollout/selection .select.targets names agent.dsek, which matches no agent of the stack → Did you mean agent.desk?
    select: { keys: [c1, ¦thre] } → rollout/selection .select.keys[1] names thre, which is the key of no agent → Did you mean three?
    select: { organizations: ¦harbr } → organization/unknown .select.organizations is "harbr", which is not an organization of the stack
    select: { organizations: ¦${OTHER} } → rollout/selection .select.organizations names ${OTHER}, which has no agent in this stack
    select: { labels: { ¦regoin: west } } → rollout/column .select.labels.regoin is no column of the rows of any agent → Did you mean region?
    select: { labels: { region: [west, ¦soth] } } → rollout/selection .select.labels.region[1] names soth, which no row of an agent has there → Did you mean south?
    ¦select: { keys: [c1, c2], labels: { region: east, tier: 1 } } → rollout/selection .select selects no agent: keys matches 2, labels.region matches 1, labels.tier matches 2, and no agent matches all of them → every member of select
    select: { ¦target: agent } → schema/unknown-key .select has no field "target"
    judge: { measures: ¦{} } → schema/limit .judge.measures must not be empty
    overdue_after: ¦0d → schema/format .overdue_after must be a length of time: it must be more than 0`);

  broken([
    {
      title: 'a selection of a stack without agents',
      files: { ...careful(''), 'agents.yaml': '' },
      says: [
        `callsheet.yaml:4:13 rollout/selection ${AT} selects no agent, because the stack has none`,
      ],
    },
    {
      title: 'a rollout whose name is none',
      files: { ...FLEET, 'callsheet.yaml': `${MAIN}rollouts: { "b c": {} }\n` },
      says: [
        'callsheet.yaml:4:13 rollout/name callsheet.yaml: rollouts has "b c", which is not a valid name for a rollout',
      ],
    },
  ]);

  test('quotes no column that fills in a secret', async () => {
    const { diagnostics } = await load({
      ...careful('select: { labels: { token: canary-of-a-secret } }'),
      'agents.yaml': `agents:
  clinic:
    for_each: [{ name: a, token: canary-of-a-token }]
    key: \${each.name}
    name: \${each.name}
    extensions:
      tools: [{ type: webhook, name: crm, condition: during_call, method: GET, url: https://crm.test/, headers: [{ key: X-Key, value: "\${each.token}" }] }]
`,
    });
    expect(diagnostics.map(({ rule }) => rule)).toContain('rollout/selection');
    expect(JSON.stringify(diagnostics)).not.toContain('canary');
  });
});

test('a rollout says at which pace, not what: it is no part of the digest', async () => {
  const [bare, rolled] = await Promise.all([loadGood(FLEET), loadGood(careful('steps: [100%]'))]);
  expect(rolled.digest).toBe(bare.digest);
});

describe('an environment', () => {
  const files: Files = {
    ...FLEET,
    'callsheet.yaml': `${MAIN}variables: { share: { default: "50" } }
rollouts:
  careful:
    select: { targets: agent.clinic, labels: { region: west } }
    steps: ["\${var.share}%", 100%]
    judge: { measures: { duration: {}, resolved: {} } }
environments:
  staging:
    rollouts:
      careful:
        select: { labels: { region: south } }
        steps: [100%]
        judge: { measures: { duration: { margin: 9 } }, min_calls: 5 }
      quick: { steps: [1 agent, 100%] }
  small: { rollouts: { careful: { $remove: true } } }
  broken: { rollouts: { careful: { steps: [50%] } } }
`,
  };
  const loadIn = (environment?: string) => loadGood(files, { environment });

  test('lays its rollouts over those of the stack', async () => {
    const rollouts = getRollouts(await loadIn());
    expect(rollouts).toMatchObject([
      { name: 'careful', agents: [C1, C2], steps: [{ percent: 50 }, { percent: 100 }] },
    ]);
    expect(getRollouts(await loadIn('staging'))).toMatchObject([
      {
        agents: [C11],
        steps: [{ percent: 100 }],
        judge: { measures: [RESOLVED, { name: 'duration', margin: 9 }], minCalls: 5 },
      },
      { name: 'quick', steps: [{ agents: 1 }, { percent: 100 }] },
    ]);
    expect(getRollouts(await loadIn('small'))).toEqual([]);
  });

  broken([
    {
      title: 'shows its own mistakes where they are written, once it is chosen',
      files,
      options: { environment: 'broken' },
      says: [
        `callsheet.yaml:19:44 rollout/steps ${AT}.steps[0] is 50%, and the last step must be 100%`,
      ],
    },
  ]);
});
