import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../../src/console/context.ts';
import { plan, showPlan } from '../../src/console/plan.ts';
import { type Stage, staged, VIEWS } from '../apply/stage.ts';

const FORMATS = ['text', 'json', 'markdown', ...VIEWS];

/** Without a platform, credentials or a stack. */
function offline(context: Context): Context {
  return { ...context, env: {} };
}

/** A page without the document in it, and that document. */
function partsOf(out: string): readonly [string, string] {
  const data = /(?<=<script type="application\/json" id="data">).*?(?=<\/script>)/s.exec(out)?.[0];
  return data === undefined ? [out, 'null'] : [out.replace(data, ''), data];
}

async function planned(stage: Stage, format: string) {
  const file = join(stage.folder, 'plan.json');
  const { out } = await stage.run((to) => plan({ dir: stage.folder, out: file, format }, to));
  return { file, out };
}

staged('a plan file is shown as plan showed it, in every format', async (stage) => {
  for (const format of FORMATS) {
    const { file, out } = await planned(stage, format);
    const before = stage.sim.requests.length;
    const shown = await stage.run((to) =>
      showPlan(file, { dir: stage.folder, format }, offline(to)),
    );
    // What a page holds for programs is in the order of the file.
    const [page, data] = partsOf(shown.out);
    expect(page).toBe(partsOf(out)[0]);
    expect(JSON.parse(data)).toEqual(JSON.parse(partsOf(out)[1]));
    expect(stage.sim.requests.length).toBe(before);
  }
});

staged('a plan file that somebody changed is refused as apply refuses it', async (stage) => {
  const { file } = await planned(stage, 'text');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('Front desk', 'Other desk'));
  const { out, err } = await stage.run(
    (to) => showPlan(file, { dir: stage.folder, format: 'text' }, offline(to)),
    { exit: 5 },
  );
  expect(out).toBe('');
  expect(err).toContain('digest');
});

staged('a file that is not there is a sentence', async (stage) => {
  const file = join(stage.folder, 'none.json');
  const { err } = await stage.run(
    (to) => showPlan(file, { dir: stage.folder, format: 'text' }, offline(to)),
    { exit: 1 },
  );
  expect(err).toContain('none.json does not exist');
});

staged('what to type next is what a shell can read', async (stage) => {
  const out = join(stage.folder, 'my plan.json');
  const flags = { dir: stage.folder, out, format: 'text' } as const;
  const { err } = await stage.run((to) => plan(flags, to));
  expect(err).toContain(`callsheet apply '${out}'`);
});

staged('a folder of plans is told how its plans are applied', async (stage) => {
  const { err } = await stage.run(
    (to) => showPlan(stage.folder, { dir: stage.folder, format: 'text' }, offline(to)),
    { exit: 1 },
  );
  expect(err).toContain(`\`callsheet apply ${stage.folder} --recursive\` carries its plans out`);
});
