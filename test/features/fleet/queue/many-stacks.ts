import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnv } from '../../../../src/run/actor.ts';
import { temporaryFolder } from '../../../temporary.ts';

export type ManyStacks = {
  readonly stacks: number;
  readonly agents: number;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** What `callsheet.yaml` has beside the organization, by the name of the stack. */
  readonly more?: (stack: string) => string;
};

/** A checkout of a repository with that many stacks of that many agents, until the test is over. */
export function manyStacks({ stacks, agents, organizations, more = () => '' }: ManyStacks): string {
  const root = temporaryFolder();
  for (let at = 0; at < stacks; at += 1) {
    const name = `clinic-${String(at).padStart(3, '0')}`;
    mkdirSync(join(root, name));
    const { id } = organizations[at % organizations.length] ?? { id: '' };
    const head = `callsheet: 1\norganization: ${id}\n${more(name)}`;
    writeFileSync(join(root, name, 'callsheet.yaml'), head);
    writeFileSync(join(root, name, 'agents.yaml'), agentsOf(name, agents));
  }
  writeFileSync(join(root, '.gitignore'), '.callsheet/\n');
  commitAll(root);
  return root;
}

/** Commits everything in a checkout. */
export function commitAll(root: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { env: gitEnv(), stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.test'];
  git(...who, 'commit', '--quiet', '--allow-empty', '--message', 'Stacks');
}

function agentsOf(stack: string, count: number): string {
  const lines = Array.from({ length: count }, (_, at) =>
    [
      `  desk_${at}:`,
      `    name: ${stack} desk ${at}`,
      '    agent_type: receptionist',
      '    model: alpha-4.1',
      `    system_prompt: You are desk ${at} of ${stack}.`,
    ].join('\n'),
  );
  return `agents:\n${lines.join('\n')}\n`;
}
