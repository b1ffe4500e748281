import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { rollback } from '../../../src/cli/commands/rollback.ts';
import { runs } from '../../../src/cli/commands/state.ts';
import { longStaged, staged } from '../../apply/stage.ts';
import { take } from '../../snapshot/taking.ts';
import { typedCommands } from '../../typed-commands.ts';
import {
  accountOf,
  fleetOf,
  knowledgeBasesOf,
  ownState,
  RESTORED,
  restoreOn,
  suppliesOf,
  unlockAll,
  wipe,
} from './restoring.ts';

const KEY = { CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery' };

describe('an account that lost everything', () => {
  staged('is brought back by its stack and a snapshot, and proven', async (stage) => {
    await stage.apply();
    const before = fleetOf(stage.sim);
    const { file } = await take(stage);
    wipe(stage.sim);
    const { summary, err } = await restoreOn(stage, file);
    expect([err, summary().status]).toEqual([expect.stringContaining('[8/8]'), 'done']);
    expect(fleetOf(stage.sim)).toEqual(before);
    // The secret is known: the restore wrote the value that the stack has.
    expect(summary().stack).toMatchObject({ resources: 8, secrets: 0, problem: null });
    expect((await stage.plan()).changes).toEqual([]);
  });
});

staged('a restore is listed among the runs of the stack, with its state', async (stage) => {
  await stage.apply();
  const { file } = await take(stage);
  wipe(stage.sim);
  await restoreOn(stage, file);
  await stage.apply();
  const text = { dir: stage.folder, format: 'text' } as const;
  const listed = await stage.run((to) => runs(undefined, { ...text, format: 'json' }, to));
  const document = JSON.parse(listed.out);
  expect(document.runs.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
    'import',
    'restore',
    'apply',
  ]);
  const [, restored] = document.runs;
  const there = await stage.run((to) => runs(undefined, { ...text, format: 'json' }, to), {
    env: { CALLSHEET_STATE: restored.state },
  });
  expect(JSON.parse(there.out).runs.map(({ run }: { run: string }) => run)).toEqual([restored.run]);
  expect(restored.state).toMatch(/^\.callsheet\/restore-\w+-\w+\.json$/);
  const receipt = await stage.run((to) => runs(restored.run, text, to));
  expect(receipt.out).toContain('restore');
  const { out } = await stage.run((to) => runs(undefined, text, to));
  expect(out).toContain(`  CALLSHEET_STATE=${restored.state} callsheet rollback ${restored.run}\n`);
  const undone = await stage.run((to) => rollback({ ...text, dryRun: true }, to), {
    env: { CALLSHEET_STATE: restored.state },
    exit: 'any',
  });
  expect(undone.out + undone.err).toContain(restored.run);
});

longStaged('a restore with a state elsewhere is among the runs of that state', async (stage) => {
  await stage.apply();
  const { file } = await take(stage);
  wipe(stage.sim);
  const state = ownState(stage);
  const restored = await restoreOn(stage, file, { state });
  const listed = await stage.run(
    (to) => runs(undefined, { dir: stage.folder, format: 'json' }, to),
    { env: { CALLSHEET_STATE: state } },
  );
  const document = JSON.parse(listed.out);
  expect(document.runs.map(({ run }: { run: string }) => run).sort()).toEqual(
    [...restored.summary().runs].sort(),
  );
});

/** Three agents of one base. */
const ALIKE = (greeting: string) => `bases:
  desk:
    greeting_message: ${greeting}
agents:
  one: { base: desk, name: One }
  two: { base: desk, name: Two }
  three: { base: desk, name: Three }
`;

staged('what is put back names no line of the files, which do not say it', async (stage) => {
  await stage.write('agents.yaml', ALIKE('Hello'));
  await stage.apply();
  const { file } = await take(stage);
  await stage.write('agents.yaml', ALIKE('Good day'));
  const { groups } = await stage.plan();
  expect(groups?.[0]?.fields[0]?.source).toBe('agents.yaml:3');
  await stage.apply();
  const undone = await stage.run((to) =>
    rollback({ dir: stage.folder, format: 'text', dryRun: true }, to),
  );
  const restored = await restoreOn(stage, file, { format: 'text', dryRun: true, over: true });
  for (const { out } of [undone, restored]) {
    expect(out).toContain('3 agents alike');
    expect(out).not.toContain('agents.yaml:3');
  }
});

staged('a restore ends with the command that goes on from it', async (stage) => {
  await stage.apply();
  const { file } = await take(stage);
  wipe(stage.sim);
  const text = { format: 'text', withoutSecrets: true } as const;
  const planned = await restoreOn(stage, file, { ...text, dryRun: true });
  const again = `callsheet restore ${file} --without-secrets --dir ${stage.folder}`;
  expect(typedCommands(planned.out).at(-1)).toBe(again);
  const done = await restoreOn(stage, file, text);
  const [last = ''] = typedCommands(done.out).slice(-1);
  expect(last).toMatch(/^CALLSHEET_STATE=\S+ callsheet rollback \S+ --dir /);
  const [, state = '', run = ''] =
    /^CALLSHEET_STATE=(\S+) callsheet rollback (\S+)/.exec(last) ?? [];
  const flags = { dir: stage.folder, format: 'text', autoApprove: true, run } as const;
  // No endpoint deletes voices or documents: they stay, and the rollback says so.
  await stage.run((to) => rollback(flags, to), { exit: 3, env: { CALLSHEET_STATE: state } });
  expect(stage.sim.store.agents.size).toBe(0);
});

const MANY = accountOf({ resellers: 2, organizations: 4, agents: 16 });

describe('a whole account that no stack knows', () => {
  staged(
    'comes back from a snapshot alone',
    async (stage) => {
      const { sim } = stage;
      // No template is made archived: that is told once it is there.
      const [template] = sim.store.emailTemplates.values();
      Object.assign(template ?? {}, { status: 'archived' });
      const before = fleetOf(sim);
      const { file } = await take(
        stage,
        'then.snapshot',
        { dir: '.', knowledgeBase: knowledgeBasesOf(sim) },
        KEY,
      );
      const flags = await suppliesOf(stage);
      const prompts = [...sim.store.agents.values()].map(({ record }) =>
        String(record.system_prompt),
      );
      wipe(sim);
      unlockAll(sim);
      const env = { ...KEY, ...RESTORED };
      const shown = { ...flags, format: 'text', dryRun: true } as const;
      const { out } = await restoreOn(stage, file, shown, { env });
      // As the snapshot has it: what is made is named, and is not read again.
      expect(out).toContain('+ 16 agents, new');
      expect(prompts.filter((text) => out.includes(text.slice(0, 20)))).toEqual([]);
      const { summary } = await restoreOn(stage, file, flags, { env });
      const listed = await readFile(summary().ids ?? '', 'utf8');
      for (const one of sim.store.agents.values())
        expect(listed).toMatch(
          new RegExp(`^agent,agent\\.\\w+,.*,(?!${one.id})[0-9a-f-]{36},${one.id}$`, 'm'),
        );
      expect(fleetOf(sim)).toEqual(before);
      const { status, remaining, proof, exceptions, runs } = summary();
      expect([status, remaining, proof?.resources, runs.length]).toEqual(['done', [], 46, 2]);
      expect([...new Set(exceptions.map(({ what }) => what))].sort()).toEqual(['never', 'part']);
      // Once more: it finds everything by its own state, and proves it again.
      const writes = stage.writes().length;
      const again = await restoreOn(stage, file, flags, { env });
      expect([again.summary().status, again.summary().runs]).toEqual(['done', []]);
      expect(stage.writes().length).toBe(writes);
    },
    { seed: MANY },
  );
});
