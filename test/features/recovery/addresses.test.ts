import { describe, expect, test } from 'vitest';
import { isAddress } from '../../../src/core/address.ts';
import { assignAddresses } from '../../../src/features/recovery/addresses.ts';
import type { Held } from '../../../src/features/recovery/held.ts';
import { held } from './held.ts';

const A = '11111111-aaaa-4000-8000-000000000000';
const B = '22222222-bbbb-4000-8000-000000000000';
const C = '11111111-cccc-4000-8000-000000000000';

describe('an address for a resource that has none', () => {
  const rows: readonly (readonly [what: string, all: readonly Held[], expected: string[]])[] = [
    ['is made of its name', [held(A, 'Front desk (Süd)')], ['agent.front_desk_sud']],
    [
      'is told apart by its id where names look alike',
      [held(A, 'Front desk'), held(B, 'front-desk')],
      ['agent.front_desk_11111111', 'agent.front_desk_22222222'],
    ],
    [
      'takes all of the id where its beginning is not enough',
      [held(A, 'Desk'), held(C, 'desk')],
      [
        'agent.desk_11111111aaaa40008000000000000000',
        'agent.desk_11111111cccc40008000000000000000',
      ],
    ],
    [
      'keeps clear of those of a stack',
      [held(A, 'Desk'), held(B, 'Other', { address: 'agent.desk' })],
      ['agent.desk_11111111', 'agent.desk'],
    ],
    [
      'is there for names in any script, for signs, and for none',
      [held(A, '受付'), held(B, '../..'), held(C, '')],
      ['agent.__11111111', 'agent.__22222222', 'agent._11111111_cccc_4000_8000_000000000000'],
    ],
    [
      'says where a source lies, and takes the page for its name',
      [
        held(B, 'https://harbor.example.test/faq', {
          kind: 'knowledge_source',
          scope: { knowledge_base_id: A },
        }),
      ],
      ['knowledge_source.in_11111111.harbor_example_test_faq'],
    ],
  ];
  test.each(rows)('%s', (_what, all, expected) => {
    const given = assignAddresses(all);
    expect(all.map((one) => given.get(one))).toEqual(expected);
    expect([...given.values()].filter((address) => !isAddress(address))).toEqual([]);
    // However they stand in the file.
    const turned = assignAddresses(all.toReversed());
    expect(new Set(turned.values())).toEqual(new Set(given.values()));
  });
});
