import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { fakeGithub, type Labelled } from './github.ts';
import { EXAMPLES } from './place.ts';
import { spawnStep } from './spawn.ts';
import { readOutputs } from './surroundings.ts';

const LABEL = 'callsheet-override-limits';

const set = (login: string | null, name = LABEL): Labelled => ({
  event: 'labeled',
  label: { name },
  actor: login === null ? null : { login },
});

const taken: Labelled = { event: 'unlabeled', label: { name: LABEL }, actor: { login: 'bo' } };

type Row = readonly [what: string, labelled: readonly Labelled[], fork: boolean, why: string];

/** Runs the script that decides what the plan of an event may pass. */
async function decide(
  payload: object,
  labelled: readonly Labelled[] = [],
  permissions: Readonly<Record<string, string>> = {},
) {
  const github = await fakeGithub();
  github.labelled.set(7, [...labelled]);
  for (const [login, permission] of Object.entries(permissions))
    github.permissions.set(login, permission);
  const folder = temporaryFolder();
  const [event, output] = ['event.json', 'output'].map((name) => join(folder, name));
  writeFileSync(event ?? '', JSON.stringify(payload));
  writeFileSync(output ?? '', '');
  const script = join(EXAMPLES, 'github/actions/callsheet/allowances.mjs');
  const { exit, log } = await spawnStep([process.execPath, script], {
    cwd: folder,
    env: {
      GITHUB_ACTOR: 'kim',
      GITHUB_API_URL: github.url,
      GITHUB_EVENT_PATH: event ?? '',
      GITHUB_OUTPUT: output ?? '',
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_TOKEN: 'job-token',
    },
  });
  expect(exit, log).toBe(0);
  return { ...readOutputs(readFileSync(output ?? '', 'utf8')), log };
}

const pull = (labels: readonly string[], from = 'acme/agents') => ({
  pull_request: {
    number: 7,
    title: 'Spring\n$(id) --allow-delete',
    head: { repo: { full_name: from } },
    labels: labels.map((name) => ({ name })),
  },
});

test('a label of somebody who may write counts, with title and number as the reason', async () => {
  const labels = [LABEL, 'callsheet-allow-delete', 'bug', 'callsheet-unknown'];
  const events = [set('mo'), taken, set('ana'), set('bo', 'callsheet-allow-delete')];
  expect(await decide(pull(labels), events, { mo: 'read' })).toMatchObject({
    flags: '--allow-delete\n--override-limits=Spring $(id) --allow-delete (#7)',
    'allowed-by': 'allow-delete=bo,override-limits=ana',
    'not-allowed': '',
  });
});

const rows: readonly Row[] = [
  ['set by who may not write', [set('mallory')], false, 'mallory, who set it, may not write'],
  ['of a fork', [set('ana')], true, 'the pull request is from a fork'],
  ['taken away since', [set('ana'), taken], false, 'it was taken away'],
  ['set by nobody who is known', [set(null)], false, 'it is not known who set it'],
];

test.each(rows)('a label %s is refused by name', async (_, labelled, fork, why) => {
  const from = fork ? 'mallory/agents' : 'acme/agents';
  const decided = await decide(pull([LABEL], from), labelled, { mallory: 'triage' });
  expect(decided).toMatchObject({ flags: '', 'allowed-by': '' });
  expect(decided.log).toMatch(/^::warning title=A label does not count::/m);
  expect(decided.log).toContain(`The label ${LABEL} does not count`);
  expect(decided.log).toContain(why);
});

test('a label that is set after the event does not count for its plan', async () => {
  expect(await decide(pull([]), [set('ana')])).toMatchObject({ flags: '', 'not-allowed': '' });
});

test('inputs count for who started the workflow', async () => {
  const inputs = { 'allow-delete': 'true', 'skip-refused': 'false', 'override-limits': ' Spring ' };
  expect(await decide({ inputs })).toMatchObject({
    flags: '--allow-delete\n--override-limits=Spring',
    'allowed-by': 'allow-delete=kim,override-limits=kim',
  });
});
