// Writes a page into a comment of a pull request: into the one with its marker, or into a new one.
//   node comment.mjs PAGE COMMAND   with PULL_REQUEST, NAME, ENVIRONMENT and GITHUB_TOKEN in the environment
// Without PULL_REQUEST it is the comment, wherever it is, that tells of the same rollout. An apply of all of main writes into
// every comment that says that something of its merge is not live.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { call, firstLineOf, isOurs, list } from './github.mjs';
import { isNews, isOpen, pageOf } from './page.mjs';

const { PULL_REQUEST: number, NAME: name, ENVIRONMENT: environment = '' } = process.env;
const { PROBLEM: problem = '', FROZEN: frozen = '', RESUMES: resumes = '' } = process.env;
/** Comments that are looked through for merges that are not live, the newest first. */
const MOST_COMMENTS = 1_000;
const [file, command] = process.argv.slice(2);

const page = existsSync(file) ? readFileSync(file, 'utf8') : withoutPage();
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, page);
const marker = firstLineOf(page);
const known = number ? await find() : command === 'apply' ? undefined : await findRollout();
if (!number && command === 'apply') await settle();
else if (known === undefined && !number) {
  process.stdout.write('No comment tells of it: it was not started by a pull request.\n');
} else if (known !== undefined && (!isNews(page, known.body) || (await isOver()))) {
  process.stdout.write(`${known.html_url ?? 'The comment'} stands: it has the later result.\n`);
} else {
  const comment =
    known === undefined
      ? await call('POST', `/issues/${number}/comments`, { body: page })
      : await call('PATCH', `/issues/comments/${known.id}`, { body: page });
  process.stdout.write(`${known === undefined ? 'Wrote' : 'Updated'} ${comment.html_url}\n`);
}

async function find() {
  for await (const comment of list(`/issues/${number}/comments`)) {
    if (isOurs(comment, marker)) return comment;
  }
  return undefined;
}

/** What was merged is no longer planned: its comment has the plan that was reviewed. */
async function isOver() {
  if (command !== 'plan') return false;
  const { merged_at: merged } = await call('GET', `/pulls/${number}`);
  return Boolean(merged);
}

/** What main had is applied, and with it whatever was merged before. */
async function settle() {
  let left = MOST_COMMENTS;
  for await (const comment of list('/issues/comments?sort=created&direction=desc')) {
    left -= 1;
    if (left < 0) return;
    if (!isOurs(comment, marker) || !isOpen(comment.body)) continue;
    const { html_url: url } = await call('PATCH', `/issues/comments/${comment.id}`, { body: page });
    process.stdout.write(`Updated ${url}\n`);
  }
}

/** Of the whole repository, the newest first. */
async function findRollout() {
  const ids = rolloutsIn(page);
  if (ids.length === 0) return undefined;
  for await (const comment of list('/issues/comments?sort=created&direction=desc')) {
    const isOf = isOurs(comment, marker) && rolloutsIn(comment.body).some((id) => ids.includes(id));
    if (isOf) return comment;
  }
  return undefined;
}

/** The rollouts that a page tells of. */
function rolloutsIn(text) {
  return [...text.matchAll(/^<!-- callsheet:rollout-id ([\w-]+) -->$/gm)].map(([, id]) => id);
}

/** The job before ended without a result. What it said the last time must not stand any longer. */
function withoutPage() {
  const isKnown = problem !== '' || frozen !== '';
  const err = isKnown ? '' : 'The job ended before Callsheet had a result; its log says why.';
  const told = { problem, frozen, resumes: resumes === 'true' };
  const exit = frozen === '' ? 1 : 4;
  return pageOf(
    { command, name, environment, exit, out: '', err, digest: '', ...told },
    process.env,
  );
}
