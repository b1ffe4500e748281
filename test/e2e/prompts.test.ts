import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Files, folderOf } from '../stack/stack-folder.ts';
import { temporaryFolder } from '../temporary.ts';
import { CLINIC, SEED } from './clinic.ts';
import { scenario, type World } from './harness.ts';
import { edited, PROMPTS, SHORT } from './prompts.ts';

const MAIN = readFileSync(join(CLINIC, 'callsheet.yaml'), 'utf8');

const stackOf = (prompts: readonly string[]): Files => ({
  'callsheet.yaml': MAIN,
  'agents.yaml': `agents:\n${prompts
    .map(
      (_, at) => `  p${at}:\n    name: P${at}\n    system_prompt: { $file: prompts/p${at}.md }\n`,
    )
    .join('')}`,
  ...Object.fromEntries(prompts.map((text, at) => [`prompts/p${at}.md`, Buffer.from(text)])),
});

/** The prompts that are live, in the order of the stack. */
function live({ sim }: World): readonly unknown[] {
  const records = [...sim.store.agents.values()].map(({ record }) => record);
  return records
    .toSorted((a, b) => Number(String(a.name).slice(1)) - Number(String(b.name).slice(1)))
    .map(({ system_prompt: prompt }) => prompt);
}

/** One final line break is no difference between a file and a text. */
const bare = (text: unknown) => String(text).replace(/\n$/, '');

for (const [title, prompts, isLong] of [
  ['some prompts', SHORT, false],
  ['thirty prompts', PROMPTS, true],
] as const) {
  scenario(
    `${title} are the same to the last byte through apply, drift, pull, rollback, export and restore`,
    async (world) => {
      const filed = (at: number) => readFileSync(join(world.folder, `prompts/p${at}.md`), 'utf8');
      await world.apply();
      expect(live(world).map(bare)).toEqual(prompts.map(bare));
      await world.run(['drift', '--detailed-exitcode']);
      const applied = live(world);

      for (const [at, prompt] of prompts.entries())
        await world.write(`prompts/p${at}.md`, edited(prompt, 'CHANGED'));
      await world.apply();
      expect(live(world).map(bare)).toEqual(prompts.map((one) => bare(edited(one, 'CHANGED'))));
      await world.run(['rollback', '--auto-approve']);
      expect(live(world)).toEqual(applied);
      for (const [at, prompt] of prompts.entries()) await world.write(`prompts/p${at}.md`, prompt);
      await world.run(['plan', '--detailed-exitcode']);

      for (const [at, text] of applied.entries())
        world.sim.edit(
          world.agent(`P${at}`),
          { system_prompt: edited(String(text)) },
          'user:maria',
        );
      await world.run(['pull']);
      expect(prompts.map((_, at) => filed(at))).toEqual(prompts.map((one) => edited(one)));
      await world.run(['plan', '--detailed-exitcode']);

      const out = join(temporaryFolder(), 'exported');
      await world.run(['export', '--out', out]);
      await world.run(['plan', '--dir', out, '--detailed-exitcode']);

      const before = live(world);
      const file = join(world.folder, 'all.snapshot');
      await world.run(['snapshot', 'create', '--out', file]);
      for (const id of [...world.sim.store.agents.keys()]) world.sim.store.agents.delete(id);
      await world.run(['restore', file, '--auto-approve']);
      expect(live(world)).toEqual(before);
    },
    { stack: folderOf(stackOf(prompts)), seed: SEED, isLong },
  );
}
