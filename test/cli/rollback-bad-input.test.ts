import { readdir, rm, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { longRows } from '../long.ts';
import { openKeyed } from '../state/keyed.ts';

/** What is done before, the flags, and how it ends. */
type Row = {
  readonly prepare: (stage: Stage) => Promise<Partial<RollbackFlags> | undefined>;
  readonly exit: number;
  readonly says: RegExp;
};

async function twoRuns(stage: Stage): Promise<string> {
  await stage.apply();
  await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
  await stage.apply();
  return JSON.parse(await stage.read('.callsheet/state.json')).last_run;
}

const ROWS: Readonly<Record<string, Row>> = {
  'a stack that nothing was run in': {
    prepare: async () => undefined,
    exit: 1,
    says: /no recorded run changed anything/,
  },
  'an unknown run': {
    prepare: async (stage) => {
      await twoRuns(stage);
      return { run: '20200101t000000z-aaaaaa' };
    },
    exit: 1,
    says: /run 20200101t000000z-aaaaaa is not recorded.*`callsheet runs` lists the recorded runs/s,
  },
  'what is no run at all': {
    prepare: async (stage) => {
      await twoRuns(stage);
      return { run: '../state' };
    },
    exit: 1,
    says: /run \.\.\/state is not recorded/,
  },
  'a run that changed nothing': {
    prepare: async (stage) => {
      const body = { error: 'invalid_request' };
      const operation = 'createRetryPolicy';
      // Nothing was made: the first of it was refused, and all the rest waits for that or was left out.
      stage.sim.faults.add({ operation, status: 400, body });
      await stage.apply({ target: ['retry_policy'] }, { exit: 3 });
      const [run = ''] = await readdir(join(stage.folder, '.callsheet/runs'));
      return { run: run.replace('.jsonl', ''), format: 'text' };
    },
    exit: 0,
    says: /Nothing of run \S+ is left to roll back|changed nothing, so there is nothing to roll back/,
  },
  'a run whose copies are gone': {
    prepare: async (stage) => {
      const run = await twoRuns(stage);
      await rm(join(stage.folder, '.callsheet/runs', `${run}.jsonl`));
      return { run };
    },
    exit: 1,
    says: /the record of run \S+ and its copies are missing.*callsheet plan/s,
  },
  'the newest run, whose copies are gone: never the one before it': {
    prepare: async (stage) => {
      const run = await twoRuns(stage);
      await rm(join(stage.folder, '.callsheet/runs', `${run}.jsonl`));
      return undefined;
    },
    exit: 1,
    says: /the record of run \S+, the last one, and its copies are missing/,
  },
  'the newest run, whose record is damaged and looks old: never the one before it': {
    prepare: async (stage) => {
      const run = await twoRuns(stage);
      const file = `.callsheet/runs/${run}.jsonl`;
      await stage.write(file, `{${await stage.read(file)}`);
      await utimes(join(stage.folder, file), 0, 0);
      return undefined;
    },
    exit: 1,
    says: /the journal \S+ does not begin as a journal does/,
  },
  'a record without its copies': {
    prepare: async (stage) => {
      const run = await twoRuns(stage);
      const file = `.callsheet/runs/${run}.jsonl`;
      const lines = (await stage.read(file)).split('\n');
      await stage.write(file, lines.filter((line) => !line.includes('"snapshot"')).join('\n'));
      return undefined;
    },
    exit: 1,
    says: /has no copy of retry_policy\.gentle, so it cannot be undone/,
  },
  'an address that the run did not touch': {
    prepare: async (stage) => {
      await twoRuns(stage);
      return { target: ['agent.desk'] };
    },
    exit: 1,
    says: /--target agent\.desk: run \S+ did not change that address/,
  },
  'a reason that is none': {
    prepare: async (stage) => {
      await twoRuns(stage);
      return { overrideFreeze: ' ' };
    },
    exit: 1,
    says: /--override-freeze needs a reason/,
  },
};

describe('bad input: an exit code, a sentence, and nothing is written', () => {
  const ALIKE = [
    'what is no run at all',
    'a record without its copies',
    'the newest run, whose copies are gone: never the one before it',
  ];
  const short = longRows(Object.entries(ROWS), ([what]) => !ALIKE.includes(what));
  for (const [what, { prepare, exit, says }] of short)
    staged(what, async (stage) => {
      const flags = await prepare(stage);
      const since = stage.writes().length;
      const own: RollbackFlags = { dir: stage.folder, format: 'text', autoApprove: true, ...flags };
      const said = await stage.run((to) => rollback(own, to), { exit });
      expect(`${said.out}${said.err}`).toMatch(says);
      expect(stage.writes().length).toBe(since);
    });
});

staged(
  'another run holds the state: exit 6, who holds it, and nothing is written',
  async (stage) => {
    await twoRuns(stage);
    const store = openKeyed(join(stage.folder, '.callsheet/state.json'));
    const lease = await store.acquire({
      run: '20261121t101203z-7f3a19',
      command: 'apply',
      user: 'ana',
      host: hostname(),
      pid: process.pid,
      since: '2026-11-21T10:12:03.000Z',
    });
    const since = stage.writes().length;
    const flags: RollbackFlags = { dir: stage.folder, format: 'text', autoApprove: true };
    const said = await stage.run((to) => rollback(flags, to), { exit: 6 });
    await lease.release();
    await store.close();
    expect(said.err).toContain('ana');
    expect(stage.writes().length).toBe(since);
    await stage.run((to) => rollback(flags, to));
  },
);

describe('a stack whose organization vanished', () => {
  const vanish = ({ sim: { store } }: Stage) => {
    store.organizations.clear();
    store.agents.clear();
    store.emailTemplates.clear();
    store.smsTemplates.clear();
    store.voices.clear();
    store.sources.clear();
  };
  staged('nothing is written where the run changed what is gone', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    vanish(stage);
    const since = stage.writes().length;
    const said = await stage.run(
      (to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true }, to),
      { exit: 1 },
    );
    expect(said.err).toMatch(/agents of organization_id \S+ cannot be listed.*Check that id/s);
    expect(stage.writes().length).toBe(since);
  });
});
