import { expect, test } from 'vitest';
import type { ValueObject } from '../../../../src/core/value.ts';
import { openCensus } from '../../../../src/features/writing/export/factor.ts';
import { kindNamed } from '../../../../src/kinds/index.ts';

const HARBOR = { id: 'h', name: 'harbor' };

function basesOf(documents: readonly ValueObject[]) {
  const census = openCensus(kindNamed('agent'), [HARBOR]);
  for (const document of documents) census.count('h', document);
  return census.bases();
}

const agents = (count: number, of: (index: number) => ValueObject) =>
  Array.from({ length: count }, (_, index) => ({ name: `Agent ${index}`, ...of(index) }));

test('a base holds what all have and most have alike; who differs says so', () => {
  const documents = agents(9, (index) => ({
    model: index === 0 ? 'alpha-4o' : 'alpha-4.1',
    config: { inactivity_timeout: 20, user_timezone: `Zone ${index}` },
    // One does not have it: a base would give it one.
    ...(index === 1 ? {} : { language: 'en-US' }),
    extensions: { tools: [{ name: 'crm' }] },
    email: ['a@example.test'],
  }));
  const bases = basesOf(documents);
  expect(bases.all.map(({ name, document }) => [name, document])).toEqual([
    [
      'common',
      { model: 'alpha-4.1', config: { inactivity_timeout: 20 }, email: ['a@example.test'] },
    ],
  ]);
  expect(bases.layOver('h', documents[0] ?? {})).toEqual({
    base: 'common',
    document: {
      name: 'Agent 0',
      model: 'alpha-4o',
      config: { user_timezone: 'Zone 0' },
      language: 'en-US',
      extensions: { tools: [{ name: 'crm' }] },
    },
  });
});

test('a base that saves too little is none', () => {
  const bases = basesOf(agents(3, () => ({ model: 'alpha-4.1' })));
  expect(bases.all).toEqual([]);
  expect(bases.layOver('h', { name: 'A' })).toEqual({ base: undefined, document: { name: 'A' } });
});
