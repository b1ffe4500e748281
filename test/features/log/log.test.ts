import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLog } from '../../../src/features/log/read.ts';
import { log } from '../../../src/features/log/show.ts';
import type { RecordedChange } from '../../../src/run/receipts.ts';
import type { JournalEntry } from '../../../src/state/journal.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { stateCommands } from '../../cli/state-stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { began, resource } from '../../state/sample.ts';

type Flags = Partial<Omit<Parameters<typeof log>[1], 'dir'>>;
type Options = NonNullable<Parameters<Stage['run']>[1]>;

const ask = (stage: Stage, wanted?: string, flags: Flags = {}, options: Options = {}) =>
  stage.run((to) => log(wanted, { dir: stage.folder, format: 'json', ...flags }, to), options);

async function changes(stage: Stage, wanted?: string): Promise<readonly RecordedChange[]> {
  return JSON.parse((await ask(stage, wanted)).out).data;
}

const deeds = (list: readonly RecordedChange[]) =>
  list.map(({ action, address }) => `${action} ${address}`);

/** Seconds between two runs. */
const APART = 5;

/** Seconds by which the clocks of a stage are ahead. */
const ahead = new WeakMap<Stage, number>();

/**
 * Applies some seconds after the run before: entries of a history are found by the time of a change, and of two runs that
 * come closer than a second or two nobody can tell whose one is.
 */
async function applyNext(stage: Stage, ...[flags = {}]: Parameters<Stage['apply']>): Promise<void> {
  const before = ahead.get(stage);
  const seconds = before === undefined ? 0 : before + APART;
  ahead.set(stage, seconds);
  if (before !== undefined) stage.sim.advance(APART * 1_000);
  await stage.apply(flags, { now: () => new Date(Date.now() + seconds * 1_000) });
}

const PROMPT = 'prompts/desk.md';
const longText = (word: string) => `You answer the phone.\n${`Be ${word}. `.repeat(20)}`;

describe('the log', () => {
  staged('follows what was renamed, from either name', async (stage) => {
    await applyNext(stage);
    await stateCommands(stage).mv('agent.recall', 'agent.caller');
    await stage.edit('agents.yaml', '  recall:', '  caller:');
    await stage.edit('agents.yaml', 'due for a check-up.', 'due for a visit.');
    await applyNext(stage);
    const all = ['update agent.caller', 'move agent.caller', 'create agent.recall'];
    expect(deeds(await changes(stage, 'agent.caller'))).toEqual(all);
    expect(deeds(await changes(stage, 'agent.recall'))).toEqual(all);
    const [, move] = await changes(stage, 'agent.recall');
    expect(move).toMatchObject({ moved_from: 'agent.recall', purpose: 'state mv' });
  });

  staged('has what was removed, and made again under another id', async (stage) => {
    await applyNext(stage);
    const whole = await stage.read('agents.yaml');
    await stage.write('agents.yaml', whole.slice(0, whole.indexOf('  recall:')));
    await applyNext(stage, { allowDelete: true });
    await stage.write('agents.yaml', whole);
    await applyNext(stage);
    const found = await changes(stage, 'agent.recall');
    expect(deeds(found)).toEqual(
      ['create', 'delete', 'create'].map((one) => `${one} agent.recall`),
    );
    expect(new Set(found.map(({ id }) => id)).size).toBe(2);
  });

  staged(
    'finds a long text where a later run met it or it is live, and says of any other that it is not kept',
    async (stage) => {
      await applyNext(stage);
      for (const word of ['kind', 'brief']) {
        await stage.write(PROMPT, longText(word));
        await applyNext(stage);
      }
      const [last, first] = await changes(stage, 'agent.desk.system_prompt');
      const [kind, brief] = [longText('kind').trimEnd(), longText('brief').trimEnd()];
      expect(last?.fields).toMatchObject([
        { before: expect.stringContaining(kind), after: expect.stringContaining(brief) },
      ]);
      expect(first?.fields).toMatchObject([{ after: expect.stringContaining(kind) }]);
      stage.sim.edit(agentNamed(stage.sim).id, { system_prompt: 'Theirs.' }, 'user:maria');
      const [, ours] = await changes(stage, 'agent.desk.system_prompt');
      expect(ours?.fields).toMatchObject([
        {
          before: expect.stringContaining(kind),
          after: null,
          kept: { before: true, after: false },
        },
      ]);
      const { out } = await ask(stage, 'agent.desk.system_prompt', { format: 'text' });
      expect(out).toContain('→ "You answer the phone.\\nBe kind. Be kind.');
      expect(out).toContain('→ (not kept)');
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  staged('of the whole stack finds a long text in the files', async (stage) => {
    await applyNext(stage);
    await stage.write(PROMPT, longText('kind'));
    await applyNext(stage);
    const newest = async () => (await changes(stage, undefined))[0]?.fields;
    const kind = expect.stringContaining(longText('kind').trimEnd());
    expect(await newest()).toMatchObject([{ path: 'system_prompt', after: kind }]);
    await stage.write(PROMPT, longText('brief'));
    expect(await newest()).toMatchObject([{ after: null, kept: { after: false } }]);
    await stage.write('agents.yaml', 'agents: [');
    expect(await newest()).toMatchObject([{ after: null, kept: { after: false } }]);
  });

  staged(
    'asks the platform twice for each resource that is asked for, and else nothing',
    async (stage) => {
      await applyNext(stage);
      stage.sim.edit(agentNamed(stage.sim).id, { greeting_message: 'Moin!' }, 'user:maria');
      const asked = async (wanted?: string) => {
        const before = stage.sim.requests.length;
        await ask(stage, wanted);
        const made = stage.sim.requests.slice(before).map(({ operation }) => operation);
        return made.filter((operation) => operation !== 'createToken').sort();
      };
      expect(await asked()).toEqual([]);
      expect(await asked('retry_policy')).toEqual([]);
      const each = (operation: string) => [operation, operation];
      expect(await asked('agent.desk')).toEqual(['getAgent', 'listAgentHistory']);
      expect(await asked('agent')).toEqual([...each('getAgent'), ...each('listAgentHistory')]);
      expect(deeds(await changes(stage, 'agent.desk.greeting_message'))).toEqual([
        'edit agent.desk',
        'create agent.desk',
      ]);
      // The history does not record it, so that no edit of the history can be one of it.
      expect(deeds(await changes(stage, 'agent.desk.status'))).toEqual(['create agent.desk']);
    },
  );

  staged('lists an edit once, with the run that undid it', async (stage) => {
    await applyNext(stage);
    const { id } = agentNamed(stage.sim);
    stage.sim.edit(id, { greeting_message: 'Moin!' }, 'user:maria');
    stage.sim.edit(id, { greeting_message: 'Hallo!' }, 'user:jo');
    await applyNext(stage);
    const [undoing, edit, ...rest] = await changes(stage, 'agent.desk');
    expect(deeds(rest)).toEqual(['create agent.desk']);
    expect(edit).toMatchObject({
      action: 'edit',
      by: null,
      edits: [{ actor: 'user:jo' }, { actor: 'user:maria' }],
      fields: [{ path: 'greeting_message', after: 'Hallo!' }],
      undone_by: { run: undoing?.run, purpose: 'apply' },
    });
    const { out } = await ask(stage, undefined, { format: 'text' });
    expect(out).toContain('one of user:jo, user:maria edited');
  });

  staged('tells what runs did where the platform does not answer', async (stage) => {
    await applyNext(stage);
    const nowhere = { CALLSHEET_CLIENT_ID: '', CALLSHEET_CLIENT_SECRET: '' };
    const { out } = await ask(stage, 'agent.desk', {}, { env: nowhere });
    const document = JSON.parse(out);
    expect(deeds(document.data)).toEqual(['create agent.desk']);
    expect(document.history.missing).toContain('there are no credentials for the platform');
  });

  staged('leaves out a receipt that cannot be read, and says so', async (stage) => {
    await applyNext(stage);
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await applyNext(stage);
    const folder = join(stage.folder, '.callsheet', 'runs');
    const { run: first } = (await changes(stage, 'agent.desk')).at(-1) ?? {};
    await writeFile(join(folder, `${first}.jsonl`), 'nonsense\n');
    const { out, err } = await ask(stage, 'agent.desk');
    // Whose entry it is that the lost run made, nothing tells any more.
    expect(deeds(JSON.parse(out).data)).toEqual(['update agent.desk', 'edit agent.desk']);
    expect(err).toContain(`Receipts that cannot be read are left out: ${first}`);
  });

  const BAD: readonly (readonly [wanted: string, flags: Flags, says: string, advises: string])[] = [
    ['agent.dosk', {}, 'no run of this stack ever had agent.dosk', 'Did you mean agent.desk?'],
    ['agent.dosk.greeting', {}, 'no run of this stack ever had agent.dosk', 'agent.desk'],
    ['agnet.desk', {}, 'agnet.desk begins with no kind of resource', 'Did you mean agent?'],
    ['agent.desk.greting_message', {}, 'greting_message', 'greeting_message'],
    ['agent.desk.[', {}, 'agent.desk.[ is no address with a field behind it', 'ADDRESS.FIELD'],
    ['agent.desk', { since: 'monday' }, '--since monday is neither a span nor a date', '7d'],
  ];
  staged('refuses what never was in a sentence, with what may be meant', async (stage) => {
    await applyNext(stage);
    for (const [wanted, flags, says, advises] of BAD) {
      const { err, out } = await ask(stage, wanted, flags, { exit: 1 });
      expect(err).toContain(says);
      expect(err).toContain(advises);
      expect(out).toBe('');
    }
  });

  staged('is empty where nothing was ever applied', async (stage) => {
    expect((await ask(stage, undefined, { format: 'text' })).out).toContain(
      'No change is recorded.',
    );
    await ask(stage, 'agent.desk', {}, { exit: 1 });
  });
});

/** A run that changed the greeting of an agent. Its copy is as long as that of a real one. */
function journal(index: number): readonly JournalEntry[] {
  const address = `agent.a${index % 100}`;
  const run = `20260101t000000z-${index.toString(16).padStart(6, '0')}`;
  const value = (of: number) => ({ value: `Hello ${of}` });
  const left = resource(`${index % 100}`, { leaves: { greeting_message: value(index) } });
  const prompt = `${index} `.padEnd(50_000, 'x');
  return [
    { ...began(run, index), at: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString() },
    {
      type: 'snapshot',
      address,
      kind: 'agent',
      id: left.id,
      document: { greeting_message: `Hello ${index - 100}`, system_prompt: prompt },
      pin: null,
      resource: left,
      withheld: [],
      intended: null,
    },
    { type: 'resource', address, resource: left },
    {
      type: 'ended',
      at: '2026-01-02T00:00:00.000Z',
      status: 'done',
      verified: true,
      ledger: [
        {
          address,
          action: 'update',
          status: 'done',
          id: left.id,
          message: null,
          fields: ['greeting_message', 'system_prompt'],
          history: null,
        },
      ],
    },
  ];
}

test('a log of 10,000 runs takes no more memory than one of few', async () => {
  const RUNS = 10_000;
  async function* journals() {
    for (let run = RUNS - 1; run >= 0; run -= 1) yield { run: String(run), entries: journal(run) };
  }
  const met = { addresses: new Set<string>(), unreadable: [], isAny: false };
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  let count = 0;
  const changes = readLog(
    { address: 'agent.a7' },
    { journals, ids: [], histories: [], texts: [] },
    met,
  );
  for await (const { fields } of changes) {
    count += 1;
    expect(fields?.[0]?.before).toMatch(/^Hello /);
    most = Math.max(most, process.memoryUsage().heapUsed - before);
  }
  expect(count).toBe(RUNS / 100);
  // All prompts together are 500 MB.
  expect(most).toBeLessThan(150_000_000);
}, 60_000);
