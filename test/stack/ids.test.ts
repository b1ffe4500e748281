import { expect, test } from 'vitest';
import { loadGood } from './stack-folder.ts';

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const ID = '7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11';
const CAPITALS = ORGANIZATION.toUpperCase();

/** Places in which a stack names an organization, a knowledge base or a live resource by its id. */
test.each<[string, string]>([
  ['as the default', `callsheet: 1\norganization: ${CAPITALS}\n`],
  ['by name', `callsheet: 1\norganization: h\norganizations: { h: ${CAPITALS} }\n`],
  [
    'by variable',
    `callsheet: 1\norganization: \${var.o}\nvariables: { o: { default: ${CAPITALS} } }\n`,
  ],
])('an id in capitals is the same id: %s', async (_, settings) => {
  const stack = await loadGood({
    'callsheet.yaml': settings,
    'a.yaml':
      `agents:\n  a: { name: A, lifecycle: { adopt: ${ID.toUpperCase()} } }\n` +
      `  b: { name: B, organization: ${CAPITALS}, default_retry_policy_id: ${ID.toUpperCase()} }\n` +
      `knowledge_bases: { k: { id: ${ID.toUpperCase()}, sources: { s: { url: 'https://a.example.test/A' } } } }\n`,
  });
  expect(Object.fromEntries(stack.resources.map((one) => [one.address, one]))).toMatchObject({
    'agent.a': { document: { organization_id: ORGANIZATION }, lifecycle: { adopt: ID } },
    'agent.b': { document: { organization_id: ORGANIZATION, default_retry_policy_id: ID } },
    'knowledge_source.k.s': {
      document: { knowledge_base_id: ID, url: 'https://a.example.test/A' },
    },
  });
});
