import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { createReader } from '../../src/live/reader.ts';
import { failure, open, type Reply, script, useScripts } from '../platform/platform.ts';

useScripts();

const agent = kindNamed('agent');
const scope = { organization_id: 'o' };
const none: ReadonlySet<string> = new Set();

const data = (value: Json): Reply => ({ body: { data: value } });
const page = (...items: readonly JsonObject[]): Reply => ({
  body: { data: items, pagination: { total: items.length, totalPages: 1 } },
});
const notFound: Reply = { status: 404, body: { error: 'not_found', error_description: 'Gone' } };

/** A reader over a client that speaks to the scripted platform. */
const reader = () => createReader(open());

describe('list', () => {
  it('is read once, for those who ask together and for those who ask later', async () => {
    const seen = script({ 'GET /v1/agents': [page({ id: 'a', name: 'Front desk' })] });
    const live = reader();
    const [first, second] = await Promise.all([live.list(agent, scope), live.list(agent, scope)]);
    expect(first).toEqual([{ id: 'a', scope, record: { id: 'a', name: 'Front desk' } }]);
    expect(second).toBe(first);
    expect(await live.list(agent, { organization_id: 'o' })).toBe(first);
    expect(seen).toHaveLength(1);
  });

  it('is one per scope and kind', async () => {
    script({
      'GET /v1/agents': [page({ id: 'a' }), page({ id: 'b' })],
      'GET /v1/sms-templates': [page({ id: 't' })],
    });
    const live = reader();
    const ids = [
      await live.list(agent, scope),
      await live.list(agent, { organization_id: 'other' }),
      await live.list(kindNamed('sms_template'), scope),
    ].map((items) => items?.map(({ id }) => id));
    expect(ids).toEqual([['a'], ['b'], ['t']]);
  });

  it('that failed is read again', async () => {
    script({ 'GET /v1/agents': [{ status: 500 }, page({ id: 'a' })] });
    const live = reader();
    expect(await failure(live.list(agent, scope))).toMatchObject({ status: 500 });
    await expect(live.list(agent, scope)).resolves.toHaveLength(1);
  });

  it.each<{ item: JsonObject }>([{ item: {} }, { item: { id: '' } }, { item: { id: 7 } }])(
    'with $item is an error',
    async ({ item }) => {
      script({ 'GET /v1/agents': [page(item)] });
      expect(await failure(reader().list(agent, scope))).toMatchObject({
        code: 'api',
        message: 'the list of kind agent has an item without an id',
      });
    },
  );
});

describe('read', () => {
  it('takes the whole record, not the subset of the list', async () => {
    const record = { id: 'a', name: 'Front desk', system_prompt: 'Be kind.' };
    script({ 'GET /v1/agents/a': [data(record)] });
    const at = { id: 'a', scope, record: { id: 'a', name: 'Front desk' } };
    await expect(reader().read(agent, at, none)).resolves.toEqual({
      id: 'a',
      scope,
      extent: 'whole',
      document: record,
      record,
    });
  });

  it('is done afresh each time', async () => {
    script({
      'GET /v1/agents/a': [data({ id: 'a', name: 'one' }), data({ id: 'a', name: 'two' })],
    });
    const live = reader();
    const names = [];
    for (let count = 0; count < 2; count += 1) {
      names.push((await live.read(agent, { id: 'a', scope }, none))?.document.name);
    }
    expect(names).toEqual(['one', 'two']);
  });

  it.each<{ what: string; reply: Reply }>([
    { what: 'coded', reply: notFound },
    { what: 'flat', reply: { status: 404, body: { error: 'Agent not found' } } },
  ])('finds nothing where the platform says so: 404, $what', async ({ reply }) => {
    script({ 'GET /v1/agents/a': [reply] });
    await expect(reader().read(agent, { id: 'a', scope }, none)).resolves.toBeUndefined();
  });

  it.each<{ what: string; reply: Reply; error: object }>([
    {
      what: '404 of a web server before it',
      reply: { status: 404, body: '<html>', headers: { 'content-type': 'text/html' } },
      error: { status: 404, hint: expect.stringMatching(/base_url/) },
    },
    { what: '404 without a body', reply: { status: 404 }, error: { status: 404 } },
    { what: '403', reply: { status: 403, body: { error: 'forbidden' } }, error: { status: 403 } },
    { what: '500', reply: { status: 500 }, error: { status: 500 } },
    {
      what: 'an empty body',
      reply: {},
      error: { code: 'api', message: /with an empty body$/ },
    },
    { what: 'a list', reply: data([]), error: { message: /without a `data` object/ } },
    { what: 'a bare record', reply: { body: { id: 'a' } }, error: { code: 'api' } },
  ])('does not take $what for an agent that is gone', async ({ reply, error }) => {
    script({ 'GET /v1/agents/a': [reply] });
    const thrown = await failure(reader().read(agent, { id: 'a', scope }, none));
    if ('message' in error && error.message instanceof RegExp) {
      expect(String(thrown)).toMatch(error.message);
    } else expect(thrown).toMatchObject(error);
  });
});

describe('read, where the specification does not show the call', () => {
  const template = kindNamed('email_template');
  const at = { id: 't', scope };
  const get = 'GET /v1/email-templates/t';
  const list = 'GET /v1/email-templates';

  it('finds nothing where the list has no such item either', async () => {
    script({ [get]: [notFound], [list]: [page({ id: 'other' })] });
    await expect(reader().read(template, at, none)).resolves.toBeUndefined();
  });

  it('takes the item of the list where that has it: the platform lacks the endpoint', async () => {
    script({
      [get]: [notFound],
      [list]: [page({ id: 't', name: 'Reminder' }, { id: 'u', name: 'Note' })],
    });
    const live = reader();
    expect(live.findLack('getEmailTemplate')).toBeUndefined();
    const found = await live.read(template, at, none);
    expect(found).toMatchObject({ extent: 'listed', document: { id: 't', name: 'Reminder' } });
    expect(live.findLack('getEmailTemplate')).toBe('absent');
    // From now on the list is all that is asked: not the item of one that was read for a part of it.
    const other = await live.read(template, { ...at, id: 'u', record: { id: 'u' } }, none);
    expect(other).toMatchObject({ extent: 'listed', record: { id: 'u', name: 'Note' } });
  });

  it('does not trust a list that was read before', async () => {
    script({ [get]: [notFound], [list]: [page({ id: 't' }), page()] });
    const live = reader();
    await live.list(template, scope);
    await expect(live.read(template, at, none)).resolves.toBeUndefined();
  });
});

describe('read, of a kind without an endpoint for one', () => {
  const source = kindNamed('knowledge_source');
  const at = { id: 's', scope: { knowledge_base_id: 'k' } };
  const list = 'GET /v1/knowledge-bases/k/sources';

  it('takes the item of the list', async () => {
    const record = { id: 's', url: 'https://a.test', name: 'faq', status: 'active' };
    await expect(reader().read(source, { ...at, record }, none)).resolves.toEqual({
      ...at,
      extent: 'whole',
      record,
      document: {
        id: 's',
        knowledge_base_id: 'k',
        url: 'https://a.test',
        status: 'active',
      },
    });
  });

  it('reads the list afresh without one', async () => {
    script({
      [list]: [data([{ id: 's', name: 'old.pdf' }]), data([{ id: 's', name: 'new.pdf' }])],
    });
    const live = reader();
    await live.list(source, at.scope);
    const found = await live.read(source, at, none);
    expect(found?.document).toEqual({ id: 's', knowledge_base_id: 'k', name: 'new.pdf' });
  });

  it('finds nothing where the list has none', async () => {
    script({ [list]: [data([{ id: 'other' }])] });
    await expect(reader().read(source, at, none)).resolves.toBeUndefined();
  });
});

describe('what only an assumption puts somewhere', () => {
  const sms = kindNamed('sms_template');
  const at = { id: 't', scope };
  const get = 'GET /v1/sms-templates/t';
  const list = 'GET /v1/sms-templates';
  const gone: readonly Reply[] = [
    notFound,
    { status: 404, body: '<html>', headers: { 'content-type': 'text/html' } },
    { status: 405 },
  ];

  it.each(gone)('is absent where a list answers $status', async (reply) => {
    const seen = script({ [list]: [reply] });
    const live = reader();
    await expect(live.list(sms, scope)).resolves.toBeUndefined();
    await expect(live.list(sms, scope, true)).resolves.toBeUndefined();
    expect(live.findLack('listSmsTemplates')).toBe('absent');
    expect(seen).toHaveLength(1);
  });

  it('is not taken for absent for any other refusal', async () => {
    script({ [list]: [{ status: 403, body: { error: 'forbidden' } }] });
    expect(await failure(reader().list(sms, scope))).toMatchObject({
      message: expect.stringMatching(/organization_id o cannot be listed/),
    });
  });

  it.each<{ isUnread: boolean; found: object | undefined }>([
    { isUnread: false, found: undefined },
    { isUnread: true, found: { extent: 'nothing', document: {}, record: {} } },
  ])('a 404 without a list to look in; never read before: $isUnread', async (row) => {
    script({ [get]: [notFound], [list]: [notFound] });
    const found = await reader().read(sms, { ...at, isUnread: row.isUnread }, none);
    if (row.found === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(row.found);
  });

  it('is not called at all where the stack refuses it', async () => {
    const seen = script({});
    const live = createReader(open({ endpoints: { overrides: {}, assume: false } }));
    await expect(live.list(sms, scope)).resolves.toBeUndefined();
    await expect(live.read(sms, at, none)).resolves.toMatchObject({ extent: 'nothing' });
    expect(live.findLack('listSmsTemplates')).toBe('refused');
    expect(live.findLack('createSmsTemplate')).toBeUndefined();
    expect(seen).toEqual([]);
  });

  it('is called where the stack says where it lies, and then has to be there', async () => {
    const overrides = { listSmsTemplates: { path: '/v2/texts' } };
    script({ 'GET /v2/texts': [notFound] });
    const live = createReader(open({ endpoints: { overrides, assume: false } }));
    expect(live.findLack('listSmsTemplates')).toBeUndefined();
    expect(await failure(live.list(sms, scope))).toMatchObject({
      message: expect.stringMatching(/cannot be listed/),
    });
  });
});

describe('entitlements', () => {
  const feature = (key: string, state: string): Reply => ({
    body: {
      feature_administration_enabled: true,
      scope: { level: 'organization', id: 'o' },
      data: [{ key, state, locked_scope: state === 'locked' ? 'here' : null }],
    },
  });

  it('are asked once, and again when they are to be fresh', async () => {
    const key = 'llm.alpha-4o';
    const seen = script({
      'GET /v1/features': [feature(key, 'available'), feature(key, 'locked')],
    });
    const live = reader();
    const isLocked = async (fresh: boolean) => {
      const locks = await live.entitlements(fresh).locks('o');
      return locks.type === 'answered' && locks.value.has(key);
    };
    expect([await isLocked(false), await isLocked(false)]).toEqual([false, false]);
    expect([await isLocked(true), await isLocked(false)]).toEqual([true, true]);
    expect(seen.map(({ path }) => path)).toEqual(
      ['o', 'o'].map((id) => `/v1/features?organization_id=${id}`),
    );
  });
});
