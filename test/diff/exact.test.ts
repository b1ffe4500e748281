import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { compare } from '../../src/diff/compare.ts';
import { NO_FINGERPRINTS } from '../../src/diff/leaves.ts';
import { mergeDocuments } from '../../src/diff/merge.ts';
import { kindNamed } from '../../src/kinds/index.ts';

const { schema } = kindNamed('agent');
const WORLD = {
  findId: () => undefined,
  findSecret: () => undefined,
  fingerprints: NO_FINGERPRINTS,
};

function differences(wanted: JsonObject, live: JsonObject) {
  const sides = {
    address: 'agent.desk',
    applied: undefined,
    ignore: [],
    isPartial: true,
    isExact: true,
    resend: false,
  };
  return compare(schema, wanted, live, sides, WORLD);
}

const tool = (name: string) => ({ type: 'webhook', name, url: `https://${name}.example.test` });

describe('what is live beside a whole document counts as removed', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject, readonly string[]])[] = [
    ['a field that no schema knows is not', { name: 'Desk' }, { name: 'Desk', shard: 7 }, []],
    ['nothing', { name: 'Desk' }, { id: 'a1', name: 'Desk', updated_at: 'now' }, []],
    ['a field', { name: 'Desk' }, { name: 'Desk', description: 'New' }, ['description']],
    [
      'a member of an object that stays',
      { voice_settings: { speed: 1 } },
      { voice_settings: { speed: 1, language: 'en' } },
      ['voice_settings.language'],
    ],
    [
      'an element of a list that is gone as a whole',
      { name: 'Desk' },
      { name: 'Desk', extensions: { tools: [tool('crm')] } },
      ['extensions.tools[crm]'],
    ],
    [
      'an element of a list that stays, once',
      { extensions: { tools: [tool('crm')] } },
      { extensions: { tools: [tool('crm'), tool('log')] } },
      ['extensions.tools[log]'],
    ],
    [
      'an empty value is none',
      { name: 'Desk' },
      { name: 'Desk', email: [], description: null },
      [],
    ],
  ];
  test.each(rows)('%s', (_what, wanted, live, paths) => {
    const found = differences(wanted, live);
    expect(found.map(({ text }) => text)).toEqual(paths);
    const cleared = new Set(found.map(({ text }) => text));
    const intent = { secrets: new Set<string>(), cleared, ignore: [] };
    const merged = mergeDocuments(schema, wanted, live, intent, WORLD);
    expect(differences(wanted, merged)).toEqual([]);
  });

  test('what can be cleared is a change', () => {
    const [one] = differences({ name: 'Desk' }, { name: 'Desk', description: 'New' });
    expect(one).toMatchObject({ text: 'description', before: 'New', cause: 'changed' });
  });

  test('what cannot be cleared is said, and not written', () => {
    const [one] = differences({ name: 'Desk' }, { name: 'Desk', language: 'en-US' });
    expect(one).toMatchObject({ text: 'language', cause: 'released' });
  });
});
