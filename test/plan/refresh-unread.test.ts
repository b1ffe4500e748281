import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import type { Sides } from '../../src/diff/leaves.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { LiveResource } from '../../src/plan/reader.ts';
import { compareLastApplied, isFieldRead, splitByRead } from '../../src/plan/refresh.ts';
import { desiredResource, type Written, world } from '../world.ts';

const read = (extent: LiveResource['extent']): LiveResource => ({
  id: 'a1',
  scope: {},
  extent,
  document: { name: 'Desk' },
  record: {},
});

test.each([
  ['whole', 'all of it', ['name', 'model'], []],
  ['listed', 'what the list shows', ['name'], ['model']],
  ['nothing', 'nothing', [], ['name', 'model']],
] as const)('of a resource that was read (%s) is told %s', (extent, _what, told, untold) => {
  const parts = splitByRead({ name: 'Desk', model: 'alpha-4o' }, read(extent));
  expect([Object.keys(parts.read), Object.keys(parts.unread)]).toEqual([told, untold]);
  expect(isFieldRead(read(extent), 'model')).toBe(extent === 'whole');
});

const address = 'agent.desk';
const secret = { $secret: 'env:TOKEN' };
const token = (auth_token: Written[string]) => ({ integrations: { smsProvider: { auth_token } } });

/** What differs from what was last written, as far as anyone can know. */
function recalled(document: Written, applied: Written | undefined, more: Partial<Sides> = {}) {
  const base = world().secrets({ 'env:TOKEN': 'now' }, { 'env:TOKEN': 'then' });
  const before = applied ? base.applied({ [address]: { id: 'a1', ...applied } }) : base;
  const last = before.state().resources[address]?.leaves;
  const sides = { address, applied: last, ignore: [], isPartial: false, resend: false, ...more };
  const wanted = desiredResource(address, document).document;
  const fields = Object.fromEntries(Object.entries(wanted).filter(([key]) => key in document));
  const leaves = compareLastApplied(kindNamed('agent'), fields, sides, base.given());
  return leaves.map(({ text, before: live, cause }) => [text, live, cause]);
}

describe('what cannot be read', () => {
  const model = ['model', undefined, 'changed'];
  test.each<[string, Written, Written | undefined, readonly unknown[]]>([
    ['equals what was written', { model: 'a' }, { model: 'a' }, []],
    ['differs from what was written', { model: 'b' }, { model: 'a' }, [model]],
    ['differs where it was not written', { model: 'a' }, { status: 'active' }, [model]],
    ['differs where nothing was', { model: 'a' }, undefined, [model]],
    ['does not where nothing is wanted either', { model: null }, undefined, []],
    [
      'differs where a secret is another one',
      token(secret),
      token(secret),
      [['integrations.smsProvider.auth_token', undefined, 'changed']],
    ],
    ['does not where a secret was not given', token({ $secret: 'env:OTHER' }), undefined, []],
    [
      'differs where it refers to what does not exist yet',
      { default_retry_policy_id: { $ref: 'retry_policy.p' } },
      { default_retry_policy_id: 'p1' },
      [['default_retry_policy_id', undefined, 'changed']],
    ],
  ])('%s', (_title, document, applied, expected) => {
    expect(recalled(document, applied)).toEqual(expected);
  });

  test('is let alone where it is to be ignored', () => {
    const ignore = [['model']];
    expect(recalled({ model: 'b', status: 'active' }, undefined, { ignore })).toEqual([
      ['status', undefined, 'changed'],
    ]);
  });

  test('is another file where its content is another', () => {
    const file = (sha256: string) => new Blob('prices.pdf', sha256, 9, 'application/pdf');
    const source = 'knowledge_source.prices';
    const written = { id: 's1', knowledge_base_id: 'kb', name: 'prices.pdf', file: file('aa') };
    const leaves = world()
      .applied({ [source]: written })
      .state().resources[source]?.leaves;
    const of = (sha256: string, applied = leaves) =>
      compareLastApplied(
        kindNamed('knowledge_source'),
        { file: file(sha256) },
        { address: source, applied, ignore: [], isPartial: false, resend: false },
        world().given(),
      ).map(({ text }) => text);
    expect([of('aa'), of('bb')]).toEqual([[], ['file']]);
    expect(of('aa', { file: { unsettled: true } })).toEqual(['file']);
  });
});
