import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import type { Context } from '../../src/console/context.ts';
import { reportFailure } from '../../src/console/events.ts';
import { checkPrinted } from '../documents.ts';
import { agents, contextFor, platform, put, settings } from '../features/fleet/tree.ts';
import { temporaryFolder } from '../temporary.ts';

/** The stack lies beside another folder of its repository. */
export const STACK = 'clinic';

const AS_MINA = ['-c', 'user.name=Mina', '-c', 'user.email=mina@harbor.test'];
const QUIETLY = ['--quiet', '--allow-empty'];
const DAY_MS = 86_400_000;

export type Run = { readonly exit: number; readonly out: string; readonly err: string };

/** A repository with a stack of one agent, a platform, and the commands run in checkouts of it. */
export async function open() {
  const sim = await platform();
  const main = temporaryFolder();
  const git = (...args: readonly string[]) => gitIn(main, ...args);
  git('init', '--quiet', '--initial-branch', 'main');
  /** Writes a file and commits everything, now or as if it were some days ago. */
  const commitFile = (path: string, text: string, message: string, daysAgo = 0) => {
    put(main, path, text);
    git('add', '.');
    const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
    execFileSync('git', ['-C', main, ...AS_MINA, 'commit', ...QUIETLY, '--message', message], {
      env: { ...process.env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at },
    });
    return git('rev-parse', 'HEAD');
  };
  /** Commits a prompt of the stack's agent, or a file of another folder. */
  const commit = (prompt: string, folder = STACK) => {
    const text = folder === STACK ? agents('Desk').replace('You are Desk.', prompt) : prompt;
    return commitFile(join(folder, 'agents.yaml'), text, prompt);
  };
  put(main, join(STACK, 'callsheet.yaml'), settings(0, 'stack: clinic\n'));
  put(main, join(STACK, '.gitignore'), '.callsheet/\n');
  const first = commit('One.');

  async function run(
    command: (context: Context) => Promise<number>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Run> {
    const { context, said } = contextFor(sim);
    const { CI_COMMIT_SHA: _, ...env } = context.env;
    const given = { ...context, env: { ...env, ...more } };
    const exit = await command(given).catch((error: unknown) =>
      reportFailure(error, context.terminal, false),
    );
    await checkPrinted(said.out);
    return { exit, ...said };
  }

  return {
    main,
    git,
    commit,
    commitFile,
    first,
    run,
    sim,
    prompt: () => [...sim.store.agents.values()][0]?.record.system_prompt,
    writes: () =>
      sim.requests.filter(
        ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
      ).length,
    /** Applies what a checkout has. */
    async apply(root = main, flags: object = {}) {
      const all = { ...textIn(root), autoApprove: true, ...flags } as const;
      const done = await run((to) => apply(undefined, all, to));
      expect(done.exit, done.err + done.out).toBe(0);
      return done;
    },
  };
}

export type World = Awaited<ReturnType<typeof open>>;

export function gitIn(dir: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', dir, ...AS_MINA, ...args], { encoding: 'utf8' }).trim();
}

export const textIn = (root: string) => ({ dir: join(root, STACK), format: 'text' }) as const;

/** All that a command printed, with its lines joined. */
export const inOneLine = ({ out, err }: Run) => `${out}${err}`.replace(/\s+/g, ' ');
