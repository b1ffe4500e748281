// Writes a page into a comment of a pull request: into the one with its marker, or into a new one.
//   node comment.mjs PAGE COMMAND   with PULL_REQUEST, NAME, ENVIRONMENT and GITHUB_TOKEN in the environment
// Without PULL_REQUEST it is the comment, wherever it is, that tells of the same rollout.
import { existsSync, readFileSync } from 'node:fs';
import { call, firstLineOf, isOurs, list } from './github.mjs';
import { pageOf } from './page.mjs';

const { PULL_REQUEST: number, NAME: name, ENVIRONMENT: environment = '', PROBLEM } = process.env;
const [file, command] = process.argv.slice(2);

const page = existsSync(file) ? readFileSync(file, 'utf8') : withoutPage();
const marker = firstLineOf(page);
const known = number ? await find() : await findRollout();
if (known === undefined && !number) {
  process.stdout.write('No comment tells of it: it was not started by a pull request.\n');
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
  return [...text.matchAll(/^- Rollout <code>([\w-]+)<\/code>/gm)].map(([, id]) => id);
}

/** The job before ended without a result. What it said the last time must not stand any longer. */
function withoutPage() {
  const err = PROBLEM || 'The job ended before Callsheet had a result; its log says why.';
  return pageOf({ command, name, environment, exit: 1, out: '', err, digest: '' }, process.env);
}
