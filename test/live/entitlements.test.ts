import { expect, test } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import { createEntitlements } from '../../src/live/entitlements.ts';
import { ApiError } from '../../src/platform/errors.ts';

/** Terms over answers that are given by operation, and the operations that were asked for. */
function asking(answers: { readonly [operation: string]: Json | Error }) {
  const asked: string[] = [];
  const call = async ({ operation }: { readonly operation: string }): Promise<Json> => {
    asked.push(operation);
    const answer = answers[operation] ?? null;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, client: { call } };
}

test.each<[string, Json, string | undefined]>([
  ['a key of the account', { account_id: 'a' }, undefined],
  ['a scope that is null', { account_id: 'a', scope: null, organization_id: null }, undefined],
  ['a scope of the account', { account_id: 'a', scope: { level: 'account', id: 'a' } }, undefined],
  ['scopes as OAuth has them', { account_id: 'a', scope: 'read write' }, undefined],
  ['an account that calls itself a reseller', { account_id: 'a', type: 'reseller' }, undefined],
  ['a level', { account_id: 'a', scope: { level: 'reseller', id: 'r' } }, 'reseller'],
  ['a level at the top', { account_id: 'a', scope_level: 'organization' }, 'organization'],
  ['an id of an organization', { account_id: 'a', organizationId: 'o' }, 'organization'],
  ['an id below', { account_id: 'a', key: { scope_reseller_id: 'r' } }, 'reseller'],
  ['a type of access', { data: { account_id: 'a', access: { type: 'reseller' } } }, 'reseller'],
])('what /v1/me says of the key: %s', async (_, me, level) => {
  const { asked, client } = asking({ getMe: me });
  const answered = { type: 'answered', value: level };
  expect(await createEntitlements(client).closedTo('updateRetryPolicy')).toEqual(answered);
  expect(await createEntitlements(client, me).closedTo('updateRetryPolicy')).toEqual(answered);
  expect(asked).toEqual(['getMe']);
});

test('an operation that no key is kept from asks nothing', async () => {
  const { asked, client } = asking({});
  expect(await createEntitlements(client).closedTo('updateAgent')).toEqual({
    type: 'answered',
    value: undefined,
  });
  expect(asked).toEqual([]);
});

const LINE = { method: 'GET', url: 'https://platform.example.test/v1/features' };

test.each([400, 403, 404, 405, 503])('an answer with %i says nothing', async (status) => {
  const { asked, client } = asking({ listFeatures: new ApiError(LINE, status, undefined) });
  const entitlements = createEntitlements(client);
  const why = `GET ${LINE.url} answered ${status}`;
  expect(await entitlements.locks('o')).toEqual({ type: 'unanswered', why });
  expect(await entitlements.locks('o')).toEqual({ type: 'unanswered', why });
  expect(asked).toEqual(['listFeatures']);
});

test('a token that does not hold is an error, as everywhere', async () => {
  const { client } = asking({ listFeatures: new ApiError(LINE, 401, undefined) });
  await expect(createEntitlements(client).locks(null)).rejects.toMatchObject({ status: 401 });
});
