import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, type Question } from './oracle.ts';
import { play } from './play.ts';
import seeds from './seeds.json' with { type: 'json' };
import { worlds } from './world.ts';

/**
 * Random worlds: whatever is wanted, live and remembered, on whatever platform, whatever goes wrong, a few runs
 * later the platform holds what the oracle says. `npm run torture` plays many more.
 */
test.each(seeds)('a world that once went wrong: $why', async ({ seed, path }) => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => void (await play(world))),
    {
      seed,
      path,
      endOnFailure: true,
    },
  );
});

test('a few worlds', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => void (await play(world))),
    {
      seed: 20260302,
      numRuns: 2,
      endOnFailure: true,
    },
  );
});

const DESK = { name: 'a', greeting_message: 'one', email: ['x'] };
const NOTHING_WRONG: Question = {
  before: { agents: { 1: { ...DESK, description: 'mine' }, 2: { name: 'foreign' } } },
  after: {
    agents: {
      1: { ...DESK, greeting_message: 'two', description: 'mine' },
      2: { name: 'foreign' },
    },
  },
  wanted: { agents: { a: { name: 'a', greeting_message: 'two\n' } } },
  known: {},
  allowDelete: false,
  secret: 'secret-1',
  since: 0,
};
const after = (agents: Question['after'][string]) => ({ ...NOTHING_WRONG, after: { agents } });
const [GOOD, FOREIGN] = [NOTHING_WRONG.after.agents?.[1] ?? {}, { name: 'foreign' }];

test.each<[string, Question, readonly string[]]>([
  ['nothing where all is well', NOTHING_WRONG, []],
  [
    'what did not take',
    after({ 1: { ...GOOD, greeting_message: 'one' }, 2: FOREIGN }),
    ['greeting_message: "one", not'],
  ],
  [
    'what nobody asked for',
    after({ 1: { ...GOOD, description: 'other' }, 2: FOREIGN }),
    ['description: was "mine"'],
  ],
  [
    'what is gone',
    after({ 1: { ...GOOD, description: null }, 2: FOREIGN }),
    ['description: was "mine"'],
  ],
  ['what was made twice', after({ 1: GOOD, 2: FOREIGN, 3: GOOD }), ['made twice']],
  ['what was made anew', after({ 3: GOOD, 2: FOREIGN }), ['made anew']],
  ['what was deleted', after({ 1: GOOD }), ['foreign: deleted']],
  [
    'what was changed beside it',
    after({ 1: GOOD, 2: { ...FOREIGN, x: 1 } }),
    ['foreign.x: changed'],
  ],
  [
    'a secret that was wiped',
    {
      ...after({ 1: { ...GOOD, integrations: { p: {} } }, 2: FOREIGN }),
      before: { agents: { 1: { ...DESK, integrations: { p: { k: 'v' } } }, 2: FOREIGN } },
      wanted: {
        agents: {
          a: {
            name: 'a',
            greeting_message: 'two',
            integrations: { p: { s: { $secret: 'env:X' } } },
          },
        },
      },
    },
    ['integrations.p.k: was "v"'],
  ],
  [
    'a secret that is not the one',
    {
      ...after({ 1: { ...GOOD, integrations: { p: { s: 'other' } } }, 2: FOREIGN }),
      wanted: {
        agents: {
          a: {
            name: 'a',
            greeting_message: 'two',
            integrations: { p: { s: { $secret: 'env:X' } } },
          },
        },
      },
    },
    ['integrations.p.s: is not the secret'],
  ],
  [
    'what should be gone',
    { ...NOTHING_WRONG, wanted: {}, known: NOTHING_WRONG.wanted, allowDelete: true },
    ['still there'],
  ],
])('the oracle finds %s', (_, question, parts) => {
  const found = judge(question);
  expect(found).toHaveLength(parts.length);
  for (const [index, part] of parts.entries()) expect(found[index]).toContain(part);
});
