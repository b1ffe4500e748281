import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { type IdentifyOptions, identify } from '../../src/plan/identify.ts';
import { BAY, type Documents, HARBOR, type WorldBuilder, world } from '../world.ts';

/** `address → id by how`, or `address → nothing`, and what is missing. */
async function identitiesOf(
  made: WorldBuilder,
  options: IdentifyOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const { identities, ambiguities } = await identify(
    made.wanted(),
    made.state(),
    made.reader(),
    options,
  );
  return {
    ...Object.fromEntries(
      identities.map(({ address, found, by, missing }) => [
        address,
        `${found ? `${found.id} by ${by}` : by}${missing ? `, ${missing} is missing` : ''}`,
      ]),
    ),
    ...Object.fromEntries(
      ambiguities.map((one) => [
        one.address,
        one.type === 'several'
          ? `one of ${one.candidates.map(({ id }) => id).join(' ')}`
          : `${one.id} is ${one.holder === undefined ? 'nothing' : one.holder}`,
      ]),
    ),
  };
}

type Row = {
  readonly title: string;
  readonly desired: Documents;
  readonly live: Readonly<Record<string, readonly JsonObject[]>>;
  readonly applied?: Documents;
  readonly options?: IdentifyOptions;
  readonly found: Readonly<Record<string, string>>;
};

function identifies(rows: readonly Row[]): void {
  test.each(rows)('$title', async ({ desired, live, applied = {}, options = {}, found }) => {
    const made = world().desired(desired).live(live).applied(applied);
    expect(await identitiesOf(made, options)).toEqual(found);
  });
}

const desk = (id: string, more: JsonObject = {}) => ({ id, name: 'Desk', ...more });
const adopting = (id: string, name = 'Desk') => ({ name, lifecycle: { adopt: id } });

describe('the id in the state', () => {
  identifies([
    {
      title: 'finds a resource, whatever its name is now',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [desk('a1', { name: 'Renamed' }), desk('a2')] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title: 'goes before lifecycle.adopt',
      desired: { 'agent.desk': adopting('a2') },
      live: { agent: [desk('a1'), desk('a2')] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title: 'is looked for where the resource was, when the configuration moves it',
      desired: { 'agent.desk': { name: 'Desk', organization_id: BAY } },
      live: { agent: [desk('a1', { organization_id: HARBOR })] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk', organization_id: HARBOR } },
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title:
        'is looked for where the configuration wants the resource, when somebody moved it there',
      desired: { 'agent.desk': { name: 'Desk', organization_id: BAY } },
      live: { agent: [desk('a1', { organization_id: BAY })] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk', organization_id: HARBOR } },
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title: 'is missing when it is gone',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: {},
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'nothing, a1 is missing' },
    },
    {
      title: 'is missing when somebody made the resource anew, which is found by its name',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [desk('a2')] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'a2 by natural_key, a1 is missing' },
    },
    {
      title:
        'is found where no list that is read has it: it is asked for alone before it is missing',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [desk('a1', { organization_id: BAY })] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk', organization_id: HARBOR } },
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title: 'is looked for where a resource that is no longer configured was',
      desired: {},
      live: { agent: [desk('a1'), desk('b1', { organization_id: BAY })] },
      applied: {
        'agent.desk': { id: 'a1', name: 'Desk' },
        'agent.bay': { id: 'b1', name: 'Bay', organization_id: BAY },
        'agent.gone': { id: 'a9', name: 'Gone' },
      },
      found: {
        'agent.desk': 'a1 by state',
        'agent.bay': 'b1 by state',
        'agent.gone': 'nothing, a9 is missing',
      },
    },
  ]);
});

describe('lifecycle.adopt', () => {
  identifies([
    {
      title: 'takes a resource over, whatever its name is',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a1', { name: 'Other' })] },
      found: { 'agent.desk': 'a1 by adopt' },
    },
    {
      title: 'chooses among resources of one name',
      desired: { 'agent.desk': adopting('a2') },
      live: { agent: [desk('a1'), desk('a2')] },
      found: { 'agent.desk': 'a2 by adopt' },
    },
    {
      title: 'never takes what another address holds in the state',
      desired: { 'agent.desk': { name: 'Desk' }, 'agent.thief': adopting('a1', 'Thief') },
      live: { agent: [desk('a1')] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'a1 by state', 'agent.thief': 'a1 is agent.desk' },
    },
    {
      title: 'keeps others from finding the same resource by its name',
      desired: { 'agent.desk': { name: 'Desk' }, 'agent.other': adopting('a1', 'Other') },
      live: { agent: [desk('a1')] },
      found: { 'agent.desk': 'nothing', 'agent.other': 'a1 by adopt' },
    },
    {
      title: 'gives one resource to one address only',
      desired: { 'agent.first': adopting('a1', 'First'), 'agent.second': adopting('a1', 'Second') },
      live: { agent: [desk('a1')] },
      found: { 'agent.first': 'a1 by adopt', 'agent.second': 'a1 is agent.first' },
    },
    {
      title: 'is of one kind: ids of others do not count',
      desired: { 'agent.desk': adopting('x1') },
      live: { agent: [desk('a1')], retry_policy: [{ id: 'x1', name: 'Desk' }] },
      found: { 'agent.desk': 'x1 is nothing' },
    },
    {
      title: 'does not take what is in another organization',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a1', { organization_id: BAY })] },
      found: { 'agent.desk': 'a1 is nothing' },
    },
    {
      title: 'of what was adopted once and is gone: it is missing like any other',
      desired: { 'agent.desk': adopting('a1') },
      live: {},
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      found: { 'agent.desk': 'nothing, a1 is missing' },
    },
  ]);
});

/** For a rollback, whose `lifecycle.adopt` says what a resource was once. */
describe('lifecycle.adopt, where resources do not move', () => {
  const options = { moves: false };
  identifies([
    {
      title: 'finds the resource that was there, though another took its place and both stayed',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a1'), desk('a2')] },
      applied: { 'agent.desk': { id: 'a2', name: 'Desk' } },
      options,
      found: { 'agent.desk': 'a1 by adopt' },
    },
    {
      title: 'finds the resource where the state knows none',
      desired: { 'agent.desk': adopting('a1', 'Other') },
      live: { agent: [desk('a1')] },
      options,
      found: { 'agent.desk': 'a1 by adopt' },
    },
    {
      title: 'gives way to the id in the state where it is gone',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a2')] },
      applied: { 'agent.desk': { id: 'a2', name: 'Desk' } },
      options,
      found: { 'agent.desk': 'a2 by state' },
    },
    {
      title: 'gives way to the natural key where it is gone and the state knows none',
      desired: { 'agent.desk': adopting('a1'), 'agent.other': adopting('a9', 'Other') },
      live: { agent: [desk('a2')] },
      options,
      found: { 'agent.desk': 'a2 by natural_key', 'agent.other': 'nothing' },
    },
    {
      title: 'of the id in the state finds it by the state',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a1')] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk' } },
      options,
      found: { 'agent.desk': 'a1 by state' },
    },
    {
      title: 'does not take what another address holds',
      desired: { 'agent.desk': adopting('a1'), 'agent.other': { name: 'Other' } },
      live: { agent: [desk('a1'), desk('a2')] },
      applied: {
        'agent.desk': { id: 'a2', name: 'Desk' },
        'agent.other': { id: 'a1', name: 'Other' },
      },
      options,
      found: { 'agent.desk': 'a2 by state', 'agent.other': 'a1 by state' },
    },
    {
      title: 'does not take what an address holds that is no longer configured',
      desired: { 'agent.desk': adopting('a1') },
      live: { agent: [desk('a1')] },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      options,
      found: { 'agent.desk': 'nothing', 'agent.old': 'a1 by state' },
    },
  ]);
});

/** `address → id by how`, and the address that the state still has it under. */
async function formersOf(
  made: WorldBuilder,
  priorAddresses?: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, string>>> {
  const options = priorAddresses && {
    priorAddresses: (address: string) => priorAddresses[address] ?? [],
  };
  const { identities } = await identify(made.wanted(), made.state(), made.reader(), options);
  return Object.fromEntries(
    identities.map(({ address, found, by, missing, movedFrom, knownAs }) => [
      address,
      [
        `${found?.id ?? missing ?? 'none'} by ${by}`,
        ...(movedFrom === undefined ? [] : [`moved from ${movedFrom}`]),
        ...(knownAs === undefined ? [] : [`known as ${knownAs}`]),
      ].join(', '),
    ]),
  );
}

describe('a former address', () => {
  type Moved = {
    readonly title: string;
    readonly desired?: Documents;
    readonly applied: Documents;
    readonly priorAddresses?: Readonly<Record<string, readonly string[]>>;
    readonly found: Readonly<Record<string, string>>;
  };
  const renamed = { 'agent.new': { name: 'Renamed' } };
  const rows: readonly Moved[] = [
    {
      title: 'hands over the id in the state, whatever the resource is called now',
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old'] },
      found: { 'agent.new': 'a1 by state, moved from agent.old' },
    },
    {
      title: 'is passed over for one before it where the state does not have it',
      applied: { 'agent.older': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old', 'agent.older'] },
      found: { 'agent.new': 'a1 by state, moved from agent.older' },
    },
    {
      title: 'that is the latest goes before the others',
      applied: {
        'agent.older': { id: 'a2', name: 'Night' },
        'agent.old': { id: 'a1', name: 'Desk' },
      },
      priorAddresses: { 'agent.new': ['agent.old', 'agent.older'] },
      found: {
        'agent.new': 'a1 by state, moved from agent.old',
        'agent.older': 'a2 by state',
      },
    },
    {
      title: 'is not looked at where the state has the address itself',
      applied: {
        'agent.new': { id: 'a2', name: 'Night' },
        'agent.old': { id: 'a1', name: 'Desk' },
      },
      priorAddresses: { 'agent.new': ['agent.old'] },
      found: { 'agent.new': 'a2 by state', 'agent.old': 'a1 by state' },
    },
    {
      title: 'keeps its resource where it is still configured',
      desired: { ...renamed, 'agent.old': { name: 'Desk' } },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old'] },
      found: { 'agent.new': 'none by nothing', 'agent.old': 'a1 by state' },
    },
    {
      title: 'hands over to one address only',
      desired: { ...renamed, 'agent.newer': { name: 'Newer' } },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old'], 'agent.newer': ['agent.old'] },
      found: {
        'agent.new': 'a1 by state, moved from agent.old',
        'agent.newer': 'none by nothing',
      },
    },
    {
      title:
        'hands over to one address only, also where a new one has the name that the resource still has',
      desired: { ...renamed, 'agent.second': { name: 'Desk' } },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old'] },
      found: {
        'agent.new': 'a1 by state, moved from agent.old',
        'agent.second': 'none by nothing',
      },
    },
    {
      title: 'hands over although what has the name of the resource comes first',
      desired: { 'agent.first': { name: 'Desk' }, ...renamed },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      priorAddresses: { 'agent.new': ['agent.old'] },
      found: {
        'agent.first': 'none by nothing',
        'agent.new': 'a1 by state, moved from agent.old',
      },
    },
    {
      title: 'is told where the resource was found by its name',
      desired: { 'agent.new': { name: 'Desk' } },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      found: { 'agent.new': 'a1 by state, moved from agent.old' },
    },
    {
      title: 'is told where lifecycle.adopt took the resource over',
      desired: { 'agent.new': adopting('a1', 'Other') },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      found: { 'agent.new': 'a1 by state, moved from agent.old' },
    },
    {
      title: 'is not told where the state has the resource under both',
      desired: { 'agent.new': { name: 'Desk' } },
      applied: {
        'agent.new': { id: 'a1', name: 'Desk' },
        'agent.old': { id: 'a1', name: 'Desk' },
      },
      found: { 'agent.new': 'a1 by state' },
    },
  ];
  const live = { agent: [desk('a1'), desk('a2', { name: 'Night' })] };
  test.each(rows)('$title', async ({ desired = renamed, applied, priorAddresses, found }) => {
    const made = world().desired(desired).live(live).applied(applied);
    expect(await formersOf(made, priorAddresses)).toEqual(found);
  });
});

test('without a state, resources are found by their names', async () => {
  const made = world()
    .desired({ 'agent.desk': { name: 'Desk' }, 'agent.other': { name: 'Other' } })
    .live({ agent: [desk('a1')] });
  const { identities } = await identify(made.wanted(), undefined, made.reader());
  expect(identities.map(({ address, found, by }) => [address, found?.id, by])).toEqual([
    ['agent.desk', 'a1', 'natural_key'],
    ['agent.other', undefined, 'nothing'],
  ]);
});

test('an id that cannot be adopted is told together with who holds it', async () => {
  const made = world()
    .desired({ 'agent.desk': { name: 'Desk' }, 'agent.thief': adopting('a1', 'Thief') })
    .live({ agent: [desk('a1')] })
    .applied({ 'agent.desk': { id: 'a1', name: 'Desk' } });
  const { ambiguities } = await identify(made.wanted(), made.state(), made.reader());
  expect(ambiguities).toEqual([
    { type: 'adopts_nothing', address: 'agent.thief', id: 'a1', holder: 'agent.desk' },
  ]);
});

describe('the natural key', () => {
  identifies([
    {
      title: 'is none where there is no name: what has no name either is another resource',
      desired: { 'agent.desk': { greeting_message: 'Hello' } },
      live: { agent: [{ id: 'a1', greeting_message: 'Hello' }] },
      found: { 'agent.desk': 'nothing' },
    },
    {
      title: 'of an agent is its organization and its name',
      desired: {
        'agent.desk': { name: 'Desk' },
        'agent.bay': { name: 'Desk', organization_id: BAY },
      },
      live: {
        agent: [desk('a1', { organization_id: HARBOR }), desk('b1', { organization_id: BAY })],
      },
      found: { 'agent.desk': 'a1 by natural_key', 'agent.bay': 'b1 by natural_key' },
    },
    {
      title: 'is compared letter by letter',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [desk('a1', { name: 'desk' }), desk('a2', { name: 'De sk' })] },
      found: { 'agent.desk': 'nothing' },
    },
    {
      title: 'is found whatever the platform made of the white space around it',
      desired: { 'agent.desk': { name: ' Desk\n' } },
      live: { agent: [desk('a1', { name: 'desk' }), desk('a2', { name: 'Desk' })] },
      found: { 'agent.desk': 'a2 by natural_key' },
    },
    {
      title: 'that fits several is an error that lists them',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [desk('a1'), desk('a2'), desk('a3', { name: 'Other' })] },
      found: { 'agent.desk': 'one of a1 a2' },
    },
    {
      title: 'does not count what another address holds',
      desired: { 'agent.desk': { name: 'Desk' }, 'agent.twin': { name: 'Twin' } },
      live: { agent: [desk('a1'), desk('a2')] },
      applied: { 'agent.twin': { id: 'a2', name: 'Desk' } },
      found: { 'agent.desk': 'a1 by natural_key', 'agent.twin': 'a2 by state' },
    },
    {
      title: 'of what only an address has that is no longer configured: it moved',
      desired: { 'agent.new': { name: 'Desk' } },
      live: { agent: [desk('a1')] },
      applied: { 'agent.old': { id: 'a1', name: 'Desk' } },
      found: { 'agent.new': 'a1 by state' },
    },
    {
      title: 'of a retry policy is its name',
      desired: { 'retry_policy.gentle': { name: 'Gentle' } },
      live: { retry_policy: [{ id: 'p1', name: 'Gentle' }] },
      found: { 'retry_policy.gentle': 'p1 by natural_key' },
    },
    {
      title: 'of templates and voices is organization and name, each kind for itself',
      desired: {
        'email_template.hello': { name: 'Hello' },
        'sms_template.hello': { name: 'Hello', message_type: 'sms' },
        'custom_voice.hello': { name: 'Hello' },
      },
      live: {
        email_template: [{ id: 'e1', name: 'Hello' }],
        sms_template: [{ id: 's1', name: 'Hello' }],
        custom_voice: [{ id: 'v1', name: 'Hello' }],
      },
      found: {
        'email_template.hello': 'e1 by natural_key',
        'sms_template.hello': 's1 by natural_key',
        'custom_voice.hello': 'v1 by natural_key',
      },
    },
  ]);
});

describe('a knowledge source', () => {
  const page = (url: string) => ({ knowledge_base_id: 'kb1', url });
  const file = (name: string) => ({ knowledge_base_id: 'kb1', name });
  const INGESTED = { status: 'active', chunk_count: 3 };
  identifies([
    {
      title: 'is found by its url or its file name, in its knowledge base',
      desired: {
        'knowledge_source.kb.faq': page('https://x.test/faq'),
        'knowledge_source.kb.prices': file('prices.pdf'),
      },
      live: {
        knowledge_source: [
          { id: 's0', knowledge_base_id: 'kb2', url: 'https://x.test/faq', name: 'FAQ' },
          { id: 's1', knowledge_base_id: 'kb1', url: 'https://x.test/faq', name: 'prices.pdf' },
          { id: 's2', knowledge_base_id: 'kb1', url: null, name: 'prices.pdf' },
        ],
      },
      found: {
        'knowledge_source.kb.faq': 's1 by natural_key',
        'knowledge_source.kb.prices': 's2 by natural_key',
      },
    },
    {
      title: 'of which there are several versions is the newest',
      desired: { 'knowledge_source.kb.prices': file('prices.pdf') },
      live: {
        knowledge_source: [
          { id: 's1', name: 'prices.pdf', created_at: '2026-01-02T00:00:00Z' },
          { id: 's3', name: 'prices.pdf', created_at: '2026-01-04T00:00:00.250Z' },
          { id: 's2', name: 'prices.pdf', created_at: '2026-01-04T00:00:00Z' },
        ],
      },
      found: { 'knowledge_source.kb.prices': 's3 by natural_key' },
    },
    {
      title: 'of which the newest are of one time is one that is ingested',
      desired: { 'knowledge_source.kb.prices': file('prices.pdf') },
      live: {
        knowledge_source: [
          { id: 's1', name: 'prices.pdf', created_at: '2026-01-04T00:00:00Z', status: 'pending' },
          { id: 's2', name: 'prices.pdf', created_at: '2026-01-04T00:00:00Z', ...INGESTED },
          { id: 's3', name: 'prices.pdf', created_at: '2026-01-04T00:00:00Z', status: 'pending' },
          { id: 's4', name: 'prices.pdf', created_at: '2026-01-02T00:00:00Z', ...INGESTED },
        ],
      },
      found: { 'knowledge_source.kb.prices': 's2 by natural_key' },
    },
    {
      title: 'of which the newest is not ingested is the newest all the same',
      desired: { 'knowledge_source.kb.prices': file('prices.pdf') },
      live: {
        knowledge_source: [
          { id: 's1', name: 'prices.pdf', created_at: '2026-01-02T00:00:00Z', ...INGESTED },
          { id: 's2', name: 'prices.pdf', created_at: '2026-01-04T00:00:00Z', status: 'pending' },
        ],
      },
      found: { 'knowledge_source.kb.prices': 's2 by natural_key' },
    },
  ]);
});

test('lifecycle.adopt of what does not exist is an error that says so', async () => {
  const made = world()
    .desired({ 'agent.desk': adopting('a9') })
    .live({ agent: [desk('a1')] });
  await expect(made.plan()).rejects.toMatchObject({
    code: 'config',
    message: 'agent.desk: lifecycle.adopt names a9, and the platform has no such agent',
    hint: expect.stringContaining('lifecycle.adopt'),
  });
});

test('several resources of one name are an error that says what to do', async () => {
  const made = world()
    .desired({ 'agent.desk': { name: 'Desk' } })
    .live({ agent: [desk('a1'), desk('a2')] });
  await expect(made.plan()).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(/import agent\.desk a1`\n.*import agent\.desk a2`/),
    hint: expect.stringContaining('lifecycle.adopt'),
  });
});
