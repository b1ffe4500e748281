import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { renderPlanJson } from '../../src/render/json.ts';
import { documents } from './documents.ts';
import { expectGolden } from './golden.ts';
import { rehearsals } from './rehearsals.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const schema: object = JSON.parse(readFileSync('schemas/plan.schema.json', 'utf8'));
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
formats.default(ajv);
const validate = ajv.compile(schema);

const problems = (plan: unknown) => {
  validate(plan);
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
};

test.each(Object.entries({ ...documents, ...rehearsals }))(
  'the schema describes the plan `%s`',
  (_, plan) => {
    expect(problems(JSON.parse(renderPlanJson(plan)))).toEqual([]);
  },
);

const one = planOf([changeOf({ fields: [fieldOf('a', 1, 2)] })]);
const change = (more: object) => ({ ...one, changes: [{ ...one.changes[0], ...more }] });

test.each<[string, unknown, string]>([
  ['an unknown member', { ...one, extra: 1 }, ' additionalProperties'],
  ['a missing member', { ...one, digest: undefined }, ' required'],
  ['another version', { ...one, version: 2 }, '/version const'],
  ['a digest that is none', { ...one, digest: 'abc' }, '/digest pattern'],
  ['an unknown action', change({ action: 'destroy' }), '/changes/0/action enum'],
  [
    'an unknown cause',
    change({ fields: [{ ...fieldOf('a', 1, 2), cause: 'why' }] }),
    '/changes/0/fields/0/cause enum',
  ],
  ['a member too many in a change', change({ note: '' }), '/changes/0 additionalProperties'],
  [
    'a count below nothing',
    { ...one, summary: { ...one.summary, create: -1 } },
    '/summary/create minimum',
  ],
])('the schema refuses %s', (_, plan, problem) => {
  expect(problems(JSON.parse(JSON.stringify(plan)))).toContain(problem);
});

test('members stand in the order of the schema, documents by name, whatever order they came in', () => {
  const plan = planOf([changeOf({ before: { b: 1, a: { d: 1, c: 2 } } })]);
  const turned = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(turned)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, member]) => [key, turned(member)]),
          )
        : value;
  const text = renderPlanJson(plan);
  expect(renderPlanJson(turned(plan) as PlanDocument)).toBe(text);
  expect(text.indexOf('"c": 2')).toBeLessThan(text.indexOf('"d": 1'));
  expect(JSON.parse(text)).toEqual(plan);
});

test('the plan `rollback`', () => {
  expectGolden('rollback.json', renderPlanJson(documents.rollback ?? one));
});
