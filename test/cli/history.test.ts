import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import schema from '../../schemas/read.schema.json' with { type: 'json' };
import { type HistoryFlags, history } from '../../src/cli/commands/history.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';

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

async function diff(stage: Stage, ...pair: readonly [number, number]) {
  return read((await look(stage, { flags: { diff: pair.map(String) } })).out);
}

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

describe('two versions', () => {
  const GREETING = ['Harbor Dental, how can I help?', 'Harbor Dental, good day!'];
  const fields = (document: { readonly fields: readonly Record<string, unknown>[] }) =>
    document.fields.map(({ path, before, after }) => [path, before, after]);

  staged('are compared where runs left copies of them', async (stage) => {
    const before = await stage.read(PROMPT);
    const [made = 0, maria = 0, run = 0, jo = 0, back = 0] = await fiveVersions(stage);
    const wrote = [
      ['greeting_message', ...GREETING],
      ['system_prompt', before.trimEnd(), LONG],
    ];
    const compared = await diff(stage, maria, run);
    expect(fields(compared)).toEqual(wrote);
    expect(compared.before.from).toMatch(/^before run /);
    expect(compared.after.from).toMatch(/^after run /);
    expect(fields(await diff(stage, run, jo))).toEqual([['language', 'en-US', 'es']]);
    expect(await diff(stage, maria, back)).toMatchObject({
      // What Jo set since, a rollback with --undo-edited left alone.
      fields: [{ path: 'language' }],
      after: { from: 'live now' },
    });
    const turned = wrote.map(([path, one, other]) => [path, other, one]);
    expect(fields(await diff(stage, run, back))).toEqual(
      expect.arrayContaining([...turned, ['language', 'en-US', 'es']]),
    );

    const first = await diff(stage, made, run);
    expect(first.before).toMatchObject({ partial: true });
    // What Maria described was not configured, and is not compared with what the run made.
    expect(fields(first)).toEqual([wrote[0], ['system_prompt', before.trimEnd(), LONG]]);

    const [anothers = 0] = ids(stage, 'Recall');
    const { err } = await look(stage, { flags: { diff: [`${made}`, `${anothers}`] }, exit: 1 });
    expect(err).toContain(`agent.desk has no version ${anothers} in its history`);
    for (const id of [made, maria, run, jo, back]) {
      expect(err).toMatch(new RegExp(`^  ${id}  `, 'm'));
    }
  });

  staged('are refused where an edit was left that no run found', async (stage) => {
    await stage.apply();
    stage.sim.edit(desk(stage), { description: 'One.' }, 'user:maria');
    stage.sim.edit(desk(stage), { description: 'Two.' }, 'user:jo');
    const [made, maria] = ids(stage);
    const { err } = await look(stage, { flags: { diff: [`${made}`, `${maria}`] }, exit: 1 });
    expect(err).toContain('the platform does not return the settings of a version');
    expect(err).toContain(`Callsheet has no copy of version ${maria} of agent.desk`);
    expect(err).toContain(`  ${made}  made by run`);
  });

  staged('are shown as a plan shows fields', async (stage) => {
    const [, maria = 0, run = 0] = await fiveVersions(stage);
    const { out } = await look(stage, { flags: { format: 'text', diff: [`${maria}`, `${run}`] } });
    expect(out).toMatch(/^agent.desk, version \d+ → \d+: 2 settings differ$/m);
    expect(out).toContain('~ greeting_message');
    expect(out).toMatch(/the history does not\s+record/);
  });

  longStaged('differ in a long text of which only the digest is kept', async (stage) => {
    await stage.apply();
    await stage.write(PROMPT, LONG);
    await stage.apply();
    stage.sim.edit(desk(stage), { system_prompt: 'Short.' }, 'user:maria');
    const [made = 0, run = 0, maria = 0] = ids(stage);
    const compared = await diff(stage, made, run);
    expect(compared.fields).toMatchObject([
      { path: 'system_prompt', after: null, differs: true, kept: { before: true, after: false } },
    ]);
    const text = await look(stage, { flags: { format: 'text', diff: [`${made}`, `${run}`] } });
    expect(text.out).toContain('differs; of the long text only a digest is kept');
    expect((await diff(stage, run, maria)).fields).toMatchObject([
      { path: 'system_prompt', after: 'Short.', kept: { before: false, after: true } },
    ]);
  });

  staged('are not told from what is live while its entry may still appear', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const [made, run] = ids(stage);
    stage.sim.dialect.historyLagMs = 3_600_000;
    stage.sim.advance(5000);
    stage.sim.edit(desk(stage), { description: 'Not seen yet.' }, 'user:maria');
    const { out } = await stage.run((to) =>
      history(
        'agent.desk',
        { dir: stage.folder, format: 'json', limit: 50, diff: [`${made}`, `${run}`] },
        to,
      ),
    );
    const compared = read(out);
    expect(compared.after.from).toMatch(/^after run /);
    expect(fields(compared)).toEqual([['greeting_message', ...GREETING]]);
  });

  const rows: readonly (readonly [string, readonly string[], Partial<HistoryFlags>, string])[] = [
    ['one id', ['1'], {}, '--diff takes the ids of two versions'],
    ['three', ['1', '2', '3'], {}, '--diff takes the ids of two versions'],
    ['no number', ['1', 'v2'], {}, '--diff takes the ids of two versions'],
    ['as CSV', ['1', '2'], { format: 'csv' }, '--diff is shown as text or JSON'],
    ['one that is not there', ['1', '999'], {}, 'agent.desk has no version 999 in its history'],
  ];
  for (const [what, pair, flags, says] of longRows(rows, (_, at) => at > 2)) {
    staged(`are refused: ${what}`, async (stage) => {
      await stage.apply();
      const { err, out } = await look(stage, { flags: { diff: pair, ...flags }, exit: 1 });
      expect(err).toContain(says);
      expect(out).toBe('');
    });
  }

  longStaged('are refused where no run of the agent is known', async (stage) => {
    await stage.apply();
    const [made = 0] = ids(stage);
    await stage.forget();
    const { err } = await stage.run(
      (to) =>
        history(
          desk(stage),
          { dir: stage.folder, format: 'json', limit: 50, diff: [`${made}`, `${made + 5}`] },
          to,
        ),
      { exit: 1, now: LATER },
    );
    expect(err).toContain('no run has a copy of this agent');
  });
});
