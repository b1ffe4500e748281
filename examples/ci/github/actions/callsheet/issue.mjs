// One issue for drift, or for what is merged and not live: opened, kept up to date, closed when there is none any more.
//   node issue.mjs drift PAGE     with EXIT_CODE, NAME, ENVIRONMENT and GITHUB_TOKEN in the environment
//   node issue.mjs pending LIST   the list is what run.mjs wrote
import { existsSync, readFileSync } from 'node:fs';
import { call, findPull, isOurs, list } from './github.mjs';
import { footOf, markerOf } from './page.mjs';
import { pendingPage, pendingTitle } from './pending.mjs';
import { annotate } from './runner.mjs';

const { EXIT_CODE: exit, NAME: name, ENVIRONMENT: environment = '' } = process.env;
const { GITHUB_REF_NAME: branch } = process.env;
const [command, file] = process.argv.slice(2);
const WAYS = {
  label: 'run callsheet apply by hand with “allow-delete”',
  apply: 'an apply: run callsheet apply by hand',
  advice:
    'Run the workflow callsheet apply by hand: it plans everything that is pending, shows the plan and waits for an approval. The job of this issue has the whole plan.',
};

const marker = markerOf({ command, name, environment });
const stack = [name, environment].filter((word) => word !== '').join(' ');
const open = await find();
const wanted = command === 'pending' ? await readPending() : readDrift();
if (wanted === undefined) {
  const what = command === 'drift' ? 'Drift is unknown' : 'It is unknown what is pending';
  annotate('warning', what, `Callsheet ended with ${exit || 'no result'}.`);
} else if (wanted.body === '') await close(wanted.title);
else await report(wanted);

async function find() {
  for await (const issue of list('/issues?state=open&sort=created&direction=asc')) {
    // Pull requests are issues, too.
    if (issue.pull_request === undefined && isOurs(issue, marker)) return issue;
  }
  return undefined;
}

/** The issue that there should be; without a body there should be none, and with none it is not known. */
function readDrift() {
  if (exit === '0') return { title: 'No drift', body: '' };
  return exit === '2'
    ? { title: `Drift in ${stack}`, body: readFileSync(file, 'utf8') }
    : undefined;
}

async function readPending() {
  if (!existsSync(file)) return undefined;
  const pending = JSON.parse(readFileSync(file, 'utf8'));
  if (pending.length === 0) return { title: `Everything on ${branch} is live`, body: '' };
  const merges = new Map();
  for (const { commit } of pending) {
    if (commit === null || merges.has(commit.id)) continue;
    const pull = await findPull(commit.id, branch);
    if (pull !== undefined) merges.set(commit.id, `#${pull.number}`);
  }
  const page = pendingPage(pending, { branch, merges, ways: WAYS });
  return {
    title: `${pendingTitle(pending, branch)} (${stack})`,
    body: `${marker}\n\n${page}\n\n${footOf({ err: '' }, process.env)}`,
  };
}

async function report({ title, body }) {
  const issue =
    open === undefined
      ? await call('POST', '/issues', { title, body })
      : await call('PATCH', `/issues/${open.number}`, { title, body });
  process.stdout.write(`${open === undefined ? 'Opened' : 'Updated'} ${issue.html_url}\n`);
}

async function close(what) {
  if (open === undefined) {
    process.stdout.write(`${what}, and no issue about it.\n`);
    return;
  }
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: repository,
    GITHUB_RUN_ID: run,
  } = process.env;
  const at = `[job ${run}](${server}/${repository}/actions/runs/${run})`;
  const body = `${what}${command === 'drift' ? ' any more' : ''}: ${at}.`;
  await call('POST', `/issues/${open.number}/comments`, { body });
  await call('PATCH', `/issues/${open.number}`, { state: 'closed', state_reason: 'completed' });
  process.stdout.write(`Closed ${open.html_url}\n`);
}
