import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { temporaryFolder } from '../temporary.ts';

/** A rollback says what takes the change back in Git, where it can tell. */

type Row = {
  readonly what: string;
  /** Between the first apply and the second: changes the greeting, and commits it. */
  readonly change: (stage: Stage) => Promise<unknown>;
  /** Between the second apply and the rollback. */
  readonly later?: (stage: Stage) => Promise<unknown>;
  /** The folder that the rollback is made in; that of the stack unless given. */
  readonly dir?: (stage: Stage) => string;
  /** The command, but for the commit; null: none fits. */
  readonly command: 'git revert' | 'git revert -m 1' | null;
};

const git = ({ folder }: Pick<Stage, 'folder'>, ...args: readonly string[]) => {
  const who = ['-c', 'user.name=ana', '-c', 'user.email=ana@harbor.test'];
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' }).trim();
};
const head = (stage: Stage) => git(stage, 'rev-parse', 'HEAD');
const commit = (stage: Stage, message: string) => {
  git(stage, 'add', '-A');
  git(stage, 'commit', '-q', '-m', message);
  return head(stage);
};
const greet = async (stage: Stage) => {
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  return commit(stage, 'Greet');
};
const merge = async (stage: Stage) => {
  git(stage, 'checkout', '-q', '-b', 'greet');
  await greet(stage);
  git(stage, 'checkout', '-q', 'main');
  git(stage, 'merge', '-q', '--no-ff', '-m', 'Merge greet', 'greet');
  return head(stage);
};
const shallow = temporaryFolder();

const ROWS: readonly Row[] = [
  { what: 'a commit', change: greet, command: 'git revert' },
  { what: 'a merge commit', change: merge, command: 'git revert -m 1' },
  {
    what: 'a merge commit in a shallow clone',
    change: merge,
    later: async (stage) => {
      git(stage, 'clone', '-q', '--depth', '1', pathToFileURL(stage.folder).href, shallow);
      const state = join(stage.folder, '.callsheet');
      execFileSync('cp', ['-r', state, join(shallow, '.callsheet')]);
    },
    dir: () => shallow,
    command: 'git revert -m 1',
  },
  {
    what: 'not what was not committed',
    change: (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
    command: null,
  },
  {
    what: 'not a commit that nobody knows',
    change: greet,
    later: async (stage) => {
      await rm(join(stage.folder, '.git'), { recursive: true });
      git(stage, 'init', '-q', '-b', 'main');
      commit(stage, 'Begin anew');
    },
    command: null,
  },
  {
    what: 'not a commit that a force push took away',
    change: greet,
    later: async (stage) => git(stage, 'reset', '-q', '--hard', 'HEAD~1'),
    command: null,
  },
  {
    what: 'not a commit that is reverted already',
    change: greet,
    later: async (stage) => git(stage, 'revert', '--no-edit', 'HEAD'),
    command: null,
  },
  {
    what: 'not a commit of another folder',
    change: async (stage) => {
      await greet(stage);
      git(stage, 'commit', '-q', '--allow-empty', '-m', 'Elsewhere');
      return head(stage);
    },
    command: null,
  },
];

for (const { what, change, later, dir = ({ folder }: Stage) => folder, command } of ROWS) {
  staged(`a rollback names the revert of ${what}`, async (stage) => {
    await stage.write('.gitignore', '.callsheet/\n');
    git(stage, 'init', '-q', '-b', 'main');
    commit(stage, 'Begin');
    await stage.apply();
    await change(stage);
    const pull = 'https://git.example.test/harbor/12';
    await stage.apply({}, { env: { CALLSHEET_PULL_REQUEST: pull } });
    await later?.(stage);
    const expected =
      command === null
        ? null
        : {
            commit: expect.stringMatching(/^[0-9a-f]{40}$/),
            pull_request: pull,
            command: expect.stringMatching(new RegExp(`^${command} [0-9a-f]{40}$`)),
          };
    const flags = { dir: dir(stage), autoApprove: true } as const;
    const shown = async (more: { format: 'text' | 'json' | 'markdown'; dryRun?: true }) =>
      stage.run((to) => rollback({ ...flags, ...more }, to));
    const planned = JSON.parse((await shown({ format: 'json', dryRun: true })).out);
    expect(planned.revert).toEqual(expected);
    const said =
      command === null
        ? 'Revert the change in Git'
        : `main still has this change (${pull}): \`${command} `;
    for (const format of ['text', 'markdown'] as const) {
      const { out } = await shown({ format, dryRun: true });
      expect(out.includes('main still has this change'), format).toBe(command !== null);
    }
    const { out, err } = await shown({ format: 'json' });
    expect(JSON.parse(out).revert).toEqual(expected);
    expect(err).toContain(said);
  });
}

staged('outside of Git it says none, and of a rollback of a rollback nothing', async (stage) => {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.apply();
  const flags = { dir: stage.folder, autoApprove: true, format: 'json' } as const;
  const { out } = await stage.run((to) => rollback(flags, to));
  const { run, revert } = JSON.parse(out);
  expect(revert).toBeNull();
  const again = await stage.run((to) => rollback({ ...flags, run }, to));
  expect(JSON.parse(again.out)).not.toHaveProperty('revert');
});
