// One issue for what is merged and not live: opened, kept up to date, closed when there is nothing any more.
//   node callsheet-issue.mjs LIST   with CALLSHEET_GITLAB_TOKEN and CALLSHEET_NAME; the list is what callsheet-plan.mjs wrote
import { readFileSync } from 'node:fs';
import { call, findOurs, markerOf } from './callsheet-api.mjs';
import { pendingPage, pendingTitle } from './pending.mjs';

const { CALLSHEET_NAME: name = 'callsheet', CI_COMMIT_BRANCH: branch } = process.env;
const { CI_PIPELINE_URL: pipeline } = process.env;
const WAYS = {
  label: 'plan main with it: run a pipeline of it with CALLSHEET_ALLOW_DELETE=true',
  apply: 'an apply: start callsheet-apply',
  advice: `Run a pipeline of ${branch} and start its job callsheet-apply: it applies everything that is pending. The job callsheet-drift of the [pipeline](${pipeline}) has the whole plan.`,
};

const pending = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const marker = markerOf('pending');
const open = await findOurs('/issues?state=opened&sort=asc&', marker, (issue) => issue.description);
if (pending.length === 0) await close();
else await report();

async function report() {
  const page = pendingPage(pending, { branch, merges: await findMerges(), ways: WAYS });
  const title = `${pendingTitle(pending, branch)} (${name})`;
  const content = { title, description: `${marker}\n\n${page}` };
  const { web_url: url } =
    open === undefined
      ? await call('POST', '/issues', content)
      : await call('PUT', `/issues/${open.iid}`, content);
  process.stdout.write(`${open === undefined ? 'Opened' : 'Updated'} ${url}\n`);
}

async function findMerges() {
  const merges = new Map();
  for (const { commit } of pending) {
    if (commit === null || merges.has(commit.id)) continue;
    const found = await call('GET', `/repository/commits/${commit.id}/merge_requests`);
    const merged = found.find(
      ({ state, target_branch: to }) => state === 'merged' && to === branch,
    );
    if (merged !== undefined) merges.set(commit.id, `!${merged.iid}`);
  }
  return merges;
}

async function close() {
  if (open === undefined) {
    process.stdout.write(`Everything on ${branch} is live, and no issue says otherwise.\n`);
    return;
  }
  const body = `Everything on ${branch} is live: [pipeline](${pipeline}).`;
  await call('POST', `/issues/${open.iid}/notes`, { body });
  await call('PUT', `/issues/${open.iid}`, { state_event: 'close' });
  process.stdout.write(`Closed ${open.web_url}\n`);
}
