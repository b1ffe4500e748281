import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../scripts/reference/limits.ts';
import { RULES } from '../../src/features/review/sarif.ts';
import { assumptions } from '../../src/platform/operations.generated.ts';
import { UNUSUAL } from '../stack/unusual.ts';

/** Sections of the specification that state rules for what is written. */
const SECTIONS = [
  'Resources and their fields',
  'Agent',
  'Webhook tool',
  'MCP connection as stored and returned',
  'Email template',
  'SMS template',
  'Retry policy',
  'SIP registration',
  'Custom voices',
  'Knowledge base sources',
  'Email templates',
  'SMS templates',
  'Retry policies',
  'Events',
  'Limits',
];
const isBasis = (text: string) => SECTIONS.includes(text) || text in assumptions;

describe('a rule is stated, assumed, or a warning', () => {
  test.each(LIMITS)('$field: $keyword', ({ section, assumptions: ids, severity }) => {
    if (section !== undefined) expect(SECTIONS).toContain(section);
    expect([section ?? [], ids].flat().filter(isBasis)).not.toEqual([]);
    // A rule that is only assumed is no error, but for names that tell resources apart and bodies that are assumed.
    const own = ['field.names', 'payments.tool-body', 'retry_policy.create'];
    if (section === undefined && severity === 'error')
      expect(ids.some((id) => own.includes(id))).toBe(true);
  });

  test.each([...RULES])('%s', (_, { basis }) => {
    if (typeof basis === 'string') expect(['fields', 'language', 'warning']).toContain(basis);
    else expect(basis.filter((one) => !isBasis(one))).toEqual([]);
  });

  test('each refusal of an unusual configuration names its section', () => {
    const named = UNUSUAL.flatMap(({ refused }) => refused ?? []);
    expect(named.filter((text) => !SECTIONS.includes(text.split(':')[0] ?? ''))).toEqual([]);
  });
});
