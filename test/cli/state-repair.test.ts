import { appendFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { list, mv, pull, runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { JOURNAL_HEADER } from '../../src/state/journal-text.ts';
import type { State } from '../../src/state/model.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { ADDRESSES, SEED } from '../e2e/clinic.ts';
import { formatKeyed, keyedJournal } from '../state/keyed.ts';
import { began, holder, intent, recorded, resource, stateWith } from '../state/sample.ts';
import { forgedLine, forgedState } from '../state/tamper/table.ts';
import { STATE, stateCommands, stateIn, storeOf } from './state-stage.ts';

type Repaired = {
  readonly problem: string | null;
  readonly read: string;
  readonly serial: number;
  readonly set_aside: readonly string[];
  readonly findings: readonly { readonly address: string; readonly finding: string }[];
};

async function repair(stage: Stage): Promise<Repaired> {
  return JSON.parse((await stateCommands(stage).repair()).out);
}

const foundAs = ({ findings }: Repaired) =>
  Object.fromEntries(findings.map(({ address, finding }) => [address, finding]));

const ALL_KEPT = Object.fromEntries(ADDRESSES.map((address) => [address, 'kept']));

/** Writes the journal of a run that did not finish, and that began from that state. */
async function leave(
  stage: Stage,
  run: string,
  { lineage, serial }: Pick<State, 'lineage' | 'serial'>,
  entries: readonly JournalEntry[],
  more = '',
): Promise<void> {
  const first = { ...began(run, serial, lineage), account_id: SEED.account_id ?? '' };
  const text = keyedJournal(run, [first, ...entries]);
  await stage.write(`.callsheet/runs/${run}.open.jsonl`, text + more);
}

const change = async (stage: Stage, from: string, to: string) => {
  const text = await stage.read(STATE);
  expect(text).toContain(from);
  await stage.write(STATE, text.replace(from, to));
};

const THEIRS = stateWith(
  { 'agent.theirs': resource('b1') },
  { lineage: 'theirs', last_run: 'r7', serial: 40 },
);

/** What a forger does who wants a run to write to another agent. */
function exchangeIds(state: unknown): unknown {
  const { resources, ...rest } = Object(state);
  const { 'agent.desk': desk, 'agent.recall': recall, ...others } = resources;
  const exchanged = {
    'agent.desk': { ...desk, id: recall.id },
    'agent.recall': { ...recall, id: desk.id },
  };
  return { ...rest, resources: { ...others, ...exchanged } };
}

/** What happened to a stack after two runs, and what a plan says of it. */
const DAMAGES: readonly (readonly [string, (stage: Stage) => Promise<unknown>, RegExp])[] = [
  [
    'torn: its end was never written',
    async (stage) => stage.write(STATE, (await stage.read(STATE)).slice(0, -30)),
    /was cut off: its end is missing/,
  ],
  [
    'truncated to its first half',
    async (stage) => {
      const text = await stage.read(STATE);
      await stage.write(STATE, text.slice(0, text.length / 2));
    },
    /was cut off/,
  ],
  [
    'hit by a flipped bit that leaves it JSON',
    (stage) => change(stage, 'Front desk', 'Front desj'),
    /its checksum does not match/,
  ],
  [
    'hit by a flipped bit that does not',
    (stage) => change(stage, '{"kind":"agent"', ';"kind":"agent"'),
    /is damaged: it is no longer valid JSON/,
  ],
  ['empty', (stage) => stage.write(STATE, ''), /is empty/],
  ['filled with zero bytes', (stage) => stage.write(STATE, '\0'.repeat(4096)), /zero bytes/],
  [
    'an unfinished merge',
    (stage) => change(stage, '\n', '\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\n'),
    /holds the marks of an unfinished Git merge/,
  ],
  [
    "another stack's",
    async (stage) => stage.write(STATE, await formatKeyed(THEIRS)),
    /belongs to another stack/,
  ],
  ["another program's", (stage) => stage.write(STATE, '{"serial":1}'), /is not a Callsheet state/],
  [
    'an older copy',
    async (stage) => stage.write(STATE, await stage.read('old.json')),
    /is an older copy: it is at serial 1, and run \S+ began from serial \d+/,
  ],
  [
    'written by somebody who has no key',
    async (stage) => {
      const text = forgedState(await stage.read(STATE), exchangeIds, 'kept');
      await stage.write(STATE, text);
    },
    /was changed by somebody who does not have the key: its seal does not fit/,
  ],
  [
    'without its seal',
    async (stage) => {
      const text = forgedState(await stage.read(STATE), exchangeIds, 'left out');
      await stage.write(STATE, text);
    },
    /has no seal, and CALLSHEET_FINGERPRINT_KEY is set/,
  ],
  [
    'sound, beside the journal of a run that nobody with the key began',
    async (stage) => {
      const { lineage, serial } = await stateIn(stage);
      const entries = [began('r5', serial, lineage), recorded('agent.desk', null)];
      const lines = entries.map((entry) => `${forgedLine(entry)}\n`).join('');
      await stage.write('.callsheet/runs/r5.open.jsonl', JOURNAL_HEADER + lines);
    },
    /line 1 of the journal .+ has no seal/,
  ],
  [
    'sound, beside a damaged journal',
    async (stage) => leave(stage, 'r1', await stateIn(stage), [], 'x\n'),
    /the journal .+r1\.open\.jsonl is damaged in line 3/,
  ],
  [
    'sound, beside the journal of another stack',
    (stage) => leave(stage, 'r2', THEIRS, [intent(1, 'agent.theirs')]),
    /r2\.open\.jsonl belongs to another stack/,
  ],
  [
    'sound, beside two runs that did not finish',
    async (stage) => {
      const state = await stateIn(stage);
      for (const run of ['r3', 'r4'])
        await leave(stage, run, state, [intent(1, 'agent.desk', 'a1')]);
    },
    /has 2 runs that did not finish: r3, r4/,
  ],
];

const FLAGS = { format: 'json', autoApprove: true } as const;
type Flags = typeof FLAGS & { readonly dir: string };

/** Commands that need a sound state. */
const REFUSING: readonly ((flags: Flags, context: Context) => Promise<number>)[] = [
  plan,
  (flags, context) => apply(undefined, flags, context),
  drift,
  rollback,
  (flags, context) => list([], flags, context),
  (flags, context) => mv(['agent.desk', 'agent.front'], flags, context),
  pull,
];

// One stack for all, as a repair leaves it as good as new.
staged('state repair mends every damage, and tells it apart from the others', async (stage) => {
  await stage.apply();
  await stage.write('old.json', await stage.read(STATE));
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.apply();
  const writes = stage.writes().length;
  for (const [index, [name, damage, words]] of DAMAGES.entries()) {
    await damage(stage);
    const text = await stage.read(STATE);
    for (const command of index === 0 ? REFUSING : [plan]) {
      const flags = { ...FLAGS, dir: stage.folder };
      const { err } = await stage.run((to) => command(flags, to), { exit: 1 });
      expect(err, name).toMatch(words);
      expect(err, name).toContain('callsheet state repair');
    }
    expect(await stage.read(STATE), name).toBe(text);

    const repaired = await repair(stage);
    expect(repaired.problem, name).toMatch(words);
    expect(foundAs(repaired), name).toEqual(ALL_KEPT);
    const [aside = ''] = repaired.set_aside;
    expect(await stage.read(join('.callsheet', aside)), name).toBe(text);
    const { changes, notes } = await stage.plan();
    expect([changes, notes], name).toEqual([[], []]);
    expect((await stateIn(stage)).serial, name).toBe(repaired.serial);
  }
  expect(stage.writes().length).toBe(writes);
  expect((await repair(stage)).problem).toBeNull();
});

describe('what a repair says', () => {
  staged('of a state of which nothing is left', async (stage) => {
    await stage.apply();
    await stage.forget();
    const repaired = await repair(stage);
    expect(Object.values(foundAs(repaired))).toEqual(ADDRESSES.map(() => 'found'));
    const { changes, notes } = await stage.plan();
    expect(changes).toEqual([]);
    // The platform does not return it, and nobody remembers it.
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringContaining('1 secret is set here and cannot be compared'),
    ]);
  });

  staged(
    'of resources that differ, are gone, were never made, or are no longer configured',
    async (stage) => {
      await stage.apply();
      const ids = new Map(
        Object.entries((await stateIn(stage)).resources).map(([address, { id }]) => [address, id]),
      );
      await stage.write(STATE, '');
      const [receipt = ''] = await readdir(join(stage.folder, '.callsheet/runs'));
      await rename(join(stage.folder, '.callsheet/runs', receipt), join(stage.folder, 'receipt'));
      await leave(stage, 'r9', { lineage: 'mine', serial: 2 }, [
        recorded('agent.recall', resource('gone', { name: 'Recall' })),
        recorded('agent.former', resource('gone-too')),
        recorded('sms_template.reminder', { ...resource('gone'), kind: 'sms_template' }),
        recorded('retry_policy.gentle', {
          ...resource(ids.get('retry_policy.gentle') ?? ''),
          kind: 'retry_policy',
          scope: {},
          leaves: {},
          protect: true,
        }),
      ]);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      stage.sim.store.smsTemplates.clear();
      stage.sim.store.emailTemplates.clear();

      const repaired = await repair(stage);
      expect(foundAs(repaired)).toMatchObject({
        'agent.desk': 'differs',
        'agent.former': 'lost',
        'agent.recall': 'found',
        'custom_voice.harbor': 'found',
        'email_template.reminder': 'absent',
        'retry_policy.gentle': 'kept',
        'sms_template.reminder': 'lost',
      });
      const { resources, lineage } = await stateIn(stage);
      expect(lineage).toBe('mine');
      expect(resources['agent.recall']?.id).toBe(ids.get('agent.recall'));
      expect(Object.keys(resources)).not.toContain('agent.former');
      expect(Object.keys(resources)).not.toContain('agent.desk');
      const { summary } = await stage.plan();
      expect(summary).toMatchObject({ create: 2, update: 1, adopt: 0, delete: 0 });
      await stage.apply();
    },
  );

  staged('in text, for people', async (stage) => {
    const env = { CALLSHEET_FINGERPRINT_KEY: undefined };
    await stage.apply({}, { env });
    await stage.write(STATE, (await stage.read(STATE)).slice(0, 2000));
    const { out, err } = await stateCommands(stage, 'text').repair({ env });
    expect(out).toMatch(/^The problem was: the state .+ was\s+cut\s+off/);
    expect(out).toContain('A part of the state could be read, and was used.');
    expect(out).toContain('1 journal next to it could be read');
    expect(out).toContain('8 resources kept\n  agent.desk ');
    expect(out).toMatch(/The previous files are kept next to it:\s+state\.json\.before-/);
    expect(err).toContain('`callsheet plan` shows the remaining changes.');
    const again = await stateCommands(stage, 'text').repair({ env });
    expect(again.out).toMatch(/is\s+sound\.\s+Nothing\s+was\s+written\./);
  });
});

describe('a repair', () => {
  staged('keeps what is no longer configured, so that it can still be deleted', async (stage) => {
    await stage.apply();
    const agents = await stage.read('agents.yaml');
    await stage.write('agents.yaml', agents.slice(0, agents.indexOf('  recall:')));
    await stage.write(STATE, '');
    expect(foundAs(await repair(stage))['agent.recall']).toBe('kept');
    const { changes } = await stage.plan();
    expect(changes.map(({ address, verdict }) => `${address} ${verdict}`)).toEqual([
      'agent.recall held',
    ]);
  });

  staged('keeps what has another address and another name by now', async (stage) => {
    await stage.apply();
    const { id } = (await stateIn(stage)).resources['agent.recall'] ?? {};
    await stage.edit('agents.yaml', '  recall:\n    name: Recall', '  due:\n    name: Due');
    await stage.write('moved.yaml', 'moved: [{ from: agent.recall, to: agent.due }]\n');
    await change(stage, 'Front desk', 'Front desj');
    expect(foundAs(await repair(stage))).toMatchObject({ 'agent.recall': 'kept' });
    const { changes } = await stage.plan();
    expect(changes.map((one) => [one.address, one.action, one.id])).toEqual([
      ['agent.due', 'update', id],
    ]);
    await stage.apply();
  });

  staged('certifies nothing that a damaged state says was live', async (stage) => {
    await stage.apply();
    // As `sed` over every file of the folder does, the state among them: what it remembers is what the files now want.
    await change(stage, 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    // What wrote these values was an export, or a run that is no longer kept.
    await rm(join(stage.folder, '.callsheet/runs'), { recursive: true });
    await repair(stage);
    const { changes } = await stage.plan();
    expect(changes.map(({ address, action }) => `${address} ${action}`)).toEqual([
      'agent.desk update',
    ]);
    await stage.apply();
  });

  staged('takes over what a run made before it died', async (stage) => {
    await stage.apply();
    const recall = (await stateIn(stage)).resources['agent.recall'] ?? null;
    await stateCommands(stage).rm(['agent.recall']);
    await leave(stage, 'r9', await stateIn(stage), [recorded('agent.recall', recall)]);
    await appendFile(join(stage.folder, '.callsheet/runs/r9.open.jsonl'), 'x\n');
    expect(foundAs(await repair(stage))).toEqual(ALL_KEPT);
    const flags = { dir: stage.folder, format: 'text' } as const;
    const { out } = await stage.run((to) => runs(undefined, flags, to));
    expect(out).toMatch(/outcome done.*\n[\s\S]*state repair: nothing/);
  });

  longStaged('leaves runs that can be rolled back', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    await stage.write(STATE, '');
    await repair(stage);
    const flags = { dir: stage.folder, format: 'json', autoApprove: true } as const;
    await stage.run((to) => rollback(flags, to));
    const greetings = [...stage.sim.store.agents.values()].map(
      ({ record }) => record.greeting_message,
    );
    expect(greetings).toContain('Harbor Dental, how can I help?');
  });

  staged('of several live resources of one name stops, and writes nothing', async (stage) => {
    await stage.apply();
    const [policy] = stage.sim.store.retryPolicies.values();
    stage.sim.store.retryPolicies.set('twin', { ...policy, id: 'twin' });
    await stage.forget();
    const { err } = await stateCommands(stage).repair({ exit: 1 });
    expect(err).toMatch(/retry_policy\.gentle \(\S+:\d+\): 2 live resources have this name/);
    expect((await readdir(join(stage.folder, '.callsheet'))).sort()).toEqual([
      '.gitignore',
      'state.lock',
    ]);
  });

  staged('with the credentials of another account stops, and writes nothing', async (stage) => {
    await stage.apply();
    await stage.write(STATE, (await stage.read(STATE)).slice(0, -30));
    const before = await stage.read(STATE);
    Object.assign(stage.sim.store.account, { id: 'another' });
    const { err } = await stateCommands(stage).repair({ exit: 1 });
    expect(err).toMatch(/belongs to account \S+; these credentials are for account another/);
    expect(await stage.read(STATE)).toBe(before);
  });

  staged('waits for nobody: a run under way holds the state', async (stage) => {
    await stage.apply();
    const store = storeOf(stage);
    await store.acquire(holder('r2'));
    await stage.write(STATE, '');
    const { err } = await stateCommands(stage).repair({ exit: 6 });
    expect(err).toContain('is locked by apply (run r2)');
    expect(await stage.read(STATE)).toBe('');
    await store.close();
  });
});
