import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { Change, PlanDocument } from '../../src/core/plan-document.ts';
import { agents } from '../features/fleet/tree.ts';
import { coveringRows, longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';
import { gitIn, inOneLine, open, STACK, textIn, type World } from './git-stage.ts';

/** The state is lost while something waits for the next apply, and Git alone knows of it. */

const FILE = join(STACK, 'agents.yaml');
const GONE = 'agent.night';

type Expected = Partial<Change> | 'unknown' | RegExp;

type Row = {
  readonly name: string;
  /** From two agents that are configured since ten days and live since now, to where the state is lost. */
  readonly make: (world: World) => void | Promise<void>;
  /** The change of the agent that was configured; `unknown`: nothing says that it was. */
  readonly expected: Expected;
  /** True if a live one was made after a commit had taken it out. */
  readonly isReturned?: boolean;
  /** True if the files had the agents without an apply. */
  readonly isUnapplied?: boolean;
};

const live = ({ sim }: World, name = 'Night') => {
  const found = [...sim.store.agents.values()].find(({ record }) => record.name === name);
  if (found === undefined) throw new Error(`no agent ${name}`);
  return found;
};

const remove = (world: World): void => {
  world.commitFile(FILE, agents('Desk'), 'Remove night.');
};
const RULES = '{ no_answer: { delay_seconds: 60, max_attempts: 2 } }';

/** A resource of another kind is applied, and then no longer configured. */
async function comesAndGoes(world: World, field: string, resource: string): Promise<void> {
  const file = join(STACK, 'more.yaml');
  world.commitFile(file, `${field}: { night: ${resource} }\n`, `Add ${field}.`);
  await world.apply();
  world.commitFile(file, '{}\n', `Remove ${field}.`);
}

const NIGHT = agents('Night').replace('agents:\n', '');
const both = (change: (night: string) => string) => agents('Desk') + change(NIGHT);

/** An agent that somebody else made, so many days ago. */
function plant(world: World, daysAgo: number): void {
  const { sim } = world;
  const desk = live(world, 'Desk');
  const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const id = '6f1c7a52-9d5e-4c11-8a3b-2f0e1d9c8b7a';
  const record = { ...desk.record, id, name: 'Night', created_at: at, updated_at: at };
  sim.store.agents.set(id, { ...desk, id, record });
}

const ROWS: readonly Row[] = [
  {
    name: 'its row is removed',
    make: remove,
    expected: { action: 'delete', verdict: 'held', fields: [] },
  },
  {
    name: 'its row is removed, uncommitted',
    make: ({ main }) => writeFileSync(join(main, FILE), agents('Desk')),
    expected: { action: 'delete', verdict: 'held' },
  },
  {
    name: 'its row is removed some commits ago',
    make(world) {
      remove(world);
      for (const one of ['One.', 'Two.', 'Three.']) world.commit(one);
    },
    expected: { action: 'delete', verdict: 'held' },
  },
  {
    name: 'it is edited by hand, and its row is removed',
    make(world) {
      world.sim.edit(live(world).id, { system_prompt: 'By hand.' }, 'user:dana');
      remove(world);
    },
    expected: { action: 'delete', reason: expect.stringContaining('user:dana') },
  },
  {
    name: 'its row is removed and forgotten',
    make(world) {
      world.commitFile(FILE, `forget: [${GONE}]\n${agents('Desk')}`, 'Forget night.');
    },
    expected: { action: 'forget' },
  },
  {
    name: 'a protected row is removed',
    make(world) {
      const text = both((night) => `${night}    lifecycle: { protect: true }\n`);
      world.commitFile(FILE, text, 'Protect night.');
      remove(world);
    },
    expected: { action: 'delete', verdict: 'refused' },
  },
  {
    name: 'it gets another name',
    make(world) {
      const text = both((night) => night.replace('name: Night', 'name: Late'));
      world.commitFile(FILE, text, 'Rename night.');
    },
    expected: { action: 'update', fields: [expect.objectContaining({ path: 'name' })] },
  },
  {
    name: 'it gets another address and another name',
    make(world) {
      const text = both((night) => night.replace('name: Night', 'name: Late'));
      const moved = `moved: [{ from: ${GONE}, to: agent.late }]\n${text.replace('  night:', '  late:')}`;
      world.commitFile(FILE, moved, 'Move night.');
    },
    expected: { action: 'update', moved_from: GONE, address: 'agent.late' },
  },
  {
    name: 'the only policy is removed',
    make: (world) => comesAndGoes(world, 'retry_policies', `{ name: Night, rules: ${RULES} }`),
    expected: { action: 'delete', verdict: 'held', address: 'retry_policy.night' },
  },
  {
    // Nothing tells when it was created, or who changed it.
    name: 'the only template is removed',
    make: (world) =>
      comesAndGoes(world, 'sms_templates', '{ name: Night, message_type: sms, body: Good night. }'),
    expected: 'unknown',
  },
  {
    name: 'its row is removed, and it is deleted by hand',
    make(world) {
      world.sim.store.agents.delete(live(world).id);
      remove(world);
    },
    expected: 'unknown',
  },
  {
    name: 'somebody made one of its name after its row was removed',
    isReturned: true,
    isUnapplied: true,
    make(world) {
      world.commitFile(FILE, agents('Desk'), 'Remove night.', 5);
      plant(world, 2);
    },
    expected: 'unknown',
  },
  {
    name: 'somebody made one of its name before it was configured',
    isUnapplied: true,
    make(world) {
      remove(world);
      plant(world, 30);
    },
    expected: 'unknown',
  },
  {
    name: 'its row is removed in a clone without a history',
    make(world) {
      remove(world);
      world.git('config', 'uploadpack.allowFilter', 'true');
      const { main } = world;
      rmSync(join(main, '.git', 'shallow'), { force: true });
      gitIn(main, 'fetch', '--quiet', '--depth', '1', `file://${main}`, 'main');
      gitIn(main, 'reflog', 'expire', '--all', '--expire=now');
      gitIn(main, 'gc', '--quiet', '--prune=now');
    },
    expected: 'unknown',
  },
  {
    name: 'its row is removed in a folder without Git',
    make(world) {
      remove(world);
      rmSync(join(world.main, '.git'), { recursive: true });
    },
    expected: 'unknown',
  },
];

const inJson = (root: string) => ({ ...textIn(root), format: 'json' }) as const;

async function planned(world: World): Promise<PlanDocument> {
  const { out, err } = await world.run((to) => plan(inJson(world.main), to));
  return JSON.parse(out === '' ? err : out);
}

const changeIn = ({ changes }: PlanDocument) =>
  changes
    .filter(({ action }) => action !== 'adopt')
    .find(
      ({ name, address, moved_from: from }) => [from, address].includes(GONE) || name === 'Night',
    );

/** Addresses of what went and of which a live one was made again. */
const returnedIn = ({ notes }: PlanDocument) =>
  notes.flatMap((note) => (note.returned === undefined ? [] : [note.address]));

/** The ways in which the plan is carried out. */
const WAYS = [
  {
    way: 'apply',
    take: ({ run, main }: World) =>
      run((to) => apply(undefined, { ...textIn(main), autoApprove: true }, to)),
  },
  {
    way: 'a plan file',
    async take({ run, main }: World) {
      const out = join(temporaryFolder(), 'plan.json');
      await run((to) => plan({ ...textIn(main), out }, to));
      return run((to) => apply(out, textIn(main), to));
    },
  },
];

async function openLost({ make, isUnapplied = false }: Row): Promise<World> {
  const world = await open();
  if (isUnapplied) await world.apply();
  world.commitFile(FILE, agents('Desk', 'Night'), 'Two agents.', 10);
  if (!isUnapplied) await world.apply();
  await make(world);
  rmSync(join(world.main, STACK, '.callsheet'), { recursive: true, force: true });
  return world;
}

describe.each(ROWS)('without a state, where $name', (row) => {
  test.each(longRows(WAYS, ({ way }) => way === 'apply'))(
    '$way records what is told',
    async ({ take }) => {
      const world = await openLost(row);
      const first = await planned(world);
      const returned = row.isReturned === true ? [GONE] : [];
      expect(returnedIn(first)).toEqual(returned);
      const change = changeIn(first);
      const note = first.notes.find(({ message }) => message.includes('no state knows'));
      if (row.expected === 'unknown') {
        expect(change).toBeUndefined();
        expect(note).toBeUndefined();
      } else {
        expect(change).toMatchObject(row.expected);
        expect(note?.message).toMatch(/commit [0-9a-f]{12} was the last to configure it/);
      }
      const done = await take(world);
      expect(done.exit, inOneLine(done)).toBe(change?.verdict === 'refused' ? 4 : 0);
      const later = await planned(world);
      // The state that the run made remembers it.
      expect(returnedIn(later)).toEqual(returned);
      const next = changeIn(later);
      // A delete waits until somebody allows it; the rest is done.
      expect(next?.action).toBe(change?.action === 'delete' ? 'delete' : undefined);
      expect(next?.reason).toBe(next && change?.reason);
      const state = join(world.main, STACK, '.callsheet', 'state.json');
      if (next?.verdict === 'held') expect(readFileSync(state, 'utf8')).toContain(next.id);
    },
  );
});

test('without a state, a change names who else edited what it overwrites', async () => {
  const world = await open();
  await world.apply();
  const { id } = live(world, 'Desk');
  world.sim.edit(id, { system_prompt: 'By hand.' }, 'user:dana');
  world.sim.edit(id, { language: 'de-DE' }, `api:${world.sim.store.account.id}`);
  rmSync(join(world.main, STACK, '.callsheet'), { recursive: true });
  const [change] = (await planned(world)).changes;
  expect(change).toMatchObject({
    action: 'update',
    reason: expect.stringMatching(
      /^found by its name and differs \(edited by user:dana via dashboard at \S+, history entry 2\)/,
    ),
  });
});

/** Long, so that no view has room for all of it. */
const PROMPT = Array.from({ length: 30 }, (_, at) => `Rule ${at}: say what is so.`).join('\n\n');
const inYaml = `system_prompt: |\n${PROMPT.replace(/^(?=.)/gm, '      ')}\n`;
const withPrompt = (system: string) =>
  both((night) => night.replace(/system_prompt: .*\n/, system));

describe.each([
  ['in the YAML', withPrompt(inYaml), undefined],
  ['in a file', withPrompt('system_prompt: { $file: night.md }\n'), PROMPT],
])(
  'what somebody edited of a long text that stood %s and is deleted with its agent',
  (_, yaml, text) => {
    const rows = [plan, drift].flatMap((command) =>
      (['text', 'markdown'] as const).flatMap((format) =>
        [false, true].map((isLater) => ({ command, format, isLater })),
      ),
    );
    test.each(
      coveringRows(rows, ({ command, format, isLater }) => [command.name, format, isLater]),
    )(
      'is shown by $command.name as $format, later: $isLater',
      async ({ command, format, isLater }) => {
        const world = await open();
        if (text !== undefined) world.commitFile(join(STACK, 'night.md'), text, 'A prompt.', 11);
        world.commitFile(FILE, yaml, 'Two agents.', 10);
        await world.apply();
        remove(world);
        if (isLater) {
          world.commitFile(FILE, agents('Desk').replace('You are Desk.', 'Be brief.'), 'Desk.');
          await world.apply();
        }
        const edited = PROMPT.replace(
          'Rule 17: say what is so.',
          'Rule 17: say what By hand asks.',
        );
        world.sim.edit(live(world).id, { system_prompt: edited }, 'user:dana');
        const { out } = await world.run((to) =>
          command({ dir: join(world.main, STACK), format }, to),
        );
        const shown = out.replace(/<[^>]+>|[[\]{}+-]/g, ' ').replace(/\s+/g, ' ');
        expect(shown).toContain('user:dana');
        expect(shown).toMatch(/By hand asks/);
        if (command === plan) expect(shown).toContain('the delete takes it along');
        // It is the edit that is shown, and not the text.
        expect(shown).not.toContain('Rule 3:');
      },
    );
  },
);
