import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import { isEdited, type PlanDocument } from '../../src/core/plan-document.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { git } from '../features/writing/pull/stage.ts';

/** Agents by their names in the files, with their fields as YAML. */
type Agents = { readonly [name: string]: string };

const APPLIED: Agents = {
  desk: 'name: Desk, greeting_message: Hello, voicemail_message: Hi',
  night: 'name: Night, greeting_message: Good night',
  safe: 'name: Safe, lifecycle: { protect: true }',
};

const yaml = (agents: Agents) =>
  Object.entries(agents)
    .map(([name, fields]) => `  ${name}: { ${fields} }\n`)
    .join('');

const without = (agents: Agents, name: string): Agents =>
  Object.fromEntries(Object.entries(agents).filter(([own]) => own !== name));

async function commit(stage: Stage, agents: Agents): Promise<void> {
  await stage.write('agents.yaml', `agents:\n${yaml(agents)}`);
  git(stage, 'add', '-A');
  git(stage, 'commit', '-q', '--allow-empty', '-m', 'as it is');
}

/** A stack of three agents on main, applied. */
async function applied(): Promise<Awaited<ReturnType<typeof openStage>>> {
  const stage = await openStage();
  await stage.write('.gitignore', '.callsheet/\nlocal.csv\nplan.json\n');
  await stage.write('resources.yaml', '');
  git(stage, 'init', '-q', '-b', 'main');
  await commit(stage, APPLIED);
  await stage.apply();
  return stage;
}

/** Main goes on without being applied, and a branch goes on from there. */
async function branch(stage: Stage, main: Agents, own: Agents): Promise<void> {
  await commit(stage, main);
  git(stage, 'checkout', '-q', '-b', 'topic');
  await commit(stage, own);
}

/** Somebody edits an agent in the dashboard. */
function edit(stage: Stage, name: string, fields: object): void {
  const updated_at = new Date(Date.now() + 5_000).toISOString();
  Object.assign(agentNamed(stage.sim, name).record, { ...fields, updated_at });
}

/** The plan, its exit code, and how it is shown. */
async function planned(stage: Stage, flags: object, exit: number) {
  const given = { dir: stage.folder, base: 'main', format: 'json' as const, ...flags };
  const said = await stage.run((to) => plan(given, to), { exit });
  const document: PlanDocument = JSON.parse(said.out);
  const text = renderPlanText(document, { width: 200, color: false, verbose: false });
  return { document, text, markdown: renderPlanMarkdown(document) };
}

/** `update branch`, `delete base held`, `update branch refused`, `update base refused there`, by address. */
function origins({ changes }: PlanDocument): Readonly<Record<string, string>> {
  return Object.fromEntries(
    changes.map(({ address, action, verdict, origin, refused_on_base: there, fields }) => {
      const known = fields.filter((field) => field.origin === 'base').map(({ path }) => path);
      const words = [
        action,
        origin,
        ...(verdict === 'ok' ? [] : [verdict]),
        ...(there ? ['there'] : []),
        ...(known.length === 0 ? [] : [`knows ${known.join(' ')}`]),
      ];
      return [address, words.join(' ')];
    }),
  );
}

type Row = {
  readonly what: string;
  /** What becomes of the agents on main and on the branch, each on top of the one before. */
  readonly main?: (agents: Agents) => Agents;
  readonly topic?: (agents: Agents) => Agents;
  /** Edits in the dashboard, by the name of the agent. */
  readonly edited?: { readonly [name: string]: object };
  readonly flags?: object;
  readonly expected: Readonly<Record<string, string>>;
  readonly exit?: number;
};

const EDITED = 'name: Desk, greeting_message: Welcome, voicemail_message: Hi';
const edits = (agents: Agents) => ({ ...agents, desk: EDITED });
const creates = (agents: Agents) => ({ ...agents, fresh: 'name: Fresh, greeting_message: Yes' });
const deletes = (agents: Agents) => without(agents, 'night');
const unprotects = (agents: Agents) => without(agents, 'safe');
const touches = (agents: Agents) => ({
  ...agents,
  night: `${agents.night}, voicemail_message: Hm`,
});
const DELETED = { allowDelete: true };
const BY_HAND = { Desk: { greeting_message: 'By hand' } };

const ROWS: readonly Row[] = [
  {
    what: 'edit on the branch',
    topic: edits,
    expected: { 'agent.desk': 'update branch' },
  },
  {
    what: 'edit by hand of what main deletes',
    main: deletes,
    topic: edits,
    edited: { Night: { greeting_message: 'By hand' } },
    expected: { 'agent.desk': 'update branch', 'agent.night': 'delete base held' },
  },
  {
    what: 'edit on main',
    main: edits,
    topic: creates,
    expected: { 'agent.desk': 'update base', 'agent.fresh': 'create branch' },
  },
  {
    what: 'edit on both',
    main: edits,
    topic: (agents) => ({ ...agents, desk: EDITED.replace('Hi', 'Hey') }),
    expected: { 'agent.desk': 'update branch knows greeting_message' },
  },
  {
    what: 'edit on both, of the same field',
    main: edits,
    topic: (agents) => ({ ...agents, desk: EDITED.replace('Welcome', 'Good day') }),
    expected: { 'agent.desk': 'update branch' },
  },
  { what: 'create on the branch', topic: creates, expected: { 'agent.fresh': 'create branch' } },
  {
    what: 'create on main',
    main: creates,
    topic: edits,
    expected: { 'agent.desk': 'update branch', 'agent.fresh': 'create base' },
  },
  {
    what: 'create on both',
    main: creates,
    topic: (agents) => ({ ...agents, fresh: `${agents.fresh}, voicemail_message: Oh` }),
    expected: { 'agent.fresh': 'create branch knows organization_id name greeting_message' },
  },
  {
    what: 'delete on the branch',
    topic: deletes,
    flags: DELETED,
    expected: { 'agent.night': 'delete branch' },
  },
  {
    what: 'delete on main',
    main: deletes,
    topic: edits,
    flags: DELETED,
    expected: { 'agent.desk': 'update branch', 'agent.night': 'delete base' },
  },
  {
    what: 'delete on main, edit instead on the branch',
    main: deletes,
    topic: (agents) => ({ ...agents, night: 'name: Night, greeting_message: Still here' }),
    flags: DELETED,
    expected: { 'agent.night': 'update branch' },
  },
  { what: 'held on the branch', topic: deletes, expected: { 'agent.night': 'delete branch held' } },
  {
    what: 'held on main',
    main: deletes,
    topic: edits,
    expected: { 'agent.desk': 'update branch', 'agent.night': 'delete base held' },
  },
  {
    what: 'refused on the branch',
    topic: unprotects,
    flags: DELETED,
    expected: { 'agent.safe': 'delete branch refused' },
    exit: 4,
  },
  {
    what: 'refused on main',
    main: unprotects,
    topic: edits,
    flags: DELETED,
    expected: { 'agent.desk': 'update branch', 'agent.safe': 'delete base refused there' },
  },
  {
    what: 'refused on both, for something else',
    main: unprotects,
    topic: edits,
    edited: BY_HAND,
    flags: DELETED,
    expected: { 'agent.desk': 'update branch refused', 'agent.safe': 'delete base refused there' },
    exit: 4,
  },
  {
    what: 'conflict on the branch',
    topic: edits,
    edited: BY_HAND,
    expected: { 'agent.desk': 'update branch refused' },
    exit: 4,
  },
  {
    what: 'conflict on main',
    main: edits,
    topic: touches,
    edited: BY_HAND,
    expected: { 'agent.desk': 'update base refused there', 'agent.night': 'update branch' },
  },
  {
    what: 'conflict on main, another field on the branch',
    main: edits,
    topic: (agents) => ({ ...agents, desk: EDITED.replace('Hi', 'Hey') }),
    edited: BY_HAND,
    expected: { 'agent.desk': 'update branch refused there knows greeting_message' },
  },
  {
    what: 'conflict on main, and another one on the branch',
    main: edits,
    topic: (agents) => ({ ...agents, desk: EDITED.replace('Hi', 'Hey') }),
    edited: { Desk: { greeting_message: 'By hand', voicemail_message: 'By hand' } },
    expected: { 'agent.desk': 'update branch refused knows greeting_message' },
    exit: 4,
  },
  {
    what: 'conflict on main, with another value on the branch',
    main: edits,
    topic: (agents) => ({ ...agents, desk: EDITED.replace('Welcome', 'Good day') }),
    edited: BY_HAND,
    expected: { 'agent.desk': 'update branch refused' },
    exit: 4,
  },
  {
    what: 'drift that neither brings',
    topic: creates,
    edited: BY_HAND,
    expected: { 'agent.desk': 'update base', 'agent.fresh': 'create branch' },
  },
  {
    what: 'nothing on the branch',
    main: (agents) => edits(creates(agents)),
    expected: { 'agent.desk': 'update base', 'agent.fresh': 'create base' },
  },
  { what: 'nothing on either', expected: {} },
];

/** Own changes stand above the heading of those that main has, and only above it; those of main only below. */
function checkPlaces(text: string, { changes }: PlanDocument): void {
  const [own = '', already = ''] = text.split('Already on main');
  const others = changes.filter(({ origin }) => origin === 'base').length;
  expect(text.includes('Already on main')).toBe(others > 0);
  if (others > 0) expect(own).toMatch(new RegExp(`main has ${others} changes? already`));
  for (const { address, origin, fields } of changes) {
    expect(own.includes(address), `${address} in\n${own}`).toBe(origin === 'branch');
    if (origin !== 'base') continue;
    expect(already).toContain(address);
    // An edit by hand ends with it, whosever change it is.
    if (fields.some(isEdited))
      expect(already).toMatch(/edited since|outside Callsheet|both changed/);
  }
}

describe('each change says whether main has it already', () => {
  const same = (agents: Agents) => agents;
  for (const row of ROWS) {
    const { what, main = same, topic = same, edited = {}, flags = {}, expected, exit = 0 } = row;
    test(what, async () => {
      const stage = await applied();
      try {
        await branch(stage, main(APPLIED), topic(main(APPLIED)));
        for (const [name, fields] of Object.entries(edited)) edit(stage, name, fields);
        const { document, ...views } = await planned(stage, flags, exit);
        expect(origins(document)).toEqual(expected);
        expect(document.base).toMatchObject({ ref: 'main', behind: 0 });
        for (const text of Object.values(views)) checkPlaces(text, document);
      } finally {
        await stage.close();
      }
    });
  }
});

/** A test of a stage that is closed after it. */
function withStage(
  name: string,
  body: (stage: Stage) => Promise<void>,
  open: () => ReturnType<typeof openStage> = applied,
): void {
  test(name, async () => {
    const stage = await open();
    try {
      await body(stage);
    } finally {
      await stage.close();
    }
  });
}

/** Requests that a plan makes, in any order. */
async function requested(stage: Stage, flags: object): Promise<readonly string[]> {
  const { length } = stage.sim.requests;
  await stage.plan(flags, { exit: [0, 4] });
  return stage.sim.requests
    .slice(length)
    .map(({ method, path }) => `${method} ${path}`)
    .toSorted();
}

withStage(
  'no more is asked of the platform than by a plan without a base',
  async (stage) => {
    await stage.write('.gitignore', '.callsheet/\n');
    git(stage, 'init', '-q', '-b', 'main');
    const save = () => {
      git(stage, 'add', '-A');
      git(stage, 'commit', '-q', '-m', 'as it is');
    };
    save();
    await stage.apply();
    const agents = await stage.read('agents.yaml');
    await stage.write(
      'agents.yaml',
      agents
        .replace('status: active', 'status: inactive')
        .replace('speed: 1.05', 'speed: 1.1')
        .replace('name: Recall', 'name: Recall\n    sip: { registration_enabled: true }'),
    );
    const resources = await stage.read('resources.yaml');
    await stage.write('resources.yaml', resources.replace(/^ {6}faq: .*\n/m, ''));
    save();
    git(stage, 'checkout', '-q', '-b', 'topic');
    await stage.write(
      'agents.yaml',
      `${agents.replace('how can I help', 'what can I do').replace('alpha-4.1', 'alpha-4o')}  fresh: { name: Fresh, default_retry_policy_id: { $ref: retry_policy.gentle } }\n`,
    );
    save();
    edit(stage, 'Front desk', { greeting_message: 'By hand', system_prompt: 'By hand' });
    for (const refresh of ['fast', 'full'] as const) {
      const plain = await requested(stage, { refresh });
      expect(await requested(stage, { refresh, base: 'main' })).toEqual(plain);
    }
    const { changes } = await stage.plan({ base: 'main' } as object, { exit: [0, 4] });
    expect(new Set(changes.map(({ origin }) => origin))).toEqual(new Set(['base', 'branch']));
  },
  openStage,
);

withStage('what apply acts on, and its digest, is the same without a base', async (stage) => {
  await branch(stage, unprotects(edits(APPLIED)), creates(unprotects(edits(APPLIED))));
  const flags = { ...DELETED, out: join(stage.folder, 'plan.json') };
  const plain = await stage.plan({ ...DELETED }, { exit: 4 });
  const beside = await stage.plan({ ...flags, base: 'main' } as object);
  expect(beside.digest).toBe(plain.digest);
  await stage.applyFile('plan.json', { expect: plain.digest }, { exit: 4 });
  const text = await stage.read('plan.json');
  await stage.write('plan.json', text.replace('"origin": "base"', '"origin": "branch"'));
  const { err } = await stage.applyFile('plan.json', {}, { exit: 5 });
  expect(err).toContain('(edited: made from)');
});

type Case = {
  readonly what: string;
  /** Brings the repository into that state. */
  readonly given: (stage: Stage) => Promise<void> | void;
  readonly base?: string;
  readonly exit?: number;
  /** What is said, as an error or in a note. */
  readonly says: string;
  readonly expected?: Readonly<Record<string, string>>;
};

/** A commit that has nothing to do with the others. */
async function orphan(stage: Stage): Promise<void> {
  git(stage, 'checkout', '-q', '--orphan', 'topic');
  await commit(stage, edits(APPLIED));
}

const CASES: readonly Case[] = [
  {
    what: 'not in Git',
    given: ({ folder }) => rmSync(join(folder, '.git'), { recursive: true }),
    exit: 1,
    says: '--base main needs Git: not a git repository',
  },
  {
    what: 'no such branch',
    given: () => {},
    base: 'nope',
    exit: 1,
    says: '--base nope names no branch, tag or commit of this repository',
  },
  {
    what: 'an option in the place of a branch',
    given: () => {},
    base: '--output=x',
    exit: 1,
    says: 'names no branch, tag or commit of this repository',
  },
  {
    what: 'a shallow clone without the branch',
    given: (stage) => {
      git(stage, 'checkout', '-q', '-b', 'topic');
      shallow(stage);
    },
    exit: 1,
    says: 'This clone is shallow',
  },
  {
    what: 'a shallow clone that does not reach where they parted',
    given: async (stage) => {
      git(stage, 'checkout', '-q', '-b', 'topic');
      await commit(stage, edits(APPLIED));
      git(stage, 'checkout', '-q', 'main');
      await commit(stage, creates(APPLIED));
      git(stage, 'checkout', '-q', 'topic');
      shallow(stage, 'main:refs/remotes/origin/main');
    },
    base: 'origin/main',
    says: 'this clone is shallow, so Git cannot tell where the checkout left main',
    expected: { 'agent.desk': 'update branch' },
  },
  {
    what: 'no commit in common, as after a force push of another history',
    given: orphan,
    exit: 5,
    says: 'this checkout and main have no commit in common',
    expected: { 'agent.desk': 'update branch' },
  },
  {
    what: 'a branch that is behind main, which was applied since',
    given: async (stage) => {
      git(stage, 'checkout', '-q', '-b', 'topic');
      await commit(stage, creates(APPLIED));
      git(stage, 'checkout', '-q', 'main');
      await commit(stage, edits(APPLIED));
      await stage.apply();
      git(stage, 'checkout', '-q', 'topic');
    },
    // Apply would take back what was applied.
    exit: 5,
    says: 'this checkout lacks 1 commit of main',
    expected: { 'agent.desk': 'update base', 'agent.fresh': 'create branch' },
  },
  {
    what: 'a base with errors',
    given: async (stage) => {
      await stage.write('agents.yaml', 'agents: { desk: { nam: Desk } }\n');
      git(stage, 'commit', '-qam', 'broken');
      git(stage, 'checkout', '-q', '-b', 'topic');
      await commit(stage, edits(APPLIED));
    },
    says: 'main cannot be planned (agents.yaml:1: ',
    expected: { 'agent.desk': 'update branch' },
  },
  {
    what: 'a clone that leaves out what is not checked out',
    given: async (stage) => {
      git(stage, 'checkout', '-q', '-b', 'topic');
      await commit(stage, edits(APPLIED));
      git(stage, 'config', 'uploadpack.allowFilter', 'true');
      cloned(stage, '--filter=blob:none');
      git(stage, 'config', 'remote.origin.url', 'file:///nowhere');
    },
    base: 'origin/main',
    says: 'main cannot be planned (Git cannot read its files: ',
    expected: { 'agent.desk': 'update branch' },
  },
  {
    what: 'a base without the stack',
    given: async (stage) => {
      git(stage, 'checkout', '-q', '-b', 'topic');
      git(stage, 'checkout', '-q', '--orphan', 'bare');
      git(stage, 'rm', '-rfq', '--cached', '.');
      git(stage, 'commit', '-q', '--allow-empty', '-m', 'nothing');
      git(stage, 'checkout', '-qf', 'topic');
      await commit(stage, edits(APPLIED));
    },
    base: 'bare',
    says: 'bare does not have this stack: every change counts as of this pull request',
    expected: { 'agent.desk': 'update branch' },
  },
];

/** Cuts the history behind the commits that are there, as a clone of depth 1 has it. */
function shallow(stage: Stage, ...fetched: readonly string[]): void {
  cloned(stage, '--depth=1', ...fetched);
}

/** Puts a clone of the repository in its place. */
function cloned(stage: Stage, how: string, ...fetched: readonly string[]): void {
  const clone = join(stage.folder, '.clone');
  const origin = `file://${stage.folder}`;
  git(stage, 'clone', '-q', how, '--branch', 'topic', origin, clone);
  if (fetched.length > 0) git({ folder: clone }, 'fetch', '-q', how, 'origin', ...fetched);
  rmSync(join(stage.folder, '.git'), { recursive: true });
  renameSync(join(clone, '.git'), join(stage.folder, '.git'));
  rmSync(clone, { recursive: true });
  git(stage, 'reset', '-q');
}

describe('a base that cannot be used, or only in part, is told in a sentence', () => {
  for (const { what, given, base = 'main', exit = 0, says, expected } of CASES) {
    withStage(what, async (stage) => {
      await given(stage);
      const { length } = stage.sim.requests;
      const flags = { dir: stage.folder, base, format: 'json' as const };
      const { out, err } = await stage.run((to) => plan(flags, to), { exit });
      if (expected === undefined) {
        expect(err.replace(/\s+/g, ' ')).toContain(says);
        expect(stage.sim.requests).toHaveLength(length);
        return;
      }
      const document: PlanDocument = JSON.parse(out);
      expect(document.notes.map(({ message }) => message).join('\n')).toContain(says);
      expect(origins(document)).toEqual(expected);
    });
  }
});

withStage('a branch that is behind is not said to be what main has', async (stage) => {
  await CASES.find(({ what }) => what.includes('behind'))?.given(stage);
  const { text, markdown } = await planned(stage, {}, 5);
  for (const view of [text, markdown]) {
    expect(view).toContain('1 change is not its own');
    expect(view).toContain('Not of this pull request: 1 change');
    expect(view).not.toContain('Already on main');
  }
});

withStage('files that Git does not know, ignores, or has under other names', async (stage) => {
  const rows =
    'fleet: { for_each: { $file: local.csv }, key: "${each.slug}", name: "${each.name}" }';
  await stage.write('local.csv', 'slug,name\na,Harbor A\n');
  await stage.write('rows.yaml', `agents:\n  ${rows}\n`);
  await stage.write('prompts/own.md', 'Be kind.\n');
  await commit(stage, {
    ...APPLIED,
    desk: `${APPLIED.desk}, system_prompt: { $file: prompts/own.md }`,
  });
  git(stage, 'checkout', '-q', '-b', 'topic');
  // Nothing of it is committed.
  await stage.write('late.yaml', 'agents:\n  late: { name: Late }\n');
  git(stage, 'mv', 'rows.yaml', 'renamed.yaml');
  await stage.write('prompts/own.md', 'Be quick.\n');
  expect(origins(await stage.plan({ base: 'main' } as object))).toEqual({
    'agent.desk': 'update branch',
    'agent.fleet["a"]': 'create base',
    'agent.late': 'create branch',
  });
});

withStage('variables, an environment and targets are those of the plan', async (stage) => {
  const settings = await stage.read('callsheet.yaml');
  await stage.write(
    'callsheet.yaml',
    `${settings.replace('variables: {', 'variables: { greeting: { default: Hello }, night: {},')}environments: { blue: { variables: { greeting: { default: Blue } } } }\n`,
  );
  await stage.write('night.yaml', 'night: Dark\n');
  const agents = {
    ...APPLIED,
    desk: APPLIED.desk?.replace('Hello', '"${var.greeting}"') ?? '',
    night: APPLIED.night?.replace('Good night', '"${var.night}"') ?? '',
  };
  await commit(stage, agents);
  git(stage, 'checkout', '-q', '-b', 'topic');
  await stage.write('night.yaml', 'night: Darker\n');
  await commit(stage, creates(agents));
  const varFile = [join(stage.folder, 'night.yaml')];
  const flags = { base: 'main', env: 'blue', varFile, target: ['agent.desk', 'agent.night'] };
  expect(origins(await stage.plan(flags as object))).toEqual({
    'agent.desk': 'update base',
    'agent.night': 'update branch',
  });
});
