// What a plan says to a pipeline.
//   node callsheet-plan.mjs frozen PLAN.json           fails unless a freeze alone stands against the plan
//   node callsheet-plan.mjs passes-freeze PLAN.json     fails unless the plan is applied in a freeze, too
//   node callsheet-plan.mjs ways PLAN.json             what lets the plan pass its guards, for its note
//   node callsheet-plan.mjs waits PLAN.json            what an apply of it leaves for later
//   node callsheet-plan.mjs pending PLAN.json FOLDER   what of main is not live, for callsheet-issue.mjs
import { readFileSync } from 'node:fs';
import {
  describeFreeze,
  describeWays,
  findFreezeAlone,
  findPending,
  findWaiting,
  findWays,
} from './pending.mjs';

const [command, file, folder] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file, 'utf8'));
if (command === 'pending') process.stdout.write(JSON.stringify(findPending(plan, folder)));
else if (command === 'passes-freeze') {
  if (plan.options.override_freeze === undefined) process.exitCode = 1;
} else if (command === 'ways') process.stdout.write(describeWays(findWays(plan)));
else if (command === 'waits') {
  const waits = findWaiting(plan);
  if (waits !== '') process.stdout.write(`Applied; ${waits}.\n`);
} else {
  const frozen = describeFreeze(findFreezeAlone(plan));
  if (frozen === '') process.exitCode = 1;
  else process.stdout.write(`Frozen ${frozen}: the plan is kept. Start callsheet-apply then.\n`);
}
