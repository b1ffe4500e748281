import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { counting, longStaged, type Stage, type StageOptions, staged } from './stage.ts';

/** Thrift (DESIGN §5): a change costs as many requests as are needed to write and prove it. */

const COUNT = 12;

/** Agents alone, so that every request is about one of them. */
async function fleet(stage: Stage, greeting: string, speed = 1): Promise<void> {
  const agents = Array.from({ length: COUNT }, (_, at) => [
    `  a${at}:`,
    `    name: Agent ${at}`,
    `    greeting_message: ${greeting}`,
    `    voice_settings: { voice_id: v1, speed: ${speed} }`,
  ]);
  await rm(join(stage.folder, 'resources.yaml'), { force: true });
  await writeFile(join(stage.folder, 'agents.yaml'), ['agents:', ...agents.flat(), ''].join('\n'));
}

const applied = ({ run, folder }: Stage) =>
  run((to) => apply(undefined, { dir: folder, format: 'json', autoApprove: true }, to));

const planned = ({ run, folder }: Stage, flags = {}) =>
  run((to) => plan({ dir: folder, format: 'json', ...flags }, to));

staged('a create is two requests, an update three, an adoption none', async (stage) => {
  const asked = counting(stage);
  await fleet(stage, 'Hello');
  await applied(stage);
  const { listAgents: lists = 0, listAgentHistory: histories = 0, ...made } = asked();
  expect(made).toEqual({ createAgent: COUNT, getAgent: COUNT });
  expect(lists).toBeLessThanOrEqual(2);
  // Whether entries have times, of one.
  expect(histories).toBeLessThanOrEqual(1);

  await planned(stage);
  expect(asked(), 'a plan right after it').toEqual({ listAgents: 1 });

  await fleet(stage, 'Good day');
  await planned(stage);
  const reading = asked();
  expect(reading.getAgent).toBe(COUNT);
  await applied(stage);
  // Both ask whether entries have times, of one.
  const once = { listAgentHistory: 2 };
  expect(asked()).toEqual({ ...reading, ...once, getAgent: 3 * COUNT, updateAgent: COUNT });

  await rm(join(stage.folder, '.callsheet'), { recursive: true });
  await applied(stage);
  expect(asked()).toEqual({ listAgents: 1, getAgent: COUNT });
  await planned(stage);
  expect(asked(), 'a plan after it').toEqual({ listAgents: 1 });
});

staged('a plan file is checked by the list before its first write', async (stage) => {
  const asked = counting(stage);
  await fleet(stage, 'Hello');
  await applied(stage);
  await fleet(stage, 'Good day');
  const file = join(stage.folder, 'saved.plan');
  await planned(stage, { out: file });
  asked();
  await stage.run((to) => apply(file, { dir: stage.folder, format: 'json' }, to));
  const { listAgents: lists = 0, ...rest } = asked();
  expect(rest).toEqual({ getAgent: 2 * COUNT, updateAgent: COUNT, listAgentHistory: 1 });
  expect(lists).toBeLessThanOrEqual(2);
});

longStaged('what goes back as it was read is looked at before and after', async (stage) => {
  const asked = counting(stage);
  await fleet(stage, 'Hello');
  await applied(stage);
  asked();
  await fleet(stage, 'Hello', 1.1);
  await applied(stage);
  expect(asked()).toMatchObject({ listAgentHistory: 2 * COUNT, updateAgent: COUNT });
});

/** A stamp that may be of a whole second, since it is told so or falls on one, is no proof of what was read back. */
const DOUBTFUL: readonly (StageOptions & { readonly name: string; readonly reads: number })[] = [
  { name: 'told in whole seconds', dialect: { timestamps: 'seconds' }, reads: COUNT },
  // No two writes have one time: those after the first are some milliseconds past noon.
  {
    name: 'that falls on one',
    platformNow: () => new Date('2026-11-22T12:00:00.000Z'),
    reads: 1,
  },
];

for (const { name, reads, ...options } of DOUBTFUL)
  staged(
    `what was just written with a stamp ${name} is read by the next plan, alone`,
    async (stage) => {
      const asked = counting(stage);
      await fleet(stage, 'Hello');
      await applied(stage);
      asked();
      await planned(stage);
      expect(asked()).toEqual({ listAgents: 1, getAgent: reads });
    },
    options,
  );
