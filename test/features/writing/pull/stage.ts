import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Context } from '../../../../src/console/context.ts';
import type { PullDocument } from '../../../../src/core/documents.ts';
import type { JsonObject } from '../../../../src/core/value.ts';
import { type PullFlags, pull } from '../../../../src/features/writing/pull/command.ts';
import type { Said, Stage } from '../../../apply/stage.ts';
import { agentNamed } from '../../../e2e/clinic.ts';

/** A stack in which everything is written in a way of its own. */
export const FLEET = join(import.meta.dirname, 'fleet');

/** Git in the folder of a stage, whatever the machine's own settings are. */
export function git({ folder }: Pick<Stage, 'folder'>, ...args: readonly string[]): string {
  const own = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.test', '-c', 'core.autocrlf=false'];
  return execFileSync('git', ['-C', folder, ...who, ...args], {
    env: { ...process.env, ...own },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Puts the stack under Git as it is, all of it committed. */
export async function commitAll(stage: Stage): Promise<void> {
  await stage.write('.gitignore', '.callsheet/\n');
  git(stage, 'init', '-q');
  commit(stage);
}

export function commit(stage: Stage): void {
  git(stage, 'add', '-A');
  git(stage, 'commit', '-q', '-m', 'as it is');
}

type Options = {
  readonly exit?: number | 'any';
  readonly stop?: AbortSignal;
  readonly wire?: Context['wire'];
};

/** Runs pull; what it printed as a document. */
export async function pulled(
  stage: Stage,
  flags: Partial<PullFlags> & { readonly addresses?: readonly string[] } = {},
  { wire, ...options }: Options = {},
): Promise<PullDocument> {
  const { addresses = [], ...rest } = flags;
  const all: PullFlags = { dir: stage.folder, format: 'json', ...rest };
  const said: Said = await stage.run((to) => pull(addresses, all, to), {
    ...options,
    ...(wire && { outside: { wire } }),
  });
  return JSON.parse(said.out);
}

/** The id of the agent of a name. */
export const agentId = ({ sim }: Stage, name: string): string => agentNamed(sim, name).id;

/** What the dashboard shows of an agent. */
export function agentRecord(stage: Stage, name: string): JsonObject {
  return stage.sim.store.agents.get(agentId(stage, name))?.record ?? {};
}
