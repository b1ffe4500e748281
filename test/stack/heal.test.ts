import { expect, test } from 'vitest';
import { load, loadGood, MAIN, said } from './stack-folder.ts';

const AGENTS = `agents:
  a: { name: A, base: common }
  b: { name: B, base: common, lifecycle: { protect: true, heal: false } }
  c: { name: C, lifecycle: { protect: true } }
`;
const BASES = 'bases: { common: { lifecycle: { heal: true } } }\n';
const ALL = 'environments: { production: { patches: { agent: { lifecycle: { heal: true } } } } }\n';

async function marks(main: string, environment?: string) {
  const files = { 'callsheet.yaml': `${MAIN}${BASES}${main}`, 'agents.yaml': AGENTS };
  const stack = await loadGood(files, environment === undefined ? {} : { environment });
  return Object.fromEntries(stack.resources.map(({ address, lifecycle }) => [address, lifecycle]));
}

test('heal comes from a base, and a resource takes it back', async () => {
  expect(await marks('')).toEqual({
    'agent.a': { protect: false, ignore: [], heal: true },
    'agent.b': { protect: true, ignore: [] },
    'agent.c': { protect: true, ignore: [] },
  });
});

test('a patch of an environment marks all of a kind, and keeps what else is said', async () => {
  const marked = await marks(ALL, 'production');
  expect(Object.values(marked).map(({ heal }) => heal)).toEqual([true, true, true]);
  expect(marked['agent.c']?.protect).toBe(true);
});

test('heal is true or false', async () => {
  const { diagnostics } = await load({
    'a.yaml': 'agents: { a: { name: A, lifecycle: { heal: on-drift } } }\n',
  });
  expect(diagnostics.map(said)).toEqual([
    expect.stringMatching(/schema\/type agent\.a: lifecycle\.heal/),
  ]);
});

test('writing the default out changes no digest', async () => {
  const digests = await Promise.all(
    ['{ protect: true }', '{ protect: true, heal: false }', '{ protect: true, heal: true }'].map(
      async (lifecycle) =>
        (await loadGood({ 'a.yaml': `agents: { a: { name: A, lifecycle: ${lifecycle} } }\n` }))
          .digest,
    ),
  );
  expect(digests[1]).toBe(digests[0]);
  expect(digests[2]).not.toBe(digests[0]);
});
