// One issue for drift: opened when there is some, kept up to date, closed when there is none any more.
//   node issue.mjs PAGE   with EXIT_CODE, NAME, ENVIRONMENT and GITHUB_TOKEN in the environment
import { readFileSync } from 'node:fs';
import { call, isOurs, list } from './github.mjs';
import { markerOf } from './page.mjs';
import { annotate } from './runner.mjs';

const { EXIT_CODE: exit, NAME: name, ENVIRONMENT: environment = '' } = process.env;
const {
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: repository,
  GITHUB_RUN_ID: run,
} = process.env;
const marker = markerOf({ command: 'drift', name, environment });
const open = await find();
if (exit === '2') await report(readFileSync(process.argv[2], 'utf8'));
else if (exit === '0') await close();
else annotate('warning', 'Drift is unknown', `callsheet drift ended with ${exit || 'no result'}.`);

async function find() {
  for await (const issue of list('/issues?state=open&sort=created&direction=asc')) {
    // Pull requests are issues, too.
    if (issue.pull_request === undefined && isOurs(issue, marker)) return issue;
  }
  return undefined;
}

async function report(body) {
  const title = `Drift in ${[name, environment].filter((word) => word !== '').join(' ')}`;
  const issue =
    open === undefined
      ? await call('POST', '/issues', { title, body })
      : await call('PATCH', `/issues/${open.number}`, { body });
  process.stdout.write(`${open === undefined ? 'Opened' : 'Updated'} ${issue.html_url}\n`);
}

async function close() {
  if (open === undefined) {
    process.stdout.write('No drift, and no issue about it.\n');
    return;
  }
  const at = `[job ${run}](${server}/${repository}/actions/runs/${run})`;
  await call('POST', `/issues/${open.number}/comments`, { body: `No drift any more: ${at}.` });
  await call('PATCH', `/issues/${open.number}`, { state: 'closed', state_reason: 'completed' });
  process.stdout.write(`Closed ${open.html_url}\n`);
}
