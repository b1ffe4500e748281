import { expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/platform/operations.generated.ts';
import { contract, getRules, validatorAt } from '../../src/simulator/validation.ts';

const ids = Object.keys(operations) as OperationId[];
const components = Object(contract.components);

test.each(Object.keys(Object(components.schemas)))('the schema %s compiles', (name) => {
  expect(() => validatorAt(`#/components/schemas/${name}`)).not.toThrow();
});

test.each(ids)('%s says what it answers', (id) => {
  const { answers, parameters, body } = getRules(id);
  const { path } = operations[id];
  const statuses = [...answers.keys()];
  expect(statuses.filter((status) => status.startsWith('2'))).not.toHaveLength(0);
  // A token that does not hold, too many requests, a platform that fails: they can befall every call.
  expect(statuses).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
  const fallible = parameters.some(
    ({ checked, required, schema }) => checked && (required || Object.keys(schema).length > 1),
  );
  if (body !== undefined || fallible) expect(statuses).toContain('400');
  expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
  );
});

test('a record keeps fields that the contract does not know', () => {
  const validate = validatorAt('#/components/schemas/Agent');
  expect(validate({ id: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11', name: 'x', newer: 1 })).toBe(true);
});

test.each([
  ['organizationId', false],
  ['systemPrompt', true],
  ['placeId', true],
  ['sip', false],
  ['payments', false],
  ['isActive', false],
  ['system_prompt', false],
  ['sip_registration_data', false],
])('the write form of an agent has %s: %s', (name, has) => {
  const properties = Object(components.schemas).AgentUpdate.properties;
  expect(Object.hasOwn(Object(properties), name)).toBe(has);
});
