import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { features } from '../../src/features/index.ts';
import type { Simulator } from '../../src/simulator/index.ts';
import { openStage } from '../apply/stage.ts';
import { agentNamed, CANARIES, COMMIT, FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { commitAll } from '../features/fleet/queue/many-stacks.ts';
import { postgresForFile, ENV as QUEUE_ENV } from '../features/fleet/queue/stage.ts';
import { four, platform, treeOf } from '../features/fleet/tree.ts';
import { DAY, LONG, openFleet, POLITE, small } from '../features/rollout/fleet.ts';
import { temporaryFolder } from '../temporary.ts';
import { typedCommands } from '../typed-commands.ts';

const { commands: COMMANDS } = openTable(features);

/** No command, host, address, id or number is broken over lines on a narrow terminal, in any output or error. */

/** A folder and a platform that commands are typed in. */
type World = {
  readonly cwd: string;
  readonly env: Record<string, string | undefined>;
  /** Values of the words in capitals that a command line may hold, such as `DESK`. */
  readonly words?: Record<string, string>;
  readonly now?: () => Date;
  readonly close?: () => unknown;
};

/** A command line, `> FILE` behind it included, or an edit of the world between two of them. */
type Step<W> = string | ((world: W) => unknown);

type Scene<W extends World = World> = {
  readonly open: () => Promise<W>;
  readonly steps: readonly Step<W>[];
};

/** Their output is a document for a program. */
const LEFT_OUT: { readonly [command: string]: string } = {
  completion: 'a script that a shell reads',
  schema: 'a JSON Schema that an editor reads',
  'state pull': 'the state, for `state push`',
};

/** Variables of every command on a platform. */
const envFor = (sim: Pick<Simulator, 'url' | 'clientId' | 'clientSecret'>) => ({
  ...{ PATH: process.env.PATH, TERM: 'dumb', CI_COMMIT_SHA: COMMIT },
  ...CANARIES,
  CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
  CALLSHEET_BASE_URL: sim.url,
  CALLSHEET_CLIENT_ID: sim.clientId,
  CALLSHEET_CLIENT_SECRET: sim.clientSecret,
});

/** A scene keeps the type of its world to itself. */
function scene<W extends World>(
  open: () => Promise<W>,
  ...steps: readonly (Step<W> | readonly Step<W>[])[]
): Scene {
  return { open, steps: steps.flat() } as unknown as Scene;
}

/** The clinic, applied, with an edit on each side. */
async function clinic() {
  const stage = await openStage();
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day, how may I help you?');
  const { id } = agentNamed(stage.sim);
  stage.sim.edit(id, { system_prompt: 'Ask https://alerts.pagehost.example.test/v2/page, 30.' });
  const listed = await runHere(['runs', '--format', 'json'], {
    cwd: stage.folder,
    env: envFor(stage.sim),
  });
  const words = { DESK: id, RUN: JSON.parse(listed.out).runs[0].run };
  return { cwd: stage.folder, env: envFor(stage.sim), words, stage, close: stage.close };
}

const BROKEN = join(import.meta.dirname, '../broken');
const HELP = 'each command with a flag that it does not have, and its help';
const postgres = postgresForFile();

const SCENES: { readonly [name: string]: Scene } = {
  'a stack with an edit on each side': scene(
    clinic,
    'validate',
    'fmt --check',
    ['agent.greeting_message', 'agent.desk', 'agent.desk.system_prompt'].map(
      (name) => `explain ${name}`,
    ),
    'explain graph',
    ['', 'history.entries', '--verbose'].map((flags) => `explain assumptions ${flags}`),
    ['', '--verbose', '--undo-drift', '--out plan.json'].map((flags) => `plan ${flags}`),
    'show plan.json',
    'rollback --dry-run',
    'rollback RUN --dry-run',
    'rehearse --verbose',
    ['', '--verbose'].map((flags) => `drift ${flags}`),
    'watch --listen 127.0.0.1:0',
    'ui',
    'pull --dry-run',
    ['', 'agent.desk', '--verbose'].map((flags) => `log ${flags}`),
    ['', 'RUN', 'RUN --verbose'].map((flags) => `runs ${flags}`),
    'state list',
    'state show agent.desk',
    'snapshot create --out here.snapshot',
    'snapshot list',
    'snapshot show here.snapshot',
    'snapshot show here.snapshot agent.desk',
    'restore here.snapshot --dry-run',
    ['agents', 'agent.desk', 'retry_policies', 'knowledge_sources', 'email_templates'].map(
      (what) => `get ${what}`,
    ),
    ['organizations', 'calls agent.desk', 'usage', 'features', 'models'].map(
      (what) => `get ${what}`,
    ),
    ['stt_providers', 'payments agent.desk', 'sms_templates', 'custom_voices'].map(
      (what) => `get ${what}`,
    ),
    'history agent.desk',
    'metrics',
    'session --profile 2f6d8e9a-0b11-4b0e-9b1c-7d0c6f1e54a3',
    'state unlock',
    'state unlock lease-1',
    'state trust --dry-run',
    'state trust',
    'state adopt',
    'import agent.other DESK',
    'import agent.desk DESK',
    'import --all',
    'export --out exported',
    'export --out exported',
  ),
  'a stack that is written': scene(
    clinic,
    'snapshot create --out before.snapshot',
    'plan --out plan.json',
    'apply plan.json',
    'apply',
    'pull',
    'pull --theirs',
    'apply --auto-approve',
    ({ stage }) => stage.edit('resources.yaml', 'name: Gentle redial', 'name: Gentle redials'),
    'apply --auto-approve',
    'rollback --auto-approve',
    'rollback --auto-approve',
    'runs',
    'runs prune --keep 90d',
    'runs prune --keep 1 --dry-run',
    'version',
    'version --check plan.json',
    'drift',
    'snapshot create --out after.snapshot',
    'snapshot diff before.snapshot after.snapshot',
    'rollback --to before.snapshot --dry-run',
    'restore before.snapshot --over --dry-run',
    'restore before.snapshot --over --auto-approve --without-secrets',
    'state mv agent.desk agent.front_desk_of_the_clinic',
    'state mv agent.front_desk_of_the_clinic agent.desk',
    'state mv agent.none agent.desk',
    'state rm agent.other',
    'state rm agent.recall',
    'apply --auto-approve',
    'state pull > pulled.json',
    'state push pulled.json',
    'state push before.snapshot',
    'state repair',
    ({ stage }) => stage.write('.callsheet/state.json', '{"format": "callsheet-state", "res'),
    'plan',
    'state pull',
    'state repair',
    'state push pulled.json --overwrite',
    'state migrate --to elsewhere/state.json',
    'plan',
    ({ stage }) => stage.write('agents.yaml', 'agents: { desk: { nme: Front desk } }'),
    'validate',
    'plan',
    'drift',
    'apply --auto-approve',
  ),
  'a rollout': scene(
    async () => {
      const fleet = await openFleet(small());
      await fleet.greet(POLITE);
      const { stage } = fleet;
      const now = fleet.now;
      const world = { cwd: stage.folder, env: envFor(stage.sim), now };
      return { ...world, fleet, close: fleet.close };
    },
    'rollout start other',
    'rollout show',
    'rollout start careful',
    'rollout start careful --auto-approve',
    'rollout show',
    'rollout show --verbose',
    'plan',
    ({ fleet }) => fleet.pass(DAY),
    'rollout run',
    'rollout promote --auto-approve',
    ({ fleet }) => fleet.pass(DAY),
    'rollout run --verbose',
    'rollout abort --auto-approve',
    'rollout abort --auto-approve',
    'rollout show',
    ({ fleet }) => fleet.edit('agents.yaml', POLITE, LONG),
    'rollout start careful --auto-approve',
    ({ fleet }) => fleet.pass(7 * DAY),
    'rollout run',
    'rollout show --verbose',
    'runs',
  ),
  'a tree': scene(
    async () => {
      const cwd = treeOf(four());
      const queue = { ...QUEUE_ENV, CALLSHEET_QUEUE: await postgres.database() };
      return {
        cwd,
        env: { ...envFor(await platform()), ...queue },
        words: {} as Record<string, string>,
      };
    },
    'validate --recursive',
    'plan --recursive',
    'plan --recursive --out plans',
    'apply plans --recursive',
    'apply --recursive --auto-approve',
    'drift --recursive',
    ({ cwd }) =>
      writeFileSync(join(cwd, 'harbor/east/agents.yaml'), 'agents: { desk: { nme: x } }'),
    'validate --recursive',
    'plan --recursive',
    'queue add plan',
    'queue show 20261121t101203z-7f3a19',
    'queue work --until-empty',
    ({ cwd }) => commitAll(cwd),
    'queue add plan > batch',
    ({ cwd, words }) => {
      words.BATCH = readFileSync(join(cwd, 'batch'), 'utf8').trim();
    },
    'queue show BATCH',
    'queue work --until-empty',
    'queue show BATCH',
    'queue add apply --auto-approve',
  ),
  'an empty folder': scene(
    async () => ({ cwd: temporaryFolder(), env: envFor(await platform()) }),
    'plan',
    'validate',
    'queue add plan',
    'queue work',
    'queue show 20261121t101203z-7f3a19',
    'init --yes --ci github --dir a',
    'init --yes --ci github --dir a',
    'init --yes --dir b --organization harbor=3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 --base-url https://voice.example.test',
    'validate --dir b',
    'plan --dir b',
    'simulate --port 0',
    'simulate --port 0 --resellers 1 --organizations 2 --agents 3 --admin',
  ),
  'a platform that refuses the key': scene(
    async () => {
      const world = await clinic();
      return { ...world, env: { ...world.env, CALLSHEET_CLIENT_SECRET: 'canary-wrong' } };
    },
    ['plan', 'apply --auto-approve', 'drift', 'pull', 'watch --listen 127.0.0.1:0', 'import --all'],
    [
      'get agents',
      'get calls agent.desk',
      'history agent.desk',
      'metrics',
      'export --out exported',
    ],
    ['rehearse', 'rollback --auto-approve', 'snapshot create', 'state trust', 'state repair'],
  ),
  'stacks that are broken': scene(
    async () => ({ cwd: BROKEN, env: { TERM: 'dumb' } }),
    readdirSync(BROKEN, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `validate --dir ${name}`),
  ),
  [HELP]: scene(
    async () => ({ cwd: temporaryFolder(), env: { TERM: 'dumb' } }),
    COMMANDS.flatMap(({ name }) => [`${name} --nonsense`, `${name} --help`]),
  ),
};

test('every command is looked at, or left out with a reason', () => {
  const lines = Object.entries(SCENES).flatMap(([name, { steps }]) =>
    name === HELP ? [] : steps.filter((step) => typeof step === 'string'),
  );
  const isTyped = (name: string) => lines.some((line) => `${line} `.startsWith(`${name} `));
  const names = COMMANDS.map(({ name }) => name).filter((name) => !(name in LEFT_OUT));
  expect(names.filter((name) => !isTyped(name))).toEqual([]);
});

/** Things that somebody copies: URLs and hosts, addresses, paths, options, variables, ids, digests and numbers. */
const UNIT = new RegExp(
  [
    /https?:\/\/[^\s"'`)>,;]+/,
    /[a-z_]+\.[a-z_]+(?:\["[^"]*"\])?/,
    /\.?\b[\w-]+(?:\/[\w.-]*\w)+/,
    /--[a-z]+(?:-[a-z]+)*/,
    /\b[A-Z0-9]+(?:_[A-Z0-9]+)+\b/,
    /\b(?:[a-z0-9-]+\.)+(?:test|com|example)\b/,
    /\b\d[\d,.:]*\d\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Ids that differ from world to world, known by their form. */
const ID =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{8}t\d{6}z-[0-9a-f]{6}|sha256:[0-9a-f]{64}/g;

/** Lists things that stand whole in a wide output, and in pieces alone in a narrow one. */
function broken(wide: string, narrow: string): readonly string[] {
  const lines = narrow.split('\n');
  const joined = lines.map((line) => line.trimStart()).join('');
  const known = [...(wide.match(UNIT) ?? []), ...typedCommands(wide), ...(joined.match(ID) ?? [])];
  return [...new Set(known)].filter(
    (unit) => joined.includes(unit) && !lines.some((line) => line.includes(unit)),
  );
}

/** Outputs whose lines are those of a document in YAML, Mermaid or Git's form. */
const DOCUMENTS =
  /^(?:explain graph|get agent\.desk|snapshot show \S+ agent|pull --dry-run|simulate)/;

/** Lines that a terminal breaks itself, though they could have been broken between two words, or begun further left. */
function tooWide(narrow: string, width: number): readonly string[] {
  const commands = new Set(typedCommands(narrow));
  return narrow.split('\n').filter((line) => {
    const text = line.trim().replace(/ {2,}#.*$/, '');
    const widest = Math.max(...text.split(/ +/).map((word) => word.length));
    return line.length > width && widest <= width - 8 && !commands.has(text);
  });
}

/** Runs a command as on a terminal of so many columns. */
async function onTerminal<T>(width: number, run: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const before = [stdout, stderr].map(({ columns, isTTY }) => ({ columns, isTTY }));
  for (const stream of [stdout, stderr]) Object.assign(stream, { columns: width, isTTY: true });
  try {
    return await run();
  } finally {
    for (const [at, stream] of [stdout, stderr].entries()) Object.assign(stream, before[at]);
  }
}

/** Goes through a scene on a terminal of so many columns: what each command printed, by its number. */
async function play({ open, steps }: Scene, width: number) {
  const world = await open();
  const printed: string[] = [];
  for (const step of steps) {
    if (typeof step !== 'string') {
      await step(world);
      continue;
    }
    const [line = '', file] = step.split(' > ');
    const words = line
      .trim()
      .split(/ +/)
      .map((word) => world.words?.[word] ?? word);
    // Commands that serve until they are stopped are stopped at once.
    const stop = SERVES.some((name) => line.startsWith(name))
      ? AbortSignal.abort()
      : new AbortController().signal;
    const { out, err } = await onTerminal(width, () =>
      runHere(words, world, { stop, ...(world.now && { now: world.now }) }),
    );
    if (file !== undefined) writeFileSync(join(world.cwd, file), out);
    printed.push(file === undefined ? `${out}\n${err}` : err);
  }
  await world.close?.();
  return printed;
}

const SERVES = ['watch', 'ui', 'simulate'];

describe('nothing that is copied is broken at 60 columns, in the output of any command:', () => {
  test.each(Object.entries(SCENES))('%s', { timeout: 240_000 }, async (_, given) => {
    const wide = await play(given, 4000);
    const narrow = await play(given, 60);
    const lines = given.steps.filter((step) => typeof step === 'string');
    const found = lines.flatMap((line, at) =>
      [
        ...broken(wide[at] ?? '', narrow[at] ?? ''),
        ...(DOCUMENTS.test(line) ? [] : tooWide(narrow[at] ?? '', 60)),
      ].map((unit) => `${line}: ${unit}`),
    );
    expect([...new Set(found)]).toEqual([]);
  });
});
