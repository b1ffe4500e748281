import { describe, expect, test } from 'vitest';
import type { JsonObject, ValueObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { listFields, readWith } from '../../src/plan/reader.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { HARBOR, world } from '../world.ts';

const AGENT = kindNamed('agent');
const AT = { id: 'a1', scope: { organization_id: HARBOR } };
const DESK = { id: 'a1', organization_id: HARBOR, name: 'Desk' };

/** A platform with one agent that has both facets. */
const reader = (record: JsonObject = {}) =>
  world()
    .live({ agent: [{ ...DESK, sip_registration_data: { registrationEnabled: true }, ...record }] })
    .facets({ a1: { payment_tool_enabled: true } })
    .reader();

describe('a resource is read with', () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ['the facets that cost no request', [], ['sip']],
    ['those that cost one where they are wanted', ['name', 'payments'], ['sip', 'payments']],
  ])('%s', async (_, fields, facets) => {
    const asked: (readonly string[])[] = [];
    const { read } = reader();
    const listening = {
      read: (...[kind, at, wanted]: Parameters<typeof read>) => {
        asked.push([...wanted]);
        return read(kind, at, wanted);
      },
    };
    const live = await readWith(listening, AGENT, AT, fields);
    expect(asked).toEqual([facets]);
    expect(Object.keys(live?.document ?? {})).toEqual(expect.arrayContaining([...facets]));
  });

  test.each<readonly [string, JsonObject, readonly string[], JsonObject]>([
    [
      'what is newer than the schema under the name that it was sent under',
      { barge_in_mode: 'soft' },
      ['bargeInMode'],
      { bargeInMode: 'soft' },
    ],
    [
      'several such fields',
      { barge_in_mode: 'soft', hold_music: 'jazz' },
      ['bargeInMode', 'holdMusic'],
      { bargeInMode: 'soft', holdMusic: 'jazz' },
    ],
    [
      'one that is returned as it was sent',
      { bargeInMode: 'soft' },
      ['bargeInMode'],
      { bargeInMode: 'soft' },
    ],
    [
      'both, where both are returned',
      { bargeInMode: 'soft', barge_in_mode: 'hard' },
      ['bargeInMode'],
      { bargeInMode: 'soft', barge_in_mode: 'hard' },
    ],
    [
      'what nobody asked for as it is',
      { barge_in_mode: 'soft' },
      ['name'],
      { barge_in_mode: 'soft' },
    ],
    [
      'what the schema names as it is, however it is asked for',
      { greeting_message: 'Hello' },
      ['greeting_message', 'bargeInMode'],
      { greeting_message: 'Hello' },
    ],
  ])('%s', async (_, record, fields, found) => {
    const live = await readWith(reader(record), AGENT, AT, fields);
    expect(live?.document).toEqual({
      ...DESK,
      sip_registration_data: { registrationEnabled: true },
      sip: { registration_enabled: true },
      ...found,
    });
    expect(live).toMatchObject({ id: 'a1', extent: 'whole', record: { name: 'Desk', ...record } });
  });

  test('nothing where there is none', async () => {
    const at = { ...AT, id: 'gone' };
    expect(await readWith(reader(), AGENT, at, ['bargeInMode'])).toBeUndefined();
    expect(await readWith(reader(), AGENT, at, [])).toBeUndefined();
  });
});

describe('the fields that a resource is read with', () => {
  const leaves = (...texts: readonly string[]): ResourceState['leaves'] =>
    Object.fromEntries(texts.map((text) => [text, { value: 'known' }]));

  test.each<
    readonly [
      string,
      ValueObject | undefined,
      ResourceState['leaves'] | undefined,
      readonly string[],
    ]
  >([
    ['those of the configuration', { name: 'Desk', sip: {} }, undefined, ['name', 'sip']],
    ['none of what neither has', undefined, undefined, []],
    [
      'with those newer than the schema that the state remembers',
      { name: 'Desk' },
      leaves('bargeInMode', 'holdMusic.title', 'queues[night].size'),
      ['name', 'bargeInMode', 'holdMusic', 'queues'],
    ],
    [
      'also where their names take quotes',
      { name: 'Desk' },
      leaves('"barge in".mode', '"hold.music"'),
      ['name', 'barge in', 'hold.music'],
    ],
    [
      'without what the schema names and the state remembers',
      { name: 'Desk' },
      leaves(
        'greeting_message',
        'voice_settings.speed',
        'extensions.tools[crm].url',
        'payments.tool_enabled',
      ),
      ['name'],
    ],
    [
      'without what the state has in a form that is no path',
      { name: 'Desk' },
      leaves('"half'),
      ['name'],
    ],
    [
      'of what is to go, with the facets that were ever written',
      undefined,
      leaves('name', 'voice_settings.speed', 'payments.tool_enabled'),
      ['payments'],
    ],
    [
      'of what is to go, with what is newer than the schema too',
      undefined,
      leaves('bargeInMode', 'sip.registration_enabled'),
      ['bargeInMode', 'sip'],
    ],
  ])('are %s', (_, document, known, fields) => {
    expect([...listFields(AGENT, document, known)]).toEqual(fields);
  });
});
