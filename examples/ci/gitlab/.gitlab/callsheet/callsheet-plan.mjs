// What a plan says to a pipeline.
//   node callsheet-plan.mjs frozen PLAN.json           fails unless a freeze alone stands against the plan
//   node callsheet-plan.mjs waits PLAN.json            what an apply of it leaves for later
//   node callsheet-plan.mjs pending PLAN.json FOLDER   what of main is not live, for callsheet-issue.mjs
import { readFileSync } from 'node:fs';
import { describeFreeze, findFreezeAlone, findPending, findWaiting } from './pending.mjs';

const [command, file, folder] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file, 'utf8'));
if (command === 'pending') process.stdout.write(JSON.stringify(findPending(plan, folder)));
else if (command === 'waits') {
  const waits = findWaiting(plan);
  if (waits !== '') process.stdout.write(`Applied; ${waits}.\n`);
} else {
  const frozen = describeFreeze(findFreezeAlone(plan));
  if (frozen === '') process.exitCode = 1;
  else process.stdout.write(`Frozen ${frozen}: the plan is kept. Start callsheet-apply then.\n`);
}
