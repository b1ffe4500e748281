import { expect, test } from 'vitest';
import { facetBody } from '../../src/diff/merge.ts';
import { agent } from '../../src/kinds/agent.ts';

test.each([
  ['sip', { registration_enabled: true }, { registrationEnabled: true }],
  [
    'payments',
    { tool_enabled: true, max_attempts_per_call: 2 },
    { enabled: true, max_attempts_per_call: 2 },
  ],
])('the body of %s has its own write names', (facet, value, body) => {
  expect(facetBody(agent.schema, facet, value)).toEqual(body);
});
