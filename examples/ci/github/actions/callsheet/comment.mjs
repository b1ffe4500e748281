// Writes a page into a comment of a pull request: into the one with its marker, or into a new one.
//   node comment.mjs PAGE COMMAND   with PULL_REQUEST, NAME, ENVIRONMENT and GITHUB_TOKEN in the environment
import { existsSync, readFileSync } from 'node:fs';
import { call, firstLineOf, isOurs, list } from './github.mjs';
import { pageOf } from './page.mjs';

const { PULL_REQUEST: number, NAME: name, ENVIRONMENT: environment = '', PROBLEM } = process.env;
const [file, command] = process.argv.slice(2);

const page = existsSync(file) ? readFileSync(file, 'utf8') : withoutPage();
const marker = firstLineOf(page);
const known = await find();
const comment =
  known === undefined
    ? await call('POST', `/issues/${number}/comments`, { body: page })
    : await call('PATCH', `/issues/comments/${known.id}`, { body: page });
process.stdout.write(`${known === undefined ? 'Wrote' : 'Updated'} ${comment.html_url}\n`);

async function find() {
  for await (const comment of list(`/issues/${number}/comments`)) {
    if (isOurs(comment, marker)) return comment;
  }
  return undefined;
}

/** The job before ended without a result. What it said the last time must not stand any longer. */
function withoutPage() {
  const err = PROBLEM || 'The job ended before Callsheet had a result; its log says why.';
  return pageOf({ command, name, environment, exit: 1, out: '', err, digest: '' }, process.env);
}
