// Writes the plan into a note of the merge request: into the one with its marker, or into a new one.
//   node callsheet-note.mjs PLAN.md PLAN.txt WAYS.md   with CALLSHEET_GITLAB_TOKEN and CALLSHEET_NAME in the environment
import { existsSync, readFileSync } from 'node:fs';
import { call, findOurs, markerOf } from './callsheet-api.mjs';

const { CI_MERGE_REQUEST_IID: request, CI_COMMIT_SHA: commit = '' } = process.env;
const { CI_PIPELINE_URL: url, CI_PIPELINE_ID: pipeline = '' } = process.env;
const notes = `/merge_requests/${request}/notes`;
const marker = markerOf('plan');
const body = `${marker}\n\n${planIn(...process.argv.slice(2))}\n\nCommit ${commit.slice(0, 12)} · [pipeline ${pipeline}](${url})\n`;
const known = await findOurs(`${notes}?sort=asc&`, marker, (note) => note.body);
if (known !== undefined && pipelineIn(known.body) > Number(pipeline)) {
  // A job of an older pipeline, started again.
  process.stdout.write(`The note ${known.id} stands: it has the later plan.\n`);
} else {
  const { id } =
    known === undefined
      ? await call('POST', notes, { body })
      : await call('PUT', `${notes}/${known.id}`, { body });
  process.stdout.write(`${known === undefined ? 'Wrote' : 'Updated'} the note ${id}.\n`);
}

/** The pipeline that wrote a note, by its number: later ones have higher numbers. 0 for a note that names none. */
function pipelineIn(text) {
  return Number(/\[pipeline (\d+)\]\(\S+\)\s*$/.exec(text)?.[1] ?? 0);
}

/** The plan without its own marker; where there is none, what went wrong. */
function planIn(...files) {
  const [plan, said, ways] = files.map((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').trim() : '',
  );
  if (plan.startsWith('<!-- callsheet:'))
    return plan.replace(/^.*\n+/, ways === '' ? '' : `${ways}\n\n`);
  const text =
    said.slice(-20_000) || 'The job ended before Callsheet had a result; its log says why.';
  const fence = '`'.repeat(1 + Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length)));
  return `### The plan failed\n\n${fence}text\n${text}\n${fence}`;
}
