// Writes the plan into a note of the merge request: into the one with its marker, or into a new one.
//   node callsheet-note.mjs PLAN.md PLAN.txt   with CALLSHEET_GITLAB_TOKEN and CALLSHEET_NAME in the environment
import { existsSync, readFileSync } from 'node:fs';

const { CI_API_V4_URL: api, CI_PROJECT_ID: project, CI_MERGE_REQUEST_IID: request } = process.env;
const { CI_COMMIT_SHA: commit = '', CI_PIPELINE_URL: pipeline } = process.env;
const { CALLSHEET_GITLAB_TOKEN: token, CALLSHEET_NAME: name = 'callsheet' } = process.env;
const notes = `${api}/projects/${project}/merge_requests/${request}/notes`;

/** Pages of a hundred notes that are looked through. */
const MOST_PAGES = 100;

if (!token) throw new Error('CALLSHEET_GITLAB_TOKEN is not set: pipeline.yml says what it is');
const marker = `<!-- callsheet:plan ${name.replace(/[^\w.-]+/g, '-').replace(/--+/g, '-')} -->`;
const body = `${marker}\n\n${planIn(...process.argv.slice(2))}\n\nCommit ${commit.slice(0, 12)} · [pipeline](${pipeline})\n`;
const known = await find();
const { id } =
  known === undefined
    ? await send('POST', notes, { body })
    : await send('PUT', `${notes}/${known.id}`, { body });
process.stdout.write(`${known === undefined ? 'Wrote' : 'Updated'} the note ${id}.\n`);

/** The plan without its own marker; where there is none, what went wrong. */
function planIn(page, problem) {
  const [plan, said] = [page, problem].map((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').trim() : '',
  );
  if (plan.startsWith('<!-- callsheet:')) return plan.replace(/^.*\n+/, '');
  const text =
    said.slice(-20_000) || 'The job ended before Callsheet had a result; its log says why.';
  const fence = '`'.repeat(1 + Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length)));
  return `### The plan failed\n\n${fence}text\n${text}\n${fence}`;
}

/** The token's own note with the marker. Nobody else's text counts. */
async function find() {
  const self = await send('GET', `${api}/user`);
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const found = await send('GET', `${notes}?sort=asc&per_page=100&page=${page}`);
    const ours = found.find(
      (note) => note.author.id === self.id && note.body.split('\n', 1)[0].trimEnd() === marker,
    );
    if (ours !== undefined || found.length < 100) return ours;
  }
  return undefined;
}

async function send(method, url, content) {
  const response = await fetch(url, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
