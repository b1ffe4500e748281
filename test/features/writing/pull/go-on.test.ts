import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { plan } from '../../../../src/console/plan.ts';
import type { JsonObject } from '../../../../src/core/value.ts';
import { runTree } from '../../../../src/features/fleet/apply-tree.ts';
import { longStaged, type Stage, staged } from '../../../apply/stage.ts';
import { agentNamed } from '../../../e2e/clinic.ts';
import { agentId, agentRecord, commit, commitAll, git, pulled } from './stage.ts';

const FILE = 'prompts/desk.md';

const written = ({ sim }: Stage) => String(agentNamed(sim).record.system_prompt);

/** Somebody adds a line in the dashboard. */
async function addLive(stage: Stage): Promise<void> {
  const text = `${written(stage)}\nBy hand: parking is behind the house.`;
  stage.sim.edit(agentId(stage, 'Front desk'), { system_prompt: text });
}

async function addOwn(stage: Stage, line: string): Promise<void> {
  const text = await stage.read(FILE);
  await stage.write(FILE, `${text.trimEnd()}\n${line}\n`);
}

async function conflicts(stage: Stage) {
  const { changes } = await stage.plan({}, { exit: 'any' });
  return changes.flatMap(({ fields }) => fields.filter(({ cause }) => cause === 'conflict'));
}

describe('who goes on from what was pulled has no conflict', () => {
  staged('where Git has what was written', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    await addLive(stage);
    await pulled(stage);
    await addOwn(stage, 'On Fridays until noon.');
    expect(await conflicts(stage)).toEqual([]);
    await stage.apply();
    expect(written(stage)).toMatch(/By hand: .*\nOn Fridays until noon\.\n?$/);
  });

  staged('where it was committed as well, several times', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    await addLive(stage);
    await pulled(stage);
    commit(stage);
    await addOwn(stage, 'On Fridays until noon.');
    commit(stage);
    await addOwn(stage, 'Closed in August.');
    expect(await conflicts(stage)).toEqual([]);
    await stage.apply();
    expect(written(stage)).toContain('By hand: parking');
  });

  staged('where a run has a copy of what was written', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    await addLive(stage);
    await pulled(stage, { allowDirty: true });
    await addOwn(stage, 'On Fridays until noon.');
    expect(await conflicts(stage)).toEqual([]);
    await stage.apply();
    expect(written(stage)).toContain('By hand: parking');
  });

  staged('where the text stands in the YAML', async (stage) => {
    const block = (lines: readonly string[]) =>
      `system_prompt: |\n${lines.map((line) => `      ${line}\n`).join('')}`;
    const first = ['You answer the phone of a dentist.', 'You are kind.', 'You never give advice.'];
    await stage.edit('agents.yaml', 'system_prompt: { $file: prompts/desk.md }\n', block(first));
    await commitAll(stage);
    await stage.apply();
    await addLive(stage);
    await pulled(stage);
    await stage.edit('agents.yaml', '      You are kind.\n', '      You are kind and brief.\n');
    expect(await conflicts(stage)).toEqual([]);
    await stage.apply();
    expect(written(stage)).toMatch(/kind and brief[\s\S]*By hand/);
  });
});

describe('it stays a conflict', () => {
  staged('where nothing was pulled', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    await addLive(stage);
    await addOwn(stage, 'On Fridays until noon.');
    expect(await conflicts(stage)).toMatchObject([{ path: 'system_prompt' }]);
    await stage.apply({}, { exit: 4 });
  });

  staged('where what was pulled was taken out again', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    await addLive(stage);
    await pulled(stage);
    git(stage, 'checkout', '-q', '--', FILE);
    await addOwn(stage, 'On Fridays until noon.');
    expect(await conflicts(stage)).toHaveLength(1);
  });

  staged('where nobody has what was written', async (stage) => {
    await stage.apply();
    await addLive(stage);
    await pulled(stage, { allowDirty: true });
    await addOwn(stage, 'On Fridays until noon.');
    expect(await conflicts(stage)).toHaveLength(1);
  });
});

type Way = {
  readonly way: string;
  /** Plans, or applies, and must end with that exit code. */
  readonly takes: (stage: Stage, exit: 0 | 4) => Promise<unknown>;
  readonly isApply: boolean;
};

/** The ways to a plan, and to what it writes. */
const WAYS: readonly Way[] = [
  { way: 'plan', takes: (stage, exit) => stage.plan({}, { exit }), isApply: false },
  {
    way: 'plan --base',
    takes: (stage, exit) => stage.plan({ base: 'main~1' } as object, { exit }),
    isApply: false,
  },
  { way: 'apply', takes: (stage, exit) => stage.apply({}, { exit }), isApply: true },
  {
    way: 'plan --out, apply FILE',
    async takes(stage, exit) {
      await stage.run((to) => plan(flagsFor(stage, { out: join(stage.folder, 'plan.json') }), to), {
        exit,
      });
      await stage.applyFile('plan.json', {}, { exit });
    },
    isApply: true,
  },
  {
    way: 'apply --recursive',
    takes: (stage, exit) =>
      stage.run(
        (to) => runTree('apply', flagsFor(stage, { recursive: true, autoApprove: true }), to),
        { exit },
      ),
    isApply: true,
  },
];

const flagsFor = <F extends object>({ folder }: Stage, more: F) => ({
  dir: folder,
  format: 'json' as const,
  ...more,
});

/** A clinic under Git whose first commit is applied. */
async function begin(stage: Stage): Promise<void> {
  await stage.write('.gitignore', '.callsheet/\nplan.json\n');
  git(stage, 'init', '-q', '-b', 'main');
  commit(stage);
  await stage.apply();
}

/** Replaces parts of files and commits that; nothing is applied. */
async function edited(stage: Stage, file: string, from: string, to: string): Promise<void> {
  await stage.edit(file, from, to);
  commit(stage);
}

const GREETING = 'Harbor Dental, how can I help?';
const HAND = 'By hand.';
const AFTER = 'Good day.';
const greet = (stage: Stage, from: string, to: string) =>
  edited(stage, 'agents.yaml', `greeting_message: ${from}`, `greeting_message: ${to}`);
const byHand = (stage: Stage, fields: JsonObject = { greeting_message: HAND }) =>
  stage.sim.edit(agentId(stage, 'Front desk'), fields);
const greeting = (stage: Stage) => agentRecord(stage, 'Front desk').greeting_message ?? null;

/** Something of live that a commit since the last apply has, and the files no longer. */
type Since = {
  readonly what: string;
  readonly given: (stage: Stage) => Promise<void>;
  /** The path of the conflict that it would be. */
  readonly path: string;
  readonly shows: (stage: Stage) => unknown;
  readonly expected: unknown;
};

const TOOL = `        - type: webhook
          name: by_hand
          condition: during_call
          method: GET
          url: https://hand.example.test/a
`;

const SINCE: readonly Since[] = [
  {
    what: 'a text that was pulled and is another one now',
    async given(stage) {
      byHand(stage);
      await pulled(stage);
      commit(stage);
      await greet(stage, HAND, AFTER);
    },
    path: 'greeting_message',
    shows: greeting,
    expected: AFTER,
  },
  {
    what: 'the same, with commits of something else between them',
    async given(stage) {
      byHand(stage);
      await greet(stage, GREETING, HAND);
      await edited(stage, 'agents.yaml', 'due for a check-up', 'due for a visit');
      await greet(stage, HAND, AFTER);
      await stage.write('notes.md', 'Nothing of the stack.');
      commit(stage);
    },
    path: 'greeting_message',
    shows: greeting,
    expected: AFTER,
  },
  {
    what: 'a long text that is written anew',
    async given(stage) {
      byHand(stage, { system_prompt: `Be brief, by hand. ${'And kind. '.repeat(20)}` });
      await pulled(stage);
      commit(stage);
      await stage.write(FILE, `Another one. ${'And long. '.repeat(20)}`);
      commit(stage);
    },
    path: 'system_prompt',
    shows: (stage) => written(stage).slice(0, 12),
    expected: 'Another one.',
  },
  {
    what: 'a field that is configured no longer',
    async given(stage) {
      byHand(stage);
      await pulled(stage);
      commit(stage);
      await edited(stage, 'agents.yaml', `    greeting_message: ${HAND}\n`, '');
    },
    path: 'greeting_message',
    shows: greeting,
    expected: null,
  },
  {
    what: 'a field that was cleared and is set again',
    async given(stage) {
      byHand(stage, { greeting_message: null });
      await greet(stage, GREETING, 'null');
      await greet(stage, 'null', AFTER);
    },
    path: 'greeting_message',
    shows: greeting,
    expected: AFTER,
  },
  {
    what: 'an element of a list that is configured no longer',
    async given(stage) {
      await edited(stage, 'agents.yaml', '      mcp_servers:', `${TOOL}      mcp_servers:`);
      await stage.apply();
      const { extensions } = agentRecord(stage, 'Front desk') as {
        extensions: { tools: { name: string; url: string }[] };
      };
      const tools = extensions.tools.map((tool) =>
        tool.name === 'by_hand' ? { ...tool, url: 'https://hand.example.test/b' } : tool,
      );
      byHand(stage, { extensions: { ...extensions, tools } });
      await edited(stage, 'agents.yaml', 'hand.example.test/a', 'hand.example.test/b');
      await edited(stage, 'agents.yaml', TOOL.replace('test/a', 'test/b'), '');
    },
    path: 'extensions.tools[by_hand]',
    shows: (stage) =>
      JSON.stringify(agentRecord(stage, 'Front desk').extensions).includes('by_hand'),
    expected: false,
  },
  {
    what: 'a text of an agent that was renamed since',
    async given(stage) {
      byHand(stage);
      await greet(stage, GREETING, HAND);
      const moved = 'moved: [{ from: agent.desk, to: agent.front }]\nagents:\n  front:';
      await stage.edit('agents.yaml', 'agents:\n  desk:', moved);
      await greet(stage, HAND, AFTER);
    },
    path: 'greeting_message',
    shows: greeting,
    expected: AFTER,
  },
];

describe('a commit since the last apply has what is live: changing it is no conflict', () => {
  for (const { what, given, shows, expected, path } of SINCE)
    staged(what, async (stage) => {
      await begin(stage);
      await given(stage);
      const { changes } = await stage.plan({}, { exit: 'any' });
      const causes = changes.flatMap(({ fields }) =>
        fields.flatMap((field) => (field.path === path ? [field.cause] : [])),
      );
      expect(causes).toHaveLength(1);
      expect(causes).not.toContain('conflict');
      await stage.apply();
      expect(shows(stage)).toEqual(expected);
    });

  for (const { way, takes, isApply } of WAYS)
    staged(
      `by ${way}`,
      async (stage) => {
        await begin(stage);
        byHand(stage);
        await greet(stage, GREETING, HAND);
        await greet(stage, HAND, AFTER);
        await takes(stage, 0);
        expect(greeting(stage)).toBe(isApply ? AFTER : HAND);
      },
      { ways: ['apply'] },
    );

  for (const policy of ['keep', 'refuse'])
    staged(`guards.drift: ${policy} lets the files take back what they had`, async (stage) => {
      await stage.edit(
        'callsheet.yaml',
        'callsheet: 1',
        `callsheet: 1\nguards: { drift: ${policy} }`,
      );
      await begin(stage);
      byHand(stage);
      await greet(stage, GREETING, HAND);
      await greet(stage, HAND, GREETING);
      await stage.apply();
      expect(greeting(stage)).toBe(GREETING);
    });
});

/** What is live was not before whoever changed the files. */
const APART: readonly (Pick<Since, 'what' | 'given'> & { readonly isLong?: true })[] = [
  {
    what: 'it was never committed',
    async given(stage) {
      byHand(stage);
      await greet(stage, GREETING, AFTER);
    },
  },
  {
    what: 'it was edited once more',
    async given(stage) {
      await greet(stage, GREETING, HAND);
      byHand(stage, { greeting_message: 'By hand, again.' });
      await greet(stage, HAND, AFTER);
    },
  },
  {
    what: 'another agent has it',
    async given(stage) {
      byHand(stage);
      await edited(
        stage,
        'agents.yaml',
        'name: Recall\n',
        `name: Recall\n    greeting_message: ${HAND}\n`,
      );
      await greet(stage, GREETING, AFTER);
    },
  },
  {
    what: 'the files had it before something else was applied',
    async given(stage) {
      await greet(stage, GREETING, HAND);
      await greet(stage, HAND, 'Applied.');
      await stage.apply();
      byHand(stage);
      await greet(stage, 'Applied.', AFTER);
    },
  },
  {
    what: 'a commit that is not part of the checkout has it',
    async given(stage) {
      byHand(stage);
      git(stage, 'checkout', '-q', '-b', 'topic');
      await greet(stage, GREETING, HAND);
      git(stage, 'checkout', '-q', 'main');
      await greet(stage, GREETING, AFTER);
    },
  },
  {
    what: 'the files that had it are broken',
    isLong: true,
    async given(stage) {
      byHand(stage);
      await greet(stage, GREETING, `${HAND}\n    no_such_field: 1`);
      await greet(stage, `${HAND}\n    no_such_field: 1`, AFTER);
    },
  },
  {
    what: 'the clone is shallow and lacks the commit',
    isLong: true,
    async given(stage) {
      byHand(stage);
      await greet(stage, GREETING, HAND);
      await greet(stage, HAND, AFTER);
      git(stage, 'fetch', '-q', '--depth', '1', `file://${stage.folder}`, 'main');
      await stage.write('.git/shallow', git(stage, 'rev-parse', 'HEAD'));
    },
  },
];

describe('no such commit: it stays a conflict', () => {
  for (const { what, given, isLong } of APART)
    (isLong ? longStaged : staged)(what, async (stage) => {
      await begin(stage);
      await given(stage);
      expect(await conflicts(stage)).toMatchObject([{ path: 'greeting_message' }]);
      await stage.apply({}, { exit: 4 });
    });

  for (const { way, takes } of WAYS)
    longStaged(
      `by ${way}`,
      async (stage) => {
        await begin(stage);
        byHand(stage);
        await greet(stage, GREETING, AFTER);
        await takes(stage, 4);
        expect(greeting(stage)).toBe(HAND);
      },
      { ways: ['apply'] },
    );
});
