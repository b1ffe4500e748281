// Finds the plan that was reviewed in the pull request that a push merged.
//   node stored-plan.mjs   with NAME, ENVIRONMENT, WORKFLOW and GITHUB_TOKEN in the environment
// Outputs: pull-request, url; run-id and digest of the plan, passes-freeze where it is applied in a freeze, too; or what
// stands in the way as problem. None where another workflow carries it out: the pull request lacks WITH_LABEL, or has
// WITHOUT_LABEL. With OF_TREE a plan counts that some stacks of a tree had none in: the others are applied by it.
import { call, findPull, isOurs, list } from './github.mjs';
import { digestIn, isOpen, isPassingFreeze, markerOf } from './page.mjs';
import { annotate, setOutput } from './runner.mjs';

const { GITHUB_REPOSITORY: repository, GITHUB_SHA: sha, GITHUB_REF_NAME: branch } = process.env;
const { GITHUB_SERVER_URL: server } = process.env;
const { NAME: name, ENVIRONMENT: environment = '', WORKFLOW: workflow } = process.env;
const { WITH_LABEL: wanted = '', WITHOUT_LABEL: unwanted = '' } = process.env;
const isOfTree = Boolean(process.env.OF_TREE);
const BY_HAND = `Run the workflow ${wanted === '' ? `callsheet ${isOfTree ? '' : 'apply '}by hand` : 'callsheet rollout by hand, with start'}: it plans anew, shows the plan and waits for an approval.`;

const pull = await findPull(sha, branch);
const labels = (pull?.labels ?? []).map((label) => label.name);
if ((wanted !== '' && !labels.includes(wanted)) || labels.includes(unwanted)) {
  const which = wanted || unwanted;
  const has = labels.includes(which) ? 'has' : 'does not have';
  process.stdout.write(`The pull request ${has} the label ${which}: another workflow does this.\n`);
} else if (pull === undefined)
  stop(`${sha} was pushed without a pull request, so no plan was reviewed.`);
else if (await isApplied(pull)) {
  process.stdout.write(
    `Pull request ${pull.number} is applied already: its comment says by which run.\n`,
  );
} else {
  setOutput('pull-request', pull.number);
  setOutput('url', `${server}/${repository}/pull/${pull.number}`);
  const run = pull.head.repo?.full_name === repository ? await findRun(pull) : undefined;
  const page = run === undefined ? '' : await findPage(pull);
  const digest = digestIn(page);
  if (run !== undefined && run.status !== 'completed') {
    stop(`Pull request ${pull.number} was merged while run ${run.id} still planned it.`);
  } else if (run?.conclusion !== 'success' && !(isOfTree && run?.conclusion === 'failure')) {
    stop(
      `No plan went well of ${pull.head.sha}, with which pull request ${pull.number} was merged.`,
    );
  } else if (!(await isKept(run))) {
    stop(`The plan of ${pull.head.sha} is no longer kept, or run ${run.id} had none of ${name}.`);
  } else if (digest === undefined) {
    stop(`No comment of pull request ${pull.number} has the digest of a plan that can be applied.`);
  } else {
    setOutput('run-id', run.id);
    setOutput('digest', digest);
    setOutput('passes-freeze', isPassingFreeze(page) ? 'true' : '');
    process.stdout.write(`Pull request ${pull.number}, run ${run.id}, ${digest}\n`);
  }
}

/**
 * The newest run of the workflow that plans, on the very commit that was merged. What a label starts afterwards has
 * nothing to plan and is skipped, and nobody saw it before the merge.
 */
async function findRun({ head, merged_at: merged }) {
  const query = `event=pull_request&head_sha=${head.sha}&per_page=100`;
  const path = `/actions/workflows/${encodeURIComponent(workflow)}/runs?${query}`;
  const { workflow_runs: runs } = await call('GET', path);
  return runs
    .filter((run) => run.head_sha === head.sha && run.head_repository?.full_name === repository)
    .filter((run) => run.conclusion !== 'skipped')
    .filter((run) => Date.parse(run.created_at) <= Date.parse(merged))
    .sort((one, other) => other.run_number - one.run_number)[0];
}

async function isKept({ id }) {
  const path = `/actions/runs/${id}/artifacts?name=callsheet-plan-${encodeURIComponent(name)}`;
  const { artifacts } = await call('GET', path);
  return artifacts.some(({ expired }) => !expired);
}

/** By its own run, or by one that applied all of main since. */
async function isApplied({ number }) {
  const marker = markerOf({ command: 'apply', name, environment });
  for await (const comment of list(`/issues/${number}/comments`)) {
    if (isOurs(comment, marker)) return !isOpen(comment.body);
  }
  return false;
}

/** What people saw: the pipeline's own comment, with the digest at its end. */
async function findPage({ number }) {
  const marker = markerOf({ command: 'plan', name, environment });
  for await (const comment of list(`/issues/${number}/comments`)) {
    if (isOurs(comment, marker)) return comment.body;
  }
  return '';
}

function stop(problem) {
  setOutput('problem', `${problem}\n${BY_HAND}`);
  annotate('error', 'There is no reviewed plan to apply', `${problem} ${BY_HAND}`);
  process.exitCode = 1;
}
