import { describe, expect } from 'vitest';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { agentId, commit, commitAll, git, pulled } from './stage.ts';

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
