// Opens the pull request that reverts in Git what a rollback undid on the platform.
//   node revert.mjs   with RUN, COMMIT, REASON, ROLLED_BACK and GITHUB_TOKEN in the environment, in a clone with history
import { execFileSync } from 'node:child_process';
import { call } from './github.mjs';
import { annotate, summarise } from './runner.mjs';

const { RUN: run, COMMIT: commit, REASON: reason = '', ROLLED_BACK: by = '' } = process.env;
const {
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: repository,
  GITHUB_REF_NAME: base,
  GITHUB_TOKEN: token,
} = process.env;
const branch = `callsheet-revert-${run}`;
const isCommit = /^[0-9a-f]{40}$/.test(commit ?? '');
const isMerge = isCommit && git('rev-list', '--parents', '-1', commit).trim().split(' ').length > 2;
const command = ['git', 'revert', '--no-edit', ...(isMerge ? ['-m', '1'] : []), commit];

if (!isCommit) {
  const what = `No commit of run ${run} can be reverted: it is unknown, or reverted already.`;
  const then =
    'If the files still have the change, take it out in a pull request: until then it is held.';
  summarise(`### There is no revert\n\n${what} ${then}`);
  annotate('warning', 'There is no revert', `The platform is rolled back. ${what} ${then}`);
} else {
  git('config', 'user.name', 'github-actions[bot]');
  git('config', 'user.email', '41898282+github-actions[bot]@users.noreply.github.com');
  git('checkout', '--quiet', '-b', branch);
  await revert();
}

async function revert() {
  try {
    git(...command.slice(1));
  } catch {
    git('revert', '--abort');
    stop(
      `Commit ${commit.slice(0, 12)} of run ${run} cannot be reverted without a conflict.`,
      `Run \`git switch -c ${branch} ${base} && ${command.join(' ')}\`, settle the conflicts and open a pull request.`,
    );
    return;
  }
  // The token is in the environment of git, and in no argument that a list of processes shows.
  git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
  await open();
}

async function open() {
  const title = `Revert ${subject()}`;
  const body = [
    `Run \`${run}\` was rolled back${by === '' ? '' : ` by run \`${by}\``}: ${text(reason)}`,
    `This reverts commit ${commit}. Until it is merged, what was undone is held: \`plan\` and \`apply\` refuse to write it again.`,
    'A pull request of this token starts no workflow: close it and open it again, so that it is planned.',
  ].join('\n\n');
  try {
    const pull = await call('POST', '/pulls', { title, body, head: branch, base });
    summarise(`### The revert\n\n${pull.html_url}`);
    process.stdout.write(`Opened ${pull.html_url}\n`);
  } catch (error) {
    // The setting “Allow GitHub Actions to create pull requests” may be off.
    stop(
      `The branch ${branch} has the revert, and no pull request: ${error.message}`,
      `Open it: ${server}/${repository}/compare/${base}...${branch}?expand=1`,
    );
  }
}

function subject() {
  return `“${git('log', '-1', '--format=%s', commit).trim().slice(0, 100)}”`;
}

/** What somebody typed: text, and no mention. */
function text(typed) {
  return typed.replace(/\s+/g, ' ').replace(/[<>@`[\]]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

function stop(problem, advice) {
  summarise(`### The revert is missing\n\n${problem} ${advice}`);
  annotate('error', 'The revert is missing', `The platform is rolled back. ${problem} ${advice}`);
  process.exitCode = 1;
}

function git(...args) {
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  return execFileSync('git', args, {
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${server}/.extraheader`,
      GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
    },
  });
}
