import { expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { recordsIn } from '../../src/simulator/index.ts';
import { prepare, SAMPLES, STRANGER, TWO, write } from '../apply/one-of-each.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { longRows } from '../long.ts';
import { take } from '../snapshot/taking.ts';

/** A way back that gives a name again which somebody else has by now is refused in its plan, and names the holder. */

const RENAMED = SAMPLES.filter(({ kind }) => {
  const { update, refusesTwins, naturalKey, schema } = kindNamed(kind);
  const isFixed = schema.properties?.name?.['x-immutable'] === true;
  return update !== undefined && refusesTwins && naturalKey.flat().includes('name') && !isFixed;
});
const WAYS = ['rollback', 'rollback --to'] as const;
const HOLDERS = ['a stranger', 'another resource of the stack'] as const;
// Back to a snapshot, what the stack made since is part of the plan, and gives its name up.
const ROWS = RENAMED.flatMap((sample) =>
  WAYS.flatMap((way) => HOLDERS.map((holder) => ({ sample, way, holder }))),
).filter(({ way, holder }) => way === 'rollback' || holder === 'a stranger');

const rename = async (stage: Stage, sample: (typeof SAMPLES)[number], isTaken: boolean) => {
  const { section } = kindNamed(sample.kind);
  const more = isTaken ? { two: sample.yaml('Own', false) } : {};
  const all = { one: sample.yaml('Renamed', false), ...more };
  await stage.write('one.yaml', `${JSON.stringify({ [section]: all })}\n`);
};

expect(RENAMED.map(({ kind }) => kind)).not.toEqual([]);

for (const { sample, way, holder } of longRows(ROWS, (_, index) => index < 6))
  staged(
    `${sample.kind}: ${way}, its name taken by ${holder}`,
    async (stage) => {
      await prepare(stage, sample);
      await stage.write(
        'other.yaml',
        'email_templates: { other: { name: Other, subject: Then } }\n',
      );
      await write(stage, sample, 'Own', false);
      await stage.apply();
      const { file } = await take(stage);
      await rename(stage, sample, false);
      await stage.write(
        'other.yaml',
        'email_templates: { other: { name: Other, subject: Since } }\n',
      );
      await stage.apply();
      const [run = ''] = [JSON.parse(await stage.read('.callsheet/state.json')).last_run];
      if (holder === 'a stranger') sample.stranger(stage, 'Own', false);
      else {
        await rename(stage, sample, true);
        await stage.apply();
      }
      const taken = recordsIn(stage.sim.store, sample.kind).find(({ name }) => name === 'Own');
      const since = stage.writes().length;
      const flags = {
        ...({ dir: stage.folder, format: 'text', autoApprove: true } as const),
        ...(way === 'rollback' ? { run } : { to: file, exclude: [] }),
      } as const;
      const roll = (exit: number, more = {}) =>
        stage.run((to) => rollback({ ...flags, ...more }, to), { exit });
      const plain = ({ out, err }: { out: string; err: string }) =>
        `${out} ${err}`.replace(/\s+/g, ' ');
      for (const format of ['text', 'json'] as const)
        expect(plain(await roll(4, { dryRun: true, format }))).toContain(String(taken?.id));
      expect(plain(await roll(4))).toContain(String(taken?.id));
      expect(stage.writes().length, 'nothing was written').toBe(since);
      await roll(3, { skipRefused: true });
      const [other] = recordsIn(stage.sim.store, 'email_template').filter(
        ({ name }) => name === 'Other',
      );
      expect(other?.subject).toBe('Then');
      if (holder === 'a stranger') expect(taken?.id).toBe(STRANGER);
    },
    { seed: TWO },
  );
