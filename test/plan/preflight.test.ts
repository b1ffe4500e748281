import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { findRefusals } from '../../src/plan/preflight.ts';
import { BAY, HARBOR, world } from '../world.ts';
import { entitlementsOf, HERE, SILENCE } from './entitlements.ts';
import { DESK, judged, LIVE_DESK, lockedModel, type Row, unchecked } from './preflighted.ts';

describe('whose locks count', () => {
  const moved: Row = {
    title: 'those of the organization that an agent moves to',
    desired: { 'agent.desk': { ...DESK['agent.desk'], organization_id: BAY } },
    live: { agent: [{ id: 'a1', name: 'Desk', organization_id: HARBOR, model: 'alpha-4o' }] },
    having: (given) =>
      given
        .applied({ 'agent.desk': { id: 'a1', ...DESK['agent.desk'] } })
        .options({ allow_delete: true }),
    said: { bay: { 'llm.alpha-4o': HERE } },
    because: lockedModel('for organization bay at the organization itself'),
    notes: ['info agent.desk: the new resource does not get the history of the old one'],
  };
  judged([
    { title: 'not those of its neighbours', said: { bay: { 'llm.alpha-4o': HERE } } },
    moved,
    {
      ...moved,
      title: 'not those of the one that it leaves',
      said: { harbor: { 'llm.alpha-4o': HERE } },
      because: undefined,
    },
    {
      title: 'by its id where the stack has no name for it',
      having: (given) => given.having({ organizations: {} }),
      said: { harbor: { 'llm.alpha-4o': HERE } },
      because: lockedModel(`for organization ${HARBOR} at the organization itself`),
    },
  ]);
});

/** A page of a knowledge base, which does not say whose it is. */
const PAGE = { url: 'https://harbor.example.test/faq', knowledge_base_id: 'kb' };
const page: Pick<Row, 'address' | 'desired' | 'live'> = {
  address: 'knowledge_source.faq',
  desired: { 'knowledge_source.faq': PAGE, ...DESK, 'retry_policy.gentle': { name: 'Gentle' } },
  live: {},
};
const source = (more: JsonObject) => ({
  knowledge_source: [{ id: 's1', knowledge_base_id: 'kb', name: 'Old', ...more }],
});
const otherAgent = { 'agent.bay': { name: 'Bay', organization_id: BAY } };
const lockedPage = (where: string) =>
  `it needs the feature knowledge_base, which is locked ${where}; have it unlocked there, or remove it from the configuration`;

describe('a page belongs to whom its neighbours belong to', () => {
  judged([
    {
      ...page,
      title: 'which is told by the first that says it',
      live: {
        knowledge_source: [
          { id: 's1', knowledge_base_id: 'kb', name: 'Old' },
          { id: 's2', knowledge_base_id: 'kb', name: 'New', organization_id: BAY },
        ],
      },
      said: { bay: { knowledge_base: HERE } },
      because: lockedPage('for organization bay at the organization itself'),
    },
    {
      ...page,
      title: 'so what is locked for another one is no matter',
      live: source({ organization_id: BAY }),
      said: { harbor: { knowledge_base: HERE } },
    },
    {
      ...page,
      title: 'and where nobody says it, a lock of the account refuses',
      live: source({}),
      said: { account: { knowledge_base: HERE } },
      because: lockedPage('at its account'),
    },
    {
      ...page,
      title: 'a lock of the only organization of the stack warns',
      live: source({}),
      said: { harbor: { knowledge_base: HERE } },
      notes: [
        'warning knowledge_source.faq: knowledge_base is locked for organization harbor. The platform does not say whether this belongs to it; if so, apply is refused.',
      ],
    },
    {
      ...page,
      title: 'by its id where it has no name',
      live: source({}),
      having: (given) => given.having({ organizations: {} }),
      said: { harbor: { knowledge_base: HERE } },
      notes: [
        `warning knowledge_source.faq: knowledge_base is locked for organization ${HARBOR}. The platform does not say whether this belongs to it; if so, apply is refused.`,
      ],
    },
    {
      ...page,
      title: 'and one that does not answer is told, without a guess at its locks',
      live: source({}),
      said: { harbor: SILENCE },
      notes: [unchecked('the locked features of organization harbor')],
    },
    {
      ...page,
      title: 'and nothing is said where it locks something else',
      live: source({}),
      said: { harbor: { 'llm.alpha-4o': HERE } },
    },
    {
      ...page,
      title: 'and an empty list is of the only organization of the stack',
      said: { harbor: { knowledge_base: HERE } },
      because: lockedPage('for organization harbor at the organization itself'),
    },
    {
      ...page,
      title: 'or of the one that the stack names',
      desired: { ...page.desired, ...otherAgent },
      having: (given) => given.having({ organization: BAY }),
      said: { bay: { knowledge_base: HERE } },
      because: lockedPage('for organization bay at the organization itself'),
    },
    { ...page, title: 'and nothing is said where that one locks nothing', said: {} },
    {
      ...page,
      title: 'or does not answer',
      said: { harbor: SILENCE },
      notes: [unchecked('the locked features of organization harbor')],
    },
    {
      ...page,
      title: 'of several organizations nobody can tell which it is',
      desired: { ...page.desired, ...otherAgent },
      said: { harbor: { knowledge_base: HERE }, bay: { knowledge_base: HERE } },
      notes: [
        'info knowledge_source.faq: Callsheet cannot tell whether knowledge_base is locked: the platform does not say which organization this belongs to. Apply reports a refusal.',
      ],
    },
    {
      ...page,
      title: 'where not even the account answers, nothing is checked',
      live: source({}),
      said: { account: SILENCE },
      notes: [unchecked('the locked features of the account')],
    },
    {
      ...page,
      title: 'unless it is there and says so itself',
      desired: { 'knowledge_source.faq': { ...PAGE, reingest_after: '1d' } },
      live: {
        knowledge_source: [
          {
            ...PAGE,
            id: 's1',
            organization_id: HARBOR,
            status: 'active',
            last_synced_at: '2026-01-01T00:00:00Z',
          },
        ],
      },
      having: (given) => given.applied({ 'knowledge_source.faq': { ...PAGE, id: 's1' } }),
      said: { harbor: { knowledge_base: HERE } },
      because: lockedPage('for organization harbor at the organization itself'),
    },
  ]);
});

test('what is not carried out anyway is not judged', async () => {
  const { plan } = await world()
    .desired(DESK)
    .live(LIVE_DESK)
    .applied({ 'agent.desk': { id: 'a1', name: 'Desk', model: 'beta-3-fast' } })
    .entitlements(entitlementsOf({ harbor: { 'llm.alpha-4o': HERE }, offers: SILENCE }))
    .plan();
  expect(plan.changes[0]).toMatchObject({
    verdict: 'refused',
    reason: expect.not.stringContaining('locked'),
  });
  expect(plan.notes).toEqual([]);
});

/** A platform that must not be asked. */
const closed = {
  list: () => expect.unreachable('it was asked for a list'),
  locks: () => expect.unreachable('it was asked for locks'),
};

test('a change that needs nothing asks nothing', async () => {
  const changes = await world()
    .desired({ 'retry_policy.gentle': { name: 'Gentle' } })
    .changes();
  const change = changes.get('retry_policy.gentle');
  if (change === undefined) throw new Error('a policy is made');
  const document = { name: 'Gentle' };
  const entitlements = { ...world().reader().entitlements(), locks: closed.locks };
  const context = {
    reader: { list: closed.list, read: closed.list },
    entitlements,
    organizations: {},
  };
  expect(
    await findRefusals(
      change,
      { document, leaves: [], live: {} },
      { ...context, findOwner: () => undefined, likelyOwner: undefined },
    ),
  ).toEqual({ barred: [], notes: [] });
});
