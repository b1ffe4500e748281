import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { BAY, type Documents, HARBOR, world } from '../world.ts';
import { plans } from './rows.ts';

const POLICY = { id: 'p1', name: 'Gentle' };
const USES = { default_retry_policy_id: 'p1' };
const DESK = { 'agent.desk': { name: 'Desk' } };
const address = 'retry_policy.gentle';
const applied = { [address]: POLICY };
const options = { allow_delete: true };
const theirs = (id: string, more: JsonObject = USES): JsonObject => ({
  id,
  name: `Agent ${id}`,
  organization_id: BAY,
  ...more,
});
/** The stack's own agent, as it was applied and is live, with the policy. */
const own = { id: 'a1', name: 'Desk', organization_id: HARBOR, ...USES };
const applying = (more: Documents = {}): Documents => ({
  ...applied,
  'agent.desk': { id: 'a1', name: 'Desk', ...USES },
  ...more,
});

describe('a delete of what live resources refer to', () => {
  plans([
    {
      title: 'is refused for an agent of another organization that no stack has',
      address,
      desired: DESK,
      live: { retry_policy: [POLICY], agent: [theirs('b1')] },
      applied,
      options,
      says: 'delete refused',
      because: [
        'no longer configured; 1 live agent still uses it: Agent b1 (b1);',
        'plan with --delete-used',
      ],
    },
    {
      title: 'counts them all, and names a few',
      address,
      desired: DESK,
      live: {
        retry_policy: [POLICY],
        agent: ['b1', 'b2', 'b3', 'b4', 'b5'].map((id) => theirs(id)),
      },
      applied,
      options,
      says: 'delete refused',
      because: [
        '5 live agents still use it: Agent b1 (b1), Agent b2 (b2), Agent b3 (b3) and 2 more;',
      ],
    },
    {
      title: 'names three where there are three, by their id where they have no name',
      address,
      desired: DESK,
      live: {
        retry_policy: [POLICY],
        agent: [theirs('b1'), theirs('b2'), { id: 'b3', organization_id: BAY, ...USES }],
      },
      applied,
      options,
      says: 'delete refused',
      because: ['3 live agents still use it: Agent b1 (b1), Agent b2 (b2), b3 (b3); give'],
    },
    {
      title: 'is carried out with --delete-used',
      address,
      desired: DESK,
      live: { retry_policy: [POLICY], agent: [theirs('b1')] },
      applied,
      options: { ...options, force: true },
      says: 'delete',
    },
    {
      title: 'is carried out where they refer to another, or to none',
      address,
      desired: DESK,
      live: {
        retry_policy: [POLICY],
        agent: [theirs('b1', { default_retry_policy_id: 'p2' }), theirs('b2', {})],
      },
      applied,
      options,
      says: 'delete',
    },
    {
      title: 'is carried out where the same plan points them elsewhere',
      address,
      desired: {
        'retry_policy.firm': { name: 'Firm' },
        'agent.desk': { name: 'Desk', default_retry_policy_id: { $ref: 'retry_policy.firm' } },
      },
      live: { retry_policy: [POLICY], agent: [own] },
      applied: applying(),
      options,
      says: 'delete',
    },
    {
      title: 'is carried out where the same plan takes the field away, whatever else it does',
      address,
      desired: { 'agent.desk': { ...DESK['agent.desk'], status: 'inactive' } },
      live: { retry_policy: [POLICY], agent: [own] },
      applied: applying(),
      options,
      says: 'delete',
    },
    {
      title: 'is carried out where the same plan deletes them',
      address,
      desired: { 'agent.other': { name: 'Other' } },
      live: { retry_policy: [POLICY], agent: [own] },
      applied: applying(),
      options,
      says: 'delete',
    },
    {
      title: 'is refused where their own change is refused',
      address,
      desired: { 'agent.other': { name: 'Other' } },
      live: { retry_policy: [POLICY], agent: [own] },
      applied: applying({
        'agent.desk': { id: 'a1', name: 'Desk', ...USES, lifecycle: { protect: true } },
      }),
      options,
      says: 'delete refused',
      because: ['1 live agent still uses it: agent.desk;'],
    },
    {
      title: 'is refused where their own change is left for later',
      address,
      desired: DESK,
      live: { retry_policy: [POLICY], agent: [own] },
      applied: applying(),
      options: { ...options, target: ['retry_policy'] },
      says: 'delete refused',
      because: ['1 live agent still uses it: Desk (a1);'],
    },
    {
      title: 'is refused for an agent of the stack whose field is left alone',
      address,
      desired: { 'agent.desk': { name: 'Desk', status: 'inactive' } },
      live: { retry_policy: [POLICY], agent: [own] },
      applied: { ...applied, 'agent.desk': { id: 'a1', name: 'Desk' } },
      options,
      says: 'delete refused',
      because: ['1 live agent still uses it: agent.desk;'],
    },
    {
      title: 'is refused in a rollback, too',
      address,
      desired: DESK,
      live: { retry_policy: [POLICY], agent: [theirs('b1')] },
      applied,
      options,
      input: { purpose: 'rollback' },
      says: 'delete refused',
      because: ['the run created it; 1 live agent still uses it'],
    },
    {
      title: 'refuses no other change of the plan, though that resource is used',
      address: 'retry_policy.firm',
      desired: { ...DESK, 'retry_policy.firm': { name: 'Firm', on_exhausted: 'end' } },
      live: {
        retry_policy: [POLICY, { id: 'p2', name: 'Firm', on_exhausted: 'voicemail' }],
        agent: [theirs('b1', { default_retry_policy_id: 'p2' })],
      },
      applied: { ...applied, 'retry_policy.firm': { id: 'p2', name: 'Firm' } },
      options,
      says: 'update',
      because: ['the configuration changed'],
    },
    {
      title: 'is carried out where nobody can be asked who uses it',
      address,
      desired: { 'retry_policy.firm': { name: 'Firm' } },
      live: { retry_policy: [POLICY], agent: [theirs('b1')] },
      applied,
      options,
      having: (made) => made.lacking({ listAgents: 'absent' }),
      says: 'delete',
    },
    {
      title: 'is held, as any other, until it is allowed',
      address,
      desired: DESK,
      live: { retry_policy: [POLICY], agent: [theirs('b1')] },
      applied,
      says: 'delete held',
    },
  ]);
});

test('agents are read for it only where something that they may refer to is about to go', async () => {
  const made = world()
    .desired(DESK)
    .live({
      agent: [theirs('b1')],
      sms_template: [{ id: 's1', name: 'Hi', organization_id: HARBOR }],
    })
    .applied({ 'sms_template.hi': { id: 's1', name: 'Hi' } })
    .options({ ...options, allow_delete: false });
  const reader = made.reader();
  const read: string[] = [];
  const { plan } = await made.plan({
    reader: {
      ...reader,
      read(kind, at, facets) {
        read.push(at.id);
        return reader.read(kind, at, facets);
      },
    },
  });
  expect(plan.summary).toMatchObject({ delete: 1, held: 1 });
  expect(read).not.toContain('b1');
});

test('an agent that went while it was looked for uses nothing', async () => {
  const made = world()
    .desired(DESK)
    .live({ retry_policy: [POLICY], agent: [theirs('b1')] })
    .applied(applied)
    .options(options);
  const reader = made.reader();
  const { plan } = await made.plan({
    reader: {
      ...reader,
      read: async (kind, at, facets) =>
        at.id === 'b1' ? undefined : reader.read(kind, at, facets),
    },
  });
  expect(plan.changes.map(({ action, verdict }) => `${action} ${verdict}`)).toEqual([
    'delete ok',
    'create ok',
  ]);
});

const NIGHT = '0a000000-0000-4000-8000-00000000000a';
const NIGHT_AGENT = { id: NIGHT, name: 'Night', organization_id: HARBOR };

describe('a delete of what settings and texts name', () => {
  const naming = (title: string, user: JsonObject, kind: string, path: string) => ({
    title,
    address: 'agent.night',
    desired: DESK,
    live: {
      agent: [NIGHT_AGENT, ...(kind === 'agent' ? [theirs('b1', user)] : [])],
      ...(kind === 'agent' ? {} : { [kind]: [{ id: 'b1', name: 'Agent b1', ...user }] }),
    },
    applied: { 'agent.night': NIGHT_AGENT },
    options,
    says: 'delete refused' as const,
    because: [`still uses it: Agent b1 (b1) in ${path};`],
  });
  plans([
    naming(
      'in settings of an agent',
      { contact_policy: { next: NIGHT } },
      'agent',
      'contact_policy.next',
    ),
    naming('in a list', { config: { all: ['desk', NIGHT] } }, 'agent', 'config.all'),
    naming(
      'in a text',
      { transfer_rules: `To ${NIGHT.toUpperCase()}.` },
      'agent',
      'transfer_rules',
    ),
    naming(
      'in the target of a policy',
      { on_exhausted: 'call', on_exhausted_target: { agent_id: NIGHT } },
      'retry_policy',
      'on_exhausted_target.agent_id',
    ),
    naming(
      'in a template',
      { organization_id: HARBOR, body_html: `<a href="https://a.test/${NIGHT}">` },
      'email_template',
      'body_html',
    ),
    {
      ...naming('by its own id, in itself', {}, 'agent', ''),
      live: { agent: [{ ...NIGHT_AGENT, description: `I am ${NIGHT}.` }] },
      says: 'delete',
      because: [],
    },
    {
      ...naming('by what is deleted, too', {}, 'agent', ''),
      live: {
        agent: [
          { ...NIGHT_AGENT, contact_policy: { next: 'a9' } },
          { id: 'a9', name: 'Late', organization_id: HARBOR, transfer_rules: `To ${NIGHT}.` },
        ],
      },
      applied: { 'agent.night': NIGHT_AGENT, 'agent.late': { id: 'a9', name: 'Late' } },
      says: 'delete',
      because: [],
    },
  ]);
});
