// Opens the merge request that reverts in Git what a rollback undid on the platform.
//   node callsheet-revert.mjs   with CALLSHEET_GITLAB_TOKEN, CALLSHEET_UNDONE, CALLSHEET_COMMIT and CALLSHEET_REASON
import { call } from './callsheet-api.mjs';

const {
  CALLSHEET_UNDONE: run,
  CALLSHEET_COMMIT: commit = '',
  CALLSHEET_REASON: reason,
} = process.env;
const { CI_DEFAULT_BRANCH: base } = process.env;
const branch = `callsheet-revert-${run}`;

if (!/^[0-9a-f]{40}$/.test(commit)) {
  process.stdout.write(
    `No commit of run ${run} can be reverted: it is unknown, or reverted already. If the files still have the change, take it out in a merge request: until then it is held.\n`,
  );
} else {
  if (await revert()) await open();
}

async function revert() {
  try {
    await call('POST', '/repository/branches', { branch, ref: base });
    await call('POST', `/repository/commits/${commit}/revert`, { branch });
    return true;
  } catch (error) {
    stop(
      `Commit ${commit.slice(0, 12)} of run ${run} cannot be reverted: ${error.message}`,
      `Run git fetch && git switch ${branch} && git revert ${commit} (with -m 1 for a merge), settle the conflicts and open a merge request.`,
    );
    return false;
  }
}

async function open() {
  const { web_url: url } = await call('POST', '/merge_requests', {
    source_branch: branch,
    target_branch: base,
    remove_source_branch: true,
    title: `Revert ${commit.slice(0, 12)}: run ${run} was rolled back`,
    description: `Run \`${run}\` was rolled back: ${text(reason)}\n\nThis reverts commit ${commit}. Until it is merged, what was undone is held: \`plan\` and \`apply\` refuse to write it again.`,
  });
  process.stdout.write(`Opened ${url}\n`);
}

/** What somebody typed: text, and no mention. */
function text(typed = '') {
  return typed.replace(/\s+/g, ' ').replace(/[<>@`[\]/]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

function stop(problem, advice) {
  process.stderr.write(
    `The platform is rolled back, and the revert is missing. ${problem} ${advice}\n`,
  );
  process.exitCode = 1;
}
