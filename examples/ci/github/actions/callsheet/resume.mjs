// Starts again what a freeze held back, once it has ended: the runs that applied merges and left a mark, the oldest first.
//   node resume.mjs   with NAME, FROZEN and GITHUB_TOKEN in the environment; FROZEN is the freeze of now
import { call } from './github.mjs';
import { annotate } from './runner.mjs';

const { NAME: name, FROZEN: frozen = '' } = process.env;
const marks = await findMarks();
if (marks.length === 0) process.stdout.write('No merge waits for the end of a freeze.\n');
else if (frozen !== '') {
  process.stdout.write(`Frozen ${frozen}: ${marks.length} merged and waiting.\n`);
} else {
  for (const { id, workflow_run: run } of marks) {
    try {
      await call('POST', `/actions/runs/${run.id}/rerun`);
      process.stdout.write(`Started run ${run.id} again.\n`);
    } catch (error) {
      const advice =
        'Run the workflow callsheet apply by hand: it plans everything that is pending.';
      annotate(
        'error',
        'A merge is not applied',
        `Run ${run.id} cannot be started again. ${advice} ${error.message}`,
      );
      process.exitCode = 1;
    }
    // Held back once more it leaves another mark.
    await call('DELETE', `/actions/artifacts/${id}`);
  }
}

async function findMarks() {
  const path = `/actions/artifacts?name=callsheet-frozen-${encodeURIComponent(name)}&per_page=100`;
  const { artifacts } = await call('GET', path);
  return artifacts
    .filter(({ expired }) => !expired)
    .sort((one, other) => one.workflow_run.id - other.workflow_run.id);
}
