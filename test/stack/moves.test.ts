import { expect, test } from 'vitest';
import { isForgottenBy, priorAddresses } from '../../src/stack/moves.ts';
import { broken, loadGood } from './stack-folder.ts';

const AGENTS = {
  'agents.yaml':
    'agents: { desk: { name: Desk }, clinic: { for_each: [a], key: "${each.value}", name: "${each.value}" } }\n',
};

test('moves and what is let go of come from every file, and enter the digest', async () => {
  const plain = await loadGood(AGENTS);
  const stack = await loadGood({
    ...AGENTS,
    'x.yaml': 'moved: [{ from: agent.front, to: agent.desk }]\n',
    'y.yaml': 'forget: [agent.gone, retry_policy.old]\n',
  });
  expect(stack.moves).toEqual({
    moved: [{ from: 'agent.front', to: 'agent.desk' }],
    forget: ['agent.gone', 'retry_policy.old'],
  });
  expect(stack.digest).not.toBe(plain.digest);
});

test.each([
  ['agent.desk', [{ from: 'agent.front', to: 'agent.desk' }], ['agent.front']],
  [
    'agent.desk',
    [
      { from: 'agent.first', to: 'agent.front' },
      { from: 'agent.front', to: 'agent.desk' },
    ],
    ['agent.front', 'agent.first'],
  ],
  ['agent.clinic["a"]', [{ from: 'agent.practice', to: 'agent.clinic' }], ['agent.practice["a"]']],
  ['agent.clinic["a"]', [{ from: 'agent.a', to: 'agent.clinic["a"]' }], ['agent.a']],
  ['agent.clinic', [{ from: 'agent.a', to: 'agent.clinic["a"]' }], []],
  // A single one becomes a row of its own name, and a row the single one.
  ['agent.clinic["h"]', [{ from: 'agent.clinic', to: 'agent.clinic["h"]' }], ['agent.clinic']],
  ['agent.clinic', [{ from: 'agent.clinic["h"]', to: 'agent.clinic' }], ['agent.clinic["h"]']],
  ['agent.clinic["h"]', [{ from: 'agent.clinic["h"]', to: 'agent.clinic' }], []],
  // The narrowest counts, wherever it stands.
  [
    'agent.practice["harbor"]',
    [
      { from: 'agent.clinic', to: 'agent.practice' },
      { from: 'agent.clinic["h"]', to: 'agent.practice["harbor"]' },
    ],
    ['agent.clinic["h"]'],
  ],
  // So does the longest of those that begin alike, and a name before all of them.
  [
    'agent.practice_1',
    [
      { from: 'agent.clinic_*', to: 'agent.practice_*' },
      { from: 'agent.other_*', to: 'agent.p*' },
    ],
    ['agent.clinic_1'],
  ],
  [
    'agent.practice_2',
    [
      { from: 'agent.clinic_*', to: 'agent.practice_*' },
      { from: 'agent.second', to: 'agent.practice_2' },
    ],
    ['agent.second'],
  ],
  ['agent.clinic["a"]', [{ from: 'agent.pra*', to: 'agent.cli*' }], ['agent.pranic["a"]']],
  // A circle comes to an end.
  [
    'agent.a',
    [
      { from: 'agent.b', to: 'agent.a' },
      { from: 'agent.a', to: 'agent.b' },
    ],
    ['agent.b', 'agent.a'],
  ],
])('%s was called before by %j', (address, moved, former) => {
  expect(priorAddresses(moved)(address)).toEqual(former);
});

test.each([
  ['agent.old', true],
  ['agent.older', true],
  ['agent.gone', true],
  ['agent.clinic["a"]', true],
  ['agent.practice["b"]', true],
  ['agent.other', false],
  ['agent.row', true],
  ['agent.row["x"]', false],
  ['agent.line_1', true],
  ['agent.former_1', true],
  ['agent.line', false],
])('what is let go of under a later address is so under %s: %s', (address, isForgotten) => {
  const moved = [
    { from: 'agent.older', to: 'agent.old' },
    { from: 'agent.old', to: 'agent.gone' },
    { from: 'agent.clinic', to: 'agent.practice' },
    { from: 'agent.other', to: 'agent.desk' },
    { from: 'agent.row', to: 'agent.row["h"]' },
    { from: 'agent.former_*', to: 'agent.line_*' },
  ];
  const forget = ['agent.gone', 'agent.practice', 'agent.row["h"]', 'agent.line_*'];
  expect(isForgottenBy({ moved, forget })(address)).toBe(isForgotten);
});

test('a move to what is let go of since is no slip', async () => {
  const stack = await loadGood({
    ...AGENTS,
    'x.yaml': 'moved: [{ from: agent.front, to: agent.gone }]\nforget: [agent.gone]\n',
  });
  expect(stack.moves.forget).toEqual(['agent.gone']);
});

broken([
  {
    title: 'moves that cannot be',
    files: {
      ...AGENTS,
      'x.yaml': `moved:
  - { from: agent.desk, to: agent.clinic }
  - { from: agent.x, to: retry_policy.x }
  - { from: agent.y, to: agent.dekk }
  - { from: agent.z }
  - { from: agent.one, to: agent.desk }
  - { from: agent.two, to: agent.desk }
  - { from: agent.one, to: agent.gone }
forget: [agent.desk, Desk, agents.desk]
`,
    },
    says: [
      'x.yaml:2:13 moved/configured moved: agent.desk is still in the stack, so it was not moved',
      'x.yaml:3:26 moved/kind moved: agent.x cannot become retry_policy.x, which is of another kind',
      'x.yaml:4:26 warning moved/unknown moved: agent.dekk is not a resource of the stack',
      'x.yaml:5:5 address/form moved: to needs an address',
      'x.yaml:7:28 moved/twice moved: two addresses become agent.desk, the other at x.yaml:6:13',
      'x.yaml:8:13 moved/twice moved: agent.one becomes two addresses, the other at x.yaml:6:28',
      'x.yaml:9:10 forget/configured forget names agent.desk, which the stack still has',
      'x.yaml:9:22 address/form forget is "Desk", which is not an address',
      'x.yaml:9:28 address/form forget is "agents.desk", which is not an address',
    ],
  },
  {
    title: 'patterns that cannot be',
    files: {
      'agents.yaml': 'agents: { a_1: { name: A }, b_1: { name: B }, a_2: { name: C } }\n',
      'x.yaml': `moved:
  - { from: agent.a_*, to: agent.b_* }
  - { from: agent.c_*, to: agent.d }
  - { from: agent.e_*, to: agent.f_* }
  - { from: agent.*_g, to: agent.a_* }
forget: [agent.b*, agent.x*, agents.*]
`,
    },
    says: [
      'x.yaml:2:13 moved/configured moved: agent.a_* is still in the stack, so it was not moved',
      'x.yaml:3:28 moved/pattern moved: of agent.c_* and agent.d only one ends in *',
      'x.yaml:4:28 warning moved/unknown moved: agent.f_* is not a resource of the stack',
      'x.yaml:5:13 address/form moved: from is "agent.*_g", which is not an address',
      'x.yaml:6:10 forget/configured forget names agent.b* and so agent.b_1, which the stack still has',
      'x.yaml:6:30 address/form forget is "agents.*", which is not an address',
    ],
  },
  {
    title: 'lists that are none',
    files: { 'x.yaml': 'moved: {}\nforget: agent.x\n' },
    says: [
      'x.yaml:1:8 schema/type moved must be a list, not a map',
      'x.yaml:2:9 schema/type forget must be a list, not text',
    ],
  },
]);
