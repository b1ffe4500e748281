import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/value.ts';
import { payments } from '../../../src/features/reading/catalogues.ts';
import { get } from '../../../src/features/reading/get.ts';
import {
  type Answers,
  openReadStage,
  type ReadStage,
  Refusal,
  readDocument,
} from '../../cli/read-stage.ts';
import { AGENTS, DESK, ELM, HARBOR, OTHER_DESK, READINESS, RECALL } from './read-documents.ts';

const NAMED = 'callsheet: 1\norganizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }\n';

function agentsOf(url: URL): Json {
  const owner = url.searchParams.get('organization_id');
  const data = AGENTS.filter(({ organization_id: of }) => owner === null || of === owner);
  return { data, pagination: { page: 1, limit: 100, total: data.length, totalPages: 1 } };
}

const readiness = (...ids: readonly string[]): Answers =>
  Object.fromEntries(
    ids.map((id) => [`GET /v1/agents/${id}/payments/readiness`, { ...READINESS, agent_id: id }]),
  );

const ANSWERS: Answers = { 'GET /v1/agents': agentsOf, ...readiness(DESK, OTHER_DESK, RECALL) };

function ask(stage: ReadStage, wanted: string, organization?: string, exit = 0) {
  const flags = { dir: stage.dir, format: 'json' as const };
  return stage.run(
    (to) => payments(wanted, { ...flags, ...(organization ? { organization } : {}) }, to),
    { exit },
  );
}

describe('an agent is meant by', () => {
  test.each([
    ['its id, without looking it up', DESK, undefined, DESK, 1],
    ['a name that is the only one', 'Recall', undefined, RECALL, 2],
    ['a name in other letters', 'recall', undefined, RECALL, 2],
    ['a name and the id of its organization', 'Front desk', ELM, OTHER_DESK, 2],
    ['a name and what the stack calls its organization', 'Front desk', 'harbor', DESK, 2],
  ])('%s', async (_, wanted, organization, id, requests) => {
    const stage = await openReadStage(ANSWERS, { 'callsheet.yaml': NAMED });
    await ask(stage, wanted, organization);
    expect(stage.requests.at(-1)).toBe(`GET /v1/agents/${id}/payments/readiness`);
    expect(stage.requests.length).toBe(requests);
  });
});

describe('nobody is meant by', () => {
  test.each([
    [
      'a name of several',
      'Front desk',
      undefined,
      `Error: 2 agents are called "Front desk"\nGive one of these ids:\n  ${DESK}  harbor\n  ${OTHER_DESK}  ${ELM}\n`,
    ],
    [
      'a name that is not there',
      'Recal',
      undefined,
      'Error: there is no agent "Recal" that the key reaches\nThe nearest names: Recall.\n',
    ],
    ['a part of a name', 'desk', undefined, 'The nearest names: Front desk.\n'],
    ['nothing alike', 'xyz', undefined, '`callsheet get agents` lists the existing resources.\n'],
    [
      'an organization that the stack calls otherwise',
      'Front desk',
      'harbour',
      "Error: --organization harbour is not among the stack's names\nDid you mean harbor? An id can be given as well.\n",
    ],
    [
      'an organization that is neither a name of the stack nor an id',
      'Front desk',
      'Elm Street Legal',
      "Error: --organization Elm Street Legal is not among the stack's names\nGive its id: `callsheet get organizations` lists names and ids.\n",
    ],
    [
      'an address of another kind',
      'retry_policy.gentle',
      undefined,
      'Error: retry_policy.gentle is not an address of agents\n',
    ],
    [
      'an address that the stack does not have',
      'agent.reception',
      undefined,
      'Error: agent.reception is not a resource of this stack\n',
    ],
  ])('%s', async (_, wanted, organization, message) => {
    const stage = await openReadStage(ANSWERS, { 'callsheet.yaml': NAMED });
    expect((await ask(stage, wanted, organization, 1)).err).toContain(message);
  });

  test('an id that the platform does not have', async () => {
    const stage = await openReadStage({});
    const { err } = await ask(stage, RECALL, undefined, 1);
    expect(err).toContain(`Error: there is no agent ${RECALL} that the key reaches: GET http`);
    expect(err).toContain('It does not exist, or the key has no access to it');
  });
});

describe('kinds go by several names', () => {
  const policies = {
    data: [{ id: 'p1', name: 'Gentle' }],
    pagination: { page: 1, limit: 100, total: 1, totalPages: 1 },
  };

  test.each(['retry_policy', 'retry_policies', 'retry-policies', 'Policies'])(
    '%s',
    async (kind) => {
      const stage = await openReadStage({ 'GET /v1/retry-policies': policies });
      const { out } = await stage.run((to) =>
        get(kind, undefined, { dir: stage.dir, format: 'text' }, to),
      );
      expect(out).toContain('\n1 retry policy.\n');
    },
  );

  test.each([
    ['agnets', '`callsheet get` does not know "agnets": did you mean agents?'],
    ['billing', '`callsheet get` does not know "billing": did you mean usage?'],
    ['templates', '`callsheet get` does not know "templates": '],
    ['everything', 'does not know "everything": it reads custom_voices, retry_policies, '],
  ])('%s is none', async (kind, message) => {
    const stage = await openReadStage({});
    const run = stage.run((to) => get(kind, undefined, { dir: stage.dir, format: 'text' }, to), {
      exit: 1,
    });
    expect((await run).err).toContain(message);
  });
});

describe('what a list needs to know', () => {
  test.each([
    [
      'voices',
      {},
      'custom voices are listed within one organization, and none is given\nName it with --organization.',
    ],
    [
      'sources',
      {},
      'knowledge sources are listed within one knowledge base, and none is given\nName it with --knowledge-base.',
    ],
    ['retry_policies', { organization: HARBOR }, '--organization does not apply to retry policies'],
    ['agents', { knowledgeBase: HARBOR }, '--knowledge-base does not apply to agents'],
  ])('%s %j', async (kind, flags, message) => {
    const stage = await openReadStage({});
    const { err } = await stage.run(
      (to) => get(kind, undefined, { dir: stage.dir, format: 'text', ...flags }, to),
      { exit: 1 },
    );
    expect(err).toContain(message);
    expect(stage.requests).toEqual([]);
  });

  test('the organizations of the stack, where they need not be named', async () => {
    const stage = await openReadStage(
      { 'GET /v1/custom-voices': { data: [{ id: 'v1', name: 'Harbor' }] } },
      { 'callsheet.yaml': NAMED },
    );
    const { out } = await stage.run((to) =>
      get('voices', undefined, { dir: stage.dir, format: 'text' }, to),
    );
    expect(stage.requests).toEqual([`GET /v1/custom-voices?organizationId=${HARBOR}`]);
    expect(out).toContain(`harbor  ${HARBOR}\n`);
  });
});

describe('refusals are one sentence, and what to do', () => {
  test.each([
    [
      403,
      { error: 'forbidden', error_description: 'Outside the scope' },
      'answered 403: forbidden; Outside the scope\n',
      'The key has no access to it',
    ],
    [401, { error: 'invalid_token' }, 'answered 401: invalid_token\n', 'CALLSHEET_ACCESS_TOKEN'],
    [500, { error: 'boom' }, 'answered 500: boom\n', 'The platform failed. Try again in a minute.'],
  ])('%d', async (status, body, message, hint) => {
    const stage = await openReadStage({
      [`GET /v1/agents/${DESK}/payments/readiness`]: new Refusal(status, body),
    });
    const { err } = await ask(stage, DESK, undefined, 1);
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });
});

test('an empty list says so, and stays JSON', async () => {
  const empty = { data: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } };
  const stage = await openReadStage({ 'GET /v1/agents': empty });
  const run = (format: 'text' | 'json' | 'csv') =>
    stage.run((to) => get('agents', undefined, { dir: stage.dir, format }, to));
  expect((await run('text')).out).toBe('There are no agents.\n');
  expect(readDocument((await run('json')).out).data).toEqual([]);
  expect((await run('csv')).out).toMatch(/^name,id,.*\n$/);
});
