import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { createReader } from '../../src/live/reader.ts';
import { failure, open, type Reply, script, useScripts } from '../platform/platform.ts';

useScripts();

const agent = kindNamed('agent');
const scope = { organization_id: 'o' };

const data = (value: Json): Reply => ({ body: { data: value } });
const notFound: Reply = { status: 404, body: { error: 'not_found' } };
const reader = () => createReader(open());

describe('facets', () => {
  const readiness = {
    agent_id: 'a',
    can_enable: true,
    payment_tool_enabled: true,
    success_url: 'https://a.test/paid',
    max_single_charge_cents: 5000,
    max_per_call_cents: 9000,
    max_attempts_per_call: 2,
  };
  const record = {
    id: 'a',
    name: 'Front desk',
    sip_registration_data: { registrationEnabled: false, username: 'u' },
  };
  const payments = {
    tool_enabled: true,
    success_url: 'https://a.test/paid',
    max_single_charge_cents: 5000,
    max_per_call_cents: 9000,
    max_attempts_per_call: 2,
  };
  const sip = { registration_enabled: false };
  const at = { id: 'a', scope };
  const agentLine = 'GET /v1/agents/a';
  const paymentsLine = 'GET /v1/agents/a/payments/readiness';

  it.each<{ wanted: readonly string[]; also: Record<string, readonly Reply[]>; gives: object }>([
    { wanted: [], also: {}, gives: {} },
    { wanted: ['sip'], also: {}, gives: { sip } },
    { wanted: ['payments'], also: { [paymentsLine]: [{ body: readiness }] }, gives: { payments } },
    {
      wanted: ['sip', 'payments'],
      also: { [paymentsLine]: [{ body: readiness }] },
      gives: { sip, payments },
    },
  ])('$wanted: only these are read', async ({ wanted, also, gives }) => {
    script({ [agentLine]: [data(record)], ...also });
    const live = await reader().read(agent, at, new Set(wanted));
    expect(live?.document).toEqual({ ...record, ...gives });
    expect(live?.record).toEqual(record);
  });

  it('that the record does not have stays absent', async () => {
    script({ [agentLine]: [data({ id: 'a', sip_registration_data: null })] });
    const live = await reader().read(agent, at, new Set(['sip']));
    expect(live?.document).not.toHaveProperty('sip');
  });

  it('that is refused is unread, not absent, and stops nothing else', async () => {
    script({
      [agentLine]: [data(record)],
      [paymentsLine]: [{ status: 403, body: { error: 'Forbidden' } }],
    });
    const live = await reader().read(agent, at, new Set(['payments']));
    expect(live?.unread?.payments).toMatch(/\/payments\/readiness answered 403: Forbidden$/);
    expect(live?.document).not.toHaveProperty('payments');
  });

  it('of an agent that is gone are not asked for', async () => {
    script({ [agentLine]: [notFound] });
    await expect(reader().read(agent, at, new Set(['sip', 'payments']))).resolves.toBeUndefined();
  });
});

describe('history', () => {
  const line = 'GET /v1/agents/a/history';

  it('comes newest first, whatever the order of the answer', async () => {
    const seen = script({
      [line]: [
        data([
          { id: 9, version: 3 },
          {
            id: 11,
            version: 1,
            action: 'reverted',
            reverted_from_id: 9,
            actor: { id: 'api:acct' },
            source: 'dashboard-api',
            created_at: '2026-03-01T00:00:00Z',
          },
          { id: 10, version: 2, actor: null, reverted_from_id: null },
        ]),
      ],
    });
    const history = await reader().history(agent, 'a', 20);
    expect(history.map(({ id }) => id)).toEqual([11, 10, 9]);
    expect(history[0]).toEqual({
      id: 11,
      action: 'reverted',
      actor: 'api:acct',
      source: 'dashboard-api',
      at: '2026-03-01T00:00:00Z',
      reverted_from_id: 9,
    });
    expect(history[1]).toEqual({
      id: 10,
      action: null,
      actor: null,
      source: null,
      at: null,
      reverted_from_id: null,
    });
    expect(seen[0]?.path).toBe('/v1/agents/a/history?limit=20');
  });

  const entries = (...ids: readonly number[]) => data(ids.map((id) => ({ id })));

  it.each<{ what: string; replies: readonly Reply[]; asks: readonly number[]; newest: number }>([
    { what: 'newest first', replies: [entries(12, 11)], asks: [2], newest: 12 },
    { what: 'oldest first, few', replies: [entries(9)], asks: [2], newest: 9 },
    {
      what: 'oldest first, more than were asked for',
      replies: [entries(1, 2), entries(1, 2, 3, 4)],
      asks: [2, 100],
      newest: 4,
    },
    {
      what: 'oldest first, on a platform that refuses large limits',
      replies: [entries(1, 2), { status: 400, body: { error: 'invalid_request' } }],
      asks: [2, 100],
      newest: 2,
    },
  ])('is asked for until the newest entry is known: $what', async ({ replies, asks, newest }) => {
    const seen = script({ [line]: replies });
    const history = await reader().history(agent, 'a', 1);
    expect(history.map(({ id }) => id)).toEqual([newest]);
    expect(seen.map(({ path }) => path.split('=')[1])).toEqual(asks.map(String));
  });

  it('is empty, and not asked for, of kinds that have none', async () => {
    await expect(reader().history(kindNamed('retry_policy'), 'p', 1)).resolves.toEqual([]);
  });

  it.each<{ what: string; reply: Reply; says: RegExp }>([
    { what: 'no list', reply: { body: {} }, says: /without a `data` list/ },
    { what: 'an empty body', reply: {}, says: /with an empty body$/ },
    { what: 'a text as id', reply: data([{ id: '9' }]), says: /without a numeric id$/ },
    { what: 'no entry', reply: data([null]), says: /without a `data` list of objects$/ },
  ])('is not taken for empty: $what', async ({ reply, says }) => {
    script({ [line]: [reply] });
    expect(await failure(reader().history(agent, 'a', 1))).toMatchObject({
      code: 'api',
      message: expect.stringMatching(says),
    });
  });
});
