// Who approved what is applied: reviewers of the pull request, and of the environment.
//   node approvals.mjs   with PULL_REQUEST, empty without one, and GITHUB_TOKEN in the environment. Output: approved-by
import { call, list } from './github.mjs';
import { annotate, setOutput } from './runner.mjs';

const { PULL_REQUEST: number = '', GITHUB_RUN_ID: run } = process.env;
try {
  const logins = [...(number === '' ? [] : await listReviewers()), ...(await listApprovers())];
  setOutput('approved-by', [...new Set(logins)].join(','));
} catch (error) {
  // A receipt without them is no reason to leave a merge unapplied.
  annotate('warning', 'It is not recorded who approved this', error.message);
}

/** Those whose last word on the pull request is an approval; what only comments is no word. */
async function listReviewers() {
  const last = new Map();
  for await (const { user, state } of list(`/pulls/${number}/reviews`)) {
    if (user !== null && state !== 'COMMENTED') last.set(user.login, state);
  }
  return [...last].flatMap(([login, state]) => (state === 'APPROVED' ? [login] : []));
}

async function listApprovers() {
  const approvals = await call('GET', `/actions/runs/${run}/approvals`);
  return approvals.flatMap(({ state, user }) => (state === 'approved' && user ? [user.login] : []));
}
