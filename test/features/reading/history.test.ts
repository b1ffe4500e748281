import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import schema from '../../../schemas/read.schema.json' with { type: 'json' };
import { type HistoryFlags, history } from '../../../src/features/reading/history.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';

const isDocument = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

function read(out: string) {
  const document = JSON.parse(out);
  expect(isDocument(document), JSON.stringify(isDocument.errors)).toBe(true);
  return document;
}

const desk = ({ sim }: Stage): string => agentNamed(sim).id;

type Look = { readonly flags?: Partial<HistoryFlags>; readonly exit?: number };

/** A minute later: what is live has an entry by then, if it ever gets one. */
const LATER = () => new Date(Date.now() + 60_000);

async function look(stage: Stage, { flags = {}, exit = 0 }: Look = {}) {
  return stage.run(
    (to) => history('agent.desk', { dir: stage.folder, format: 'json', limit: 50, ...flags }, to),
    { exit, now: LATER },
  );
}

const ids = ({ sim }: Stage, name?: string): readonly number[] =>
  (sim.store.history.get(agentNamed(sim, name).id) ?? []).map(({ id }) => id);

const PROMPT = 'prompts/desk.md';
const LONG = `You answer the phone.\n${'Be kind. '.repeat(20)}`;

/**
 * Five versions of the front desk: made by a run, edited by Maria, changed by another run, edited by Jo, and
 * brought back to what Maria left by a rollback with --undo-edited, but for what Jo set.
 */
async function fiveVersions(stage: Stage): Promise<readonly number[]> {
  await stage.apply();
  stage.sim.edit(desk(stage), { description: 'The big desk.' }, 'user:maria');
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.write(PROMPT, LONG);
  await stage.apply();
  stage.sim.edit(desk(stage), { language: 'es' }, 'user:jo');
  await stage.rollback({ undoEdited: true });
  return ids(stage);
}

describe('the versions of an agent', () => {
  staged('are marked with the runs of the stack that made them', async (stage) => {
    const made = await fiveVersions(stage);
    const { data, runs } = read((await look(stage)).out);
    expect(data.map(({ id }: { id: number }) => id)).toEqual([...made].reverse());
    const marked = runs.map(({ entry, purpose }: { entry: number; purpose: string }) => [
      made.indexOf(entry),
      purpose,
    ]);
    expect(marked).toEqual([
      [4, 'rollback'],
      [2, 'apply'],
      [0, 'apply'],
    ]);
    expect(runs[0].undoes).toBe(runs[1].run);
    expect(data.every((entry: object) => !('run' in entry))).toBe(true);
    const { out } = await look(stage, { flags: { format: 'text' } });
    expect(out).toContain(`  ${runs[0].run}`);
    expect(out).toContain('  user:maria');
    expect(out).toContain('5 versions of agent.desk, 3 of them made by runs of this stack.');
    const csv = (await look(stage, { flags: { format: 'csv' } })).out;
    expect(csv.split('\n')[0]).toMatch(/,run$/);
    expect(csv).toContain(`,${runs[0].run}\n`);
  });

  staged('are not marked where the receipts are gone', async (stage) => {
    await stage.apply();
    await stage.forget();
    const { out } = await stage.run((to) =>
      history(desk(stage), { dir: stage.folder, format: 'json', limit: 50 }, to),
    );
    expect(read(out).runs).toEqual([]);
  });
});
