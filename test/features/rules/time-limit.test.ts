import { describe, expect, test } from 'vitest';
import type { DesiredResource } from '../../../src/core/desired.ts';
import { formatCount } from '../../../src/core/errors.ts';
import { compileRule, judgeResources, withinTime } from '../../../src/features/rules/judge.ts';

const SECONDS = 0.1;
/** More than a busy machine takes for nothing at all. */
const LONG = 60;

function resource(index: number): DesiredResource {
  return {
    address: `agent.a${index}`,
    kind: 'agent',
    document: { name: `${'a'.repeat(40)}!` },
    lifecycle: { protect: false, ignore: [] },
    isPartial: false,
    references: [],
    position: undefined,
    locate: () => undefined,
  };
}

function judge(require: string | undefined, schema: object | undefined, count: number, times = 1) {
  const written = {
    name: 'slow',
    over: 'resource',
    on: undefined,
    when: undefined,
    require,
    schema: schema && JSON.parse(JSON.stringify(schema)),
    field: undefined,
    message: 'M',
    severity: 'warning',
    source: 'callsheet.yaml:1',
  } as const;
  const compiled = compileRule(written, () => undefined, []);
  if ('problems' in compiled) throw new Error(compiled.problems[0]?.message);
  const resources = Array.from({ length: count }, (_, index) => resource(index));
  const judged = {
    resources,
    findSchema: () => undefined,
    getOrganizationName: (id: string) => id,
  };
  return judgeResources(Array(times).fill(compiled.rule), judged, SECONDS);
}

describe('a rule that takes too long is stopped, and is an error', () => {
  test.each([
    [
      'comparing all with all',
      'resources.all(a, resources.all(b, resources.all(c, a.name != "" && b.name != c.address)))',
      undefined,
      2000,
    ],
    ['a pattern that tries every way', 'resource.name.matches("^(a+)+$")', undefined, 1],
    ['a pattern of a schema', undefined, { properties: { name: { pattern: '^(a+)+$' } } }, 1],
  ])('%s', (_, require, schema, count) => {
    expect(judge(require, schema, count)).toMatchObject([
      {
        rule: 'slow',
        severity: 'error',
        resource: undefined,
        message: `M (not checked for ${formatCount(count, 'resource')}: it took more than ${SECONDS} seconds and was stopped)`,
      },
    ]);
  });
});

test('all rules have a time together, and those behind it are not asked', () => {
  const found = judge('resource.name.matches("^(a+)+$")', undefined, 1, 300);
  expect(found).toHaveLength(300);
  expect(found.filter(({ message }) => message.includes('it took more than')).length).toBeLessThan(
    5,
  );
  expect(found.at(-1)?.message).toBe(
    `M (not checked for 1 resource: all rules together took ${4 * SECONDS} seconds)`,
  );
});

test('what is done in time gives its value, and its errors pass', () => {
  expect(withinTime(() => 7, LONG)).toEqual({ value: 7 });
  expect(() =>
    withinTime(() => {
      throw new RangeError('of its own');
    }, LONG),
  ).toThrow(new RangeError('of its own'));
});
