import { describe, expect, test } from 'vitest';
import { schemasAlong, valueAt } from '../../src/diff/along.ts';
import { leavesOf } from '../../src/diff/leaves.ts';
import { agent } from '../../src/kinds/agent.ts';

const DOCUMENT = {
  name: 'Desk',
  voice_settings: { speed: 1, 'odd key': { deep: true } },
  email: ['a@x.test'],
  extensions: {
    tools: [
      { name: 'crm', headers: [{ key: 'X-Key', value: 'v' }] },
      { name: 'look up', url: 'https://x.test' },
    ],
  },
};

describe('what stands at a path', () => {
  test.each([
    [['name'], 'Desk'],
    [['voice_settings', 'odd key', 'deep'], true],
    [['voice_settings', 'odd key'], { deep: true }],
    [['extensions', 'tools', '[crm]', 'headers', '[X-Key]', 'value'], 'v'],
    [['extensions', 'tools', '["look up"]', 'url'], 'https://x.test'],
    [['extensions', 'tools', '[crm]', 'headers'], [{ key: 'X-Key', value: 'v' }]],
    [['extensions', 'tools', '[none]', 'url'], undefined],
    [['name', 'deeper'], undefined],
    [['email', '[a@x.test]'], undefined],
    [['voice_settings', 'constructor'], undefined],
    [['absent'], undefined],
  ])('%j', (path, expected) => {
    expect(valueAt(agent.schema, DOCUMENT, path)).toEqual(expected);
  });

  test('is what its leaf holds, for every leaf', () => {
    for (const { path, value, schema } of leavesOf(agent.schema, DOCUMENT).leaves.values()) {
      expect(valueAt(agent.schema, DOCUMENT, path)).toEqual(value);
      expect(schemasAlong(agent.schema, path).at(-1)).toEqual(schema);
    }
  });
});
