import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { init } from '../../src/features/writing/init/init.ts';
import { readSeed, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { openAuthorStage } from '../cli/author-stage.ts';
import '../e2e/build.ts';
import { temporaryFolder } from '../temporary.ts';

export const EXAMPLES = join(import.meta.dirname, '../../examples/ci');

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

const STACK = {
  'callsheet.yaml': `callsheet: 1
platform: { base_url: "\${var.base_url}" }
variables:
  base_url: { env: CALLSHEET_BASE_URL }
organizations: { harbor: ${ORGANIZATION} }
organization: harbor
`,
  'agents.yaml': `agents:
  reception:
    name: Front desk
    agent_type: receptionist
    greeting_message: Harbor Dental.
    system_prompt: { $file: prompts/reception.md }
  night:
    name: Night desk
    agent_type: receptionist
    greeting_message: We are closed.
`,
  'prompts/reception.md': '# Front desk\n\nYou answer the phone.\n',
  '.gitignore': '.callsheet/\n',
};

/** A stack of a tree with one agent, `Harbor desk`. */
export function stackOf(name: string, more = ''): Texts {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    [`clinics/${name}/callsheet.yaml`]: STACK['callsheet.yaml'] + more,
    [`clinics/${name}/agents.yaml`]: `agents:
  desk:
    name: ${title} desk
    agent_type: receptionist
    greeting_message: ${title}.
`,
  };
}

/** A repository with a stack or a tree of stacks, and a platform. */
export type Place = {
  readonly sim: Simulator;
  /** The repository as somebody works in it. */
  readonly origin: string;
  /** The folder of the stack in it; empty for its top and for a tree. */
  readonly stack: string;
  /** A folder for whatever a pipeline keeps. */
  readonly folder: string;
  /** What every job has: the commands on its PATH. */
  readonly machine: Readonly<Record<string, string>>;
  readonly credentials: { readonly vars: Texts; readonly secrets: Texts };
  readonly git: (...args: readonly string[]) => string;
  /** Writes a file and commits; the commit. */
  readonly commit: (files: Texts, message?: string) => string;
  /** Id of the agent of that name. */
  readonly agent: (name: string) => string;
  readonly greeting: (name: string) => unknown;
};

type Texts = Readonly<Record<string, string>>;

/** Where each pipeline has the lockfile that Callsheet is installed from. */
const LOCKED = {
  github: '.github/actions/callsheet',
  gitlab: '.gitlab/callsheet',
  shell: 'callsheet',
} as const;

/**
 * Opens a place with the pipeline that `init` writes for its stack; it goes with the test.
 *
 * @param settings more of callsheet.yaml
 * @param variables more of its variables
 * @param tree the files of many stacks, in the place of the one
 */
export async function openPlace(
  pipeline?: keyof typeof LOCKED,
  stack = '',
  settings = '',
  variables = '',
  tree?: Texts,
): Promise<Place> {
  const folder = temporaryFolder();
  const sim = await startSimulator({
    seed: readSeed(`organizations: [{ id: ${ORGANIZATION}, name: Harbor Dental }]`),
  });
  onTestFinished(() => sim.close());
  const origin = join(folder, 'origin');
  mkdirSync(origin);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', origin, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ana');
  git('config', 'user.email', 'ana@example.test');
  const commit = (texts: Texts, message = 'Change') => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(origin, path)), { recursive: true });
      writeFileSync(join(origin, path), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  const files = Object.entries(tree ?? STACK).map(([path, text]) => [
    join(stack, path),
    path === 'callsheet.yaml' && tree === undefined
      ? text.replace('organizations:', `${variables}organizations:`) + settings
      : text,
  ]);
  commit(Object.fromEntries(files), 'Begin');
  if (pipeline !== undefined) {
    const flags = { dir: join(origin, stack), ci: pipeline };
    const way = tree === undefined ? { keepExisting: true } : { recursive: true };
    await init({ ...flags, ...way }, openAuthorStage().context);
    commit({ [`${LOCKED[pipeline]}/package-lock.json`]: LOCK }, 'Add a pipeline');
  }
  const agent = (name: string) => {
    for (const [id, { record }] of sim.store.agents) if (record.name === name) return id;
    throw new Error(`the platform has no agent named ${name}`);
  };
  return {
    sim,
    origin,
    stack,
    folder,
    machine: {
      PATH: `${commandsIn(folder, `"${process.execPath}" "${inject('bin')}"`)}:${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    },
    credentials: {
      vars: { CALLSHEET_BASE_URL: sim.url },
      secrets: {
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
        CALLSHEET_FINGERPRINT_KEY: 'a key of thirty-two characters!!',
      },
    },
    git,
    commit,
    agent,
    greeting: (name) => sim.store.agents.get(agent(name))?.record.greeting_message,
  };
}

/** As much of a lockfile as the stand-in for npm looks at; test/e2e/package.test.ts has a real one. */
export const LOCK = '{ "packages": { "node_modules/callsheet": { "integrity": "sha512-…" } } }\n';

/** A file of the stack with one text in the place of another. */
export function edited(place: Place, path: string, from: string, to: string): Texts {
  const file = join(place.stack, path);
  const text = readFileSync(join(place.origin, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  return { [file]: text.replace(from, to) };
}

/** An npm that installs one Callsheet, where a lockfile names its checksum and nothing else is asked for. */
export function commandsIn(folder: string, command: string): string {
  const commands = join(folder, 'bin');
  mkdirSync(commands);
  const callsheet = join(folder, 'callsheet');
  const scripts = {
    [callsheet]: `exec ${command} "$@"`,
    [join(commands, 'npm')]: `[ "$1" = ci ] || { echo "npm $* installs by a name"; exit 1; }
case "$*" in *--ignore-scripts*) ;; *) echo "npm $* runs scripts"; exit 1 ;; esac
[ "$2" = --prefix ] && cd "$3"
grep -q '"integrity": "sha512-' package-lock.json || exit 1
mkdir -p node_modules/.bin
ln -sf "${callsheet}" node_modules/.bin/callsheet
ln -sfn "${join(EXAMPLES, '../..')}" node_modules/callsheet`,
  };
  for (const [file, script] of Object.entries(scripts)) {
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  return commands;
}
