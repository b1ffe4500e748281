// Which guards the plan of this job may pass, and by whom: the labels of its pull request, or the inputs of who started it.
//   node allowances.mjs   with GITHUB_TOKEN in the environment where there are labels
// Outputs: flags, one a line; allowed-by for CALLSHEET_ALLOWED_BY; not-allowed, the labels that do not count, and why.
// Labels are those of the event: one that is set later is for a later plan.
import { readFileSync } from 'node:fs';
import { call, list } from './github.mjs';
import { GUARDS } from './guards.mjs';
import { annotate, setOutput } from './runner.mjs';

const { GITHUB_ACTOR: actor, GITHUB_EVENT_PATH: file, GITHUB_REPOSITORY: repository } = process.env;
const { pull_request: pull, merge_group: group, inputs } = JSON.parse(readFileSync(file, 'utf8'));

const found = inputs ? readInputs() : await readLabels(pull ?? (await findQueued()));
const allowed = found.filter(({ why }) => why === undefined);
const refused = found.filter(({ why }) => why !== undefined);
const sentences = refused.map(
  ({ guard, why }) => `The label ${guard.label} does not count: ${why}.`,
);
setOutput('flags', allowed.map(({ guard, reason }) => spell(guard, reason)).join('\n'));
setOutput('allowed-by', allowed.map(({ guard, by }) => `${guard.name}=${by}`).join(','));
setOutput('not-allowed', sentences.join('\n'));
for (const sentence of sentences) annotate('warning', 'A label does not count', sentence);

function spell({ flag, takesReason }, reason) {
  return takesReason ? `${flag}=${reason.replace(/\s+/g, ' ')}` : flag;
}

/** Who may start a workflow by hand may write. */
function readInputs() {
  return GUARDS.flatMap((guard) => {
    const given = String(inputs[guard.name] ?? '').trim();
    const isGiven = guard.takesReason ? given !== '' : given === 'true';
    return isGiven ? [{ guard, by: actor, reason: given }] : [];
  });
}

async function readLabels(request) {
  const names = (request?.labels ?? []).map(({ name }) => name);
  const wanted = GUARDS.filter(({ label }) => names.includes(label));
  if (wanted.length === 0) return [];
  const { number, title, head } = request;
  if (head.repo?.full_name !== repository)
    return wanted.map((guard) => ({ guard, why: 'the pull request is from a fork' }));
  const setters = await findSetters(number);
  const reason = `${title} (#${number})`;
  return Promise.all(
    wanted.map(async (guard) => {
      const by = setters.get(guard.label);
      return { guard, by, reason, why: await whyNot(by) };
    }),
  );
}

/** Who set each label that is set now. */
async function findSetters(number) {
  const setters = new Map();
  for await (const { event, label, actor: who } of list(`/issues/${number}/events`)) {
    if (event === 'labeled') setters.set(label.name, who?.login);
    else if (event === 'unlabeled') setters.delete(label.name);
  }
  return setters;
}

/** Why a label of somebody does not count; undefined where it does. */
async function whyNot(login) {
  if (login === undefined) return 'it is not known who set it, or it was taken away';
  const path = `/collaborators/${encodeURIComponent(login)}/permission`;
  const { permission } = await call('GET', path);
  return ['write', 'admin'].includes(permission)
    ? undefined
    : `${login}, who set it, may not write to the repository`;
}

/** A merge queue has groups of one pull request, which their branch names. */
async function findQueued() {
  const number = /\/pr-(\d+)-[0-9a-f]+$/.exec(group?.head_ref ?? '')?.[1];
  return number === undefined ? undefined : call('GET', `/pulls/${number}`);
}
