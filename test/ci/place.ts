import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { readSeed, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import '../e2e/build.ts';
import { temporaryFolder } from '../temporary.ts';

export const EXAMPLES = join(import.meta.dirname, '../../examples/ci');

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

const STACK = {
  'callsheet.yaml': `callsheet: 1
platform: { base_url: "\${var.base_url}" }
variables: { base_url: { env: CALLSHEET_BASE_URL } }
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

/** A repository with a stack, and a platform. */
export type Place = {
  readonly sim: Simulator;
  /** The repository as somebody works in it. */
  readonly origin: string;
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

/** Opens a place with more files; it goes with the test. */
export async function openPlace(files: Texts = {}, folders: Texts = {}): Promise<Place> {
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
  for (const [from, to] of Object.entries(folders)) {
    cpSync(from, join(origin, to), { recursive: true });
  }
  const commit = (texts: Texts, message = 'Change') => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(origin, path)), { recursive: true });
      writeFileSync(join(origin, path), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  commit({ ...STACK, ...files }, 'Begin');
  const agent = (name: string) => {
    for (const [id, { record }] of sim.store.agents) if (record.name === name) return id;
    throw new Error(`the platform has no agent named ${name}`);
  };
  return {
    sim,
    origin,
    folder,
    machine: {
      PATH: `${commandsIn(folder)}:${dirname(process.execPath)}:${process.env.PATH}`,
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

/** A file of the stack with one text in the place of another. */
export function edited(place: Place, path: string, from: string, to: string): Texts {
  const text = readFileSync(join(place.origin, path), 'utf8');
  if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
  return { [path]: text.replace(from, to) };
}

/** The built Callsheet under its name, and an npm that installs nothing. */
function commandsIn(folder: string): string {
  const commands = join(folder, 'bin');
  mkdirSync(commands);
  const scripts = {
    callsheet: `exec "${process.execPath}" "${inject('bin')}" "$@"`,
    npm: `echo "npm $*" >> "${join(folder, 'npm.log')}"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  }
  return commands;
}
