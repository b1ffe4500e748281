import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/plan-document.ts';
import { Blob } from '../../src/core/value.ts';
import type { Lack } from '../../src/plan/reader.ts';
import { type Documents, HARBOR, type WorldBuilder, world } from '../world.ts';

const ASSUMED = {
  findAssumption: (operation: string) => `about.${operation}`,
};

async function onlyChange(made: WorldBuilder): Promise<Change | undefined> {
  const { plan } = await made.having(ASSUMED).plan();
  return plan.changes[0];
}

function refused(...operations: readonly string[]): Readonly<Record<string, Lack>> {
  return Object.fromEntries(operations.map((name) => [name, 'refused']));
}

const POLICY: Documents = { 'retry_policy.p': { name: 'P' } };
const SMS: Documents = { 'sms_template.s': { name: 'S', message_type: 'sms', body: 'Hi' } };
const NO_SMS = refused('listSmsTemplates', 'getSmsTemplate', 'updateSmsTemplate');
const MAIL: Documents = { 'email_template.m': { name: 'M', subject: 'Hello' } };
const prices = new Blob('docs/prices.pdf', 'aa', 9, 'application/pdf');

type Row = {
  readonly title: string;
  readonly made: WorldBuilder;
  readonly says: string;
  readonly because?: readonly string[];
};

const rows: readonly Row[] = [
  {
    title: 'a create that is refused is unsupported, and says how to go on',
    made: world().desired(POLICY).lacking(refused('createRetryPolicy')),
    says: 'create unsupported',
    because: [
      'createRetryPolicy (assumption about.createRetryPolicy)',
      'platform.assume: false refuses',
      'platform.endpoints',
      'in the dashboard',
    ],
  },
  {
    title: 'an operation that the platform lacks is named as such',
    made: world().desired(POLICY).lacking({ createRetryPolicy: 'absent' }),
    says: 'create unsupported',
    because: ['which this platform does not have', '; otherwise make the change in the dashboard'],
  },
  {
    title: 'an operation that the platform lacks may be somewhere else',
    made: world().desired(POLICY).lacking({ createRetryPolicy: 'absent' }),
    says: 'create unsupported',
    because: ['If the platform has it, set its path under platform.endpoints'],
  },
  {
    title: 'an operation whose request nobody shows is not helped by saying where it is',
    made: world().desired(POLICY).lacking({ createRetryPolicy: 'unshown' }),
    says: 'create unsupported',
    because: [
      'it needs createRetryPolicy (assumption about.createRetryPolicy), whose request the specification does not show and platform.assume: false refuses; otherwise make the change in the dashboard',
    ],
  },
  {
    title: 'an agent that is known and cannot be looked for is updated',
    made: world()
      .desired({ 'agent.a': { name: 'A', status: 'inactive' } })
      .live({ agent: [{ id: 'a1', name: 'A', organization_id: HARBOR }] })
      .applied({ 'agent.a': { id: 'a1', name: 'A' } })
      .lacking({ listAgents: 'absent' }),
    says: 'update ok',
    because: ['the configuration changed'],
  },
  {
    title: 'of what cannot be read every field that differs is named',
    made: world()
      .desired({ 'sms_template.s': { ...SMS['sms_template.s'], body: 'Hello', status: 'draft' } })
      .applied({ 'sms_template.s': { ...SMS['sms_template.s'], id: 's1' } })
      .lacking(NO_SMS),
    says: 'update unsupported',
    because: ['body, status cannot be compared: it needs listSmsTemplates'],
  },
  {
    title: 'what cannot be made or looked for may be there, and be adopted',
    made: world()
      .desired(POLICY)
      .lacking({ createRetryPolicy: 'absent', listRetryPolicies: 'absent' }),
    says: 'create unsupported',
    because: ['; if the resource exists, name its id in lifecycle.adopt'],
  },
  {
    title: 'what is known and cannot be looked for is changed in the dashboard',
    made: world()
      .desired({ 'retry_policy.p': { name: 'P', on_exhausted: 'end' } })
      .live({ retry_policy: [{ id: 'p1', name: 'P', on_exhausted: 'voicemail' }] })
      .applied({ 'retry_policy.p': { id: 'p1', name: 'P' } })
      .lacking({ updateRetryPolicy: 'absent', listRetryPolicies: 'absent' }),
    says: 'update unsupported',
    because: ['; otherwise make the change in the dashboard'],
  },
  {
    title: 'a create without a list to look in is safe where the platform refuses twins',
    made: world().desired(POLICY).lacking(refused('listRetryPolicies')),
    says: 'create ok',
    because: ['no list to search'],
  },
  {
    title: 'a create without a list to look in is not made where there may be a second one',
    made: world()
      .desired({ 'agent.a': { name: 'A' } })
      .lacking(refused('listAgents')),
    says: 'create unsupported',
    because: ['Callsheet cannot tell whether it exists', 'lifecycle.adopt'],
  },
  {
    title: 'a page needs less than a document',
    made: world()
      .desired({ 'knowledge_source.kb.faq': { knowledge_base_id: 'k', url: 'https://x.test' } })
      .lacking(refused('enqueueKnowledgeSource')),
    says: 'create ok',
  },
  {
    title: 'a document is not declared where it could not be ingested',
    made: world()
      .desired({
        'knowledge_source.kb.p': { knowledge_base_id: 'k', name: 'prices.pdf', file: prices },
      })
      .lacking(refused('enqueueKnowledgeSource')),
    says: 'create unsupported',
    because: ['enqueueKnowledgeSource'],
  },
  {
    title: 'an update that is refused shows what differs all the same',
    made: world()
      .desired(MAIL)
      .live({ email_template: [{ id: 'm1', name: 'M', subject: 'Old' }] })
      .applied({ 'email_template.m': { id: 'm1', name: 'M', subject: 'Old' } })
      .lacking(refused('updateEmailTemplate')),
    says: 'update unsupported',
    because: ['the configuration changed', 'updateEmailTemplate'],
  },
  {
    title: 'a conflict that cannot be written anyway does not stand in the way of the rest',
    made: world()
      .desired(MAIL)
      .live({ email_template: [{ id: 'm1', name: 'M', subject: 'By hand' }] })
      .applied({ 'email_template.m': { id: 'm1', name: 'M', subject: 'Old' } })
      .lacking(refused('updateEmailTemplate')),
    says: 'update unsupported',
  },
  {
    title: 'a facet that is refused takes its whole change along',
    made: world()
      .desired({ 'agent.a': { name: 'A', payments: { tool_enabled: true } } })
      .live({ agent: [{ id: 'a1', name: 'A' }] })
      .facets({ a1: { payment_tool_enabled: false } })
      .lacking(refused('setPaymentTool')),
    says: 'update unsupported',
    because: ['setPaymentTool'],
  },
  {
    title: 'a delete that is refused is unsupported, not held',
    made: world()
      .desired(POLICY)
      .live({ agent: [{ id: 'a1', name: 'A' }], retry_policy: [{ id: 'p1', name: 'P' }] })
      .applied({ 'agent.a': { id: 'a1', name: 'A' } })
      .options({ exclude: ['retry_policy'] })
      .lacking(refused('deleteAgent')),
    says: 'delete unsupported',
    because: ['no longer configured', 'deleteAgent'],
  },
  {
    title: 'what cannot be read and differs from what was written is unsupported',
    made: world()
      .desired({ 'sms_template.s': { ...SMS['sms_template.s'], body: 'Hello' } })
      .applied({ 'sms_template.s': { ...SMS['sms_template.s'], id: 's1' } })
      .lacking(NO_SMS),
    says: 'update unsupported',
    because: ['body cannot be compared', 'listSmsTemplates'],
  },
  {
    title: 'what cannot be read and is no longer configured is not deleted blindly',
    made: world()
      .desired(POLICY)
      .live({ retry_policy: [{ id: 'p1', name: 'P' }] })
      .applied({ 'sms_template.s': { ...SMS['sms_template.s'], id: 's1' } })
      .options({ exclude: ['retry_policy'], allow_delete: true })
      .lacking(NO_SMS),
    says: 'delete unsupported',
    because: ['its live values are unknown'],
  },
  {
    title: 'what is adopted by its id and cannot be read is unsupported',
    made: world()
      .desired({ 'sms_template.s': { ...SMS['sms_template.s'], lifecycle: { adopt: 's1' } } })
      .lacking(NO_SMS),
    says: 'update unsupported',
    because: ['its live values are unknown'],
  },
  {
    title: 'what its list shows is compared, and what it does not show is taken as written',
    made: world()
      .desired({ 'email_template.m': { ...MAIL['email_template.m'], subject: 'New' } })
      .live({ email_template: [{ id: 'm1', name: 'M', subject: 'Hello' }] })
      .applied({ 'email_template.m': { ...MAIL['email_template.m'], id: 'm1' } })
      .lacking(refused('getEmailTemplate')),
    says: 'update unsupported',
    because: ['subject cannot be compared', 'getEmailTemplate'],
  },
];

test.each(rows)('$title', async ({ made, says, because = [] }) => {
  const change = await onlyChange(made);
  expect(`${change?.action} ${change?.verdict}`).toBe(says);
  for (const text of because) expect(change?.reason).toContain(text);
  if (change?.verdict === 'unsupported') expect(change.operations).toEqual([]);
});

test('an operation that rests on no assumption is named alone', async () => {
  const { plan } = await world().desired(POLICY).lacking({ createRetryPolicy: 'absent' }).plan();
  expect(plan.changes[0]?.reason).toContain(
    'it needs createRetryPolicy, which this platform does not have. If',
  );
});

describe('a form that is only assumed', () => {
  const server = { extensions: { mcp_servers: [{ connection_name: 'C' }] } };
  const wanting = world().desired({ 'agent.a': { name: 'A', ...server } });
  const live = { agent: [{ id: 'a1', name: 'A', ...server }] };
  const FORM =
    'it writes extensions.mcp_servers[C].connection_name (assumption mcp.write-shape), whose form the specification does not show and platform.assume: false refuses';

  test('is not made where nothing may be assumed', async () => {
    const { plan } = await wanting.plan({ assume: false });
    expect(plan.changes).toMatchObject([
      {
        action: 'create',
        verdict: 'unsupported',
        reason: `not on the platform yet; ${FORM}; otherwise make the change in the dashboard`,
        operations: [],
      },
    ]);
    expect(plan.assumptions).toEqual([]);
  });

  test.each<[string, boolean | undefined]>([
    ['unless told otherwise', undefined],
    ['where that is allowed', true],
  ])('is made %s', async (_title, assume) => {
    const { plan } = await wanting.plan(assume === undefined ? {} : { assume });
    expect(plan.changes).toMatchObject([{ action: 'create', verdict: 'ok' }]);
    expect(plan.assumptions).toEqual(['mcp.write-shape']);
  });

  test('does not stand in the way of taking over what has it already', async () => {
    const { plan } = await wanting.live(live).plan({ assume: false });
    expect(plan.changes).toMatchObject([{ action: 'adopt', verdict: 'ok' }]);
  });

  test('does not stand in the way of what is refused anyway', async () => {
    const two = [{ connection_name: 'C' }, { connection_name: 'C' }];
    const made = world()
      .desired({
        'agent.a': {
          name: 'A',
          extensions: {
            mcp_servers: [{ connection_name: 'C', mcp_endpoint_url: 'https://x.test' }],
          },
        },
      })
      .live({ agent: [{ id: 'a1', name: 'A', extensions: { mcp_servers: two } }] });
    const { plan } = await made.plan({ assume: false });
    expect(plan.changes).toMatchObject([{ action: 'update', verdict: 'refused' }]);
    expect(plan.changes[0]?.reason).toMatch(/^the platform has 2 entries/);
  });

  test('does not stand in the way of fields that are shown', async () => {
    const made = world().desired({ 'agent.a': { name: 'A', model: 'alpha-4o' } });
    const { plan } = await made.plan({ assume: false });
    expect(plan.changes).toMatchObject([{ action: 'create', verdict: 'ok' }]);
  });

  test('stands in the way of a lacking list as well, which is told first', async () => {
    const { plan } = await wanting.lacking({ listAgents: 'absent' }).plan({ assume: false });
    expect(plan.changes[0]?.reason).toBe(
      'Callsheet cannot tell whether it exists: it needs listAgents, which this platform does not have; if the resource exists, name its id in lifecycle.adopt',
    );
  });
});

describe('nothing is to be done', () => {
  test.each<[string, WorldBuilder]>([
    [
      'where nothing can be read and nothing differs from what was written',
      world()
        .desired(SMS)
        .applied({ 'sms_template.s': { ...SMS['sms_template.s'], id: 's1' } })
        .lacking(NO_SMS),
    ],
    [
      'where the list shows the name alone and nothing differs',
      world()
        .desired(MAIL)
        .live({ email_template: [{ id: 'm1', name: 'M', subject: 'Hello' }] })
        .applied({ 'email_template.m': { ...MAIL['email_template.m'], id: 'm1' } })
        .lacking(refused('getEmailTemplate')),
    ],
  ])('%s', async (_, made) => {
    expect((await made.plan()).plan.changes).toEqual([]);
  });
});

describe('without a list, a policy is known', () => {
  const lacking = refused('listRetryPolicies', 'createRetryPolicy');
  const live = { retry_policy: [{ id: 'p1', name: 'P' }] };
  test.each<[string, WorldBuilder, string]>([
    [
      'by the id in the state',
      world().applied({ 'retry_policy.p': { name: 'P', id: 'p1' } }),
      'no',
    ],
    [
      'by lifecycle.adopt',
      world().desired({ 'retry_policy.p': { name: 'P', lifecycle: { adopt: 'p1' } } }),
      'adopt ok',
    ],
    [
      'by the state of another address',
      world().applied({ 'retry_policy.old': { name: 'P', id: 'p1' } }),
      'adopt ok',
    ],
    [
      'by an agent of the stack that follows it',
      world().desired({ ...POLICY, 'agent.a': { name: 'A' } }),
      'adopt ok',
    ],
  ])('%s', async (_, made, says) => {
    const agents = [
      { id: 'a1', organization_id: HARBOR, name: 'A', default_retry_policy_id: 'p1' },
    ];
    const wanted = made.wanted().length > 0 ? made : made.desired(POLICY);
    const changes = await wanted
      .live({ ...live, agent: agents })
      .lacking(lacking)
      .changes();
    const change = changes.get('retry_policy.p');
    expect(change ? `${change.action} ${change.verdict}` : 'no').toBe(says);
  });

  test('by nothing else: it is not made then', async () => {
    const changes = await world().desired(POLICY).live(live).lacking(lacking).changes();
    expect(changes.get('retry_policy.p')?.verdict).toBe('unsupported');
  });
});

test('what refers to something unsupported is unsupported, and nothing is refused', async () => {
  const { plan } = await world()
    .desired({
      ...POLICY,
      'agent.a': { name: 'A', default_retry_policy_id: { $ref: 'retry_policy.p' } },
      'agent.b': { name: 'B' },
    })
    .lacking(refused('createRetryPolicy'))
    .plan();
  expect(plan.summary).toMatchObject({ unsupported: 2, refused: 0 });
  expect(plan.changes.map(({ verdict }) => verdict)).toEqual(['unsupported', 'unsupported', 'ok']);
});

test('assumptions are those of operations that are used', async () => {
  const made = world()
    .desired({ ...POLICY, ...MAIL })
    .having(ASSUMED);
  const named = async (lacks: Readonly<Record<string, Lack>>) =>
    (await made.lacking(lacks).plan()).plan.assumptions;
  expect(await named({})).toEqual([
    'about.createEmailTemplate',
    'about.createRetryPolicy',
    'about.getEmailTemplate',
    'about.getRetryPolicy',
    'about.listEmailTemplates',
    'about.listRetryPolicies',
  ]);
  expect(
    await named(refused('createRetryPolicy', 'listRetryPolicies', 'getEmailTemplate')),
  ).toEqual(['about.createEmailTemplate', 'about.getRetryPolicy', 'about.listEmailTemplates']);
});
