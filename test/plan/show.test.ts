import { expect, test } from 'vitest';
import type { Value } from '../../src/core/value.ts';
import { leafChange } from '../../src/diff/compare.ts';
import { listLeaves } from '../../src/diff/leaves.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { fieldChange } from '../../src/plan/change.ts';
import { materialise, type Written } from '../world.ts';

const SECRET = '(secret)';
const agent = kindNamed('agent');
const path = 'integrations.crm.code';
const of = (code: Written[string]) => ({ integrations: { crm: { code } } });

/** How a plan shows a leaf that comes to be `after`. */
function shown(after: Written, before: Value | undefined, secrets: readonly string[] = []) {
  const document = materialise(after) as Written;
  const [leaf] = listLeaves(agent.schema, document).leaves.values();
  if (leaf === undefined) throw new Error('there is no leaf');
  const {
    path: _,
    cause: __,
    ...rest
  } = fieldChange(agent, leafChange(leaf, before, leaf.value, 'changed'), {
    secrets: new Set(secrets),
  });
  return [rest.before, rest.after, rest.secret];
}

type Row = readonly [string, Parameters<typeof shown>, ReturnType<typeof shown>];

test.each<Row>([
  ['a value as it is', [{ model: 'b' }, 'a'], ['a', 'b', false]],
  ['a value that is new', [{ model: 'b' }, undefined], [null, 'b', false]],
  [
    'a secret by where it comes from',
    [of({ $secret: 'env:A' }), undefined],
    [null, { $secret: 'env:A' }, true],
  ],
  [
    'nothing that is returned of a known secret',
    [of('new'), 'live', [path]],
    [SECRET, SECRET, true],
  ],
  ['whatever it is', [of('new'), { deep: 'live' }, [path]], [SECRET, SECRET, true]],
  ['null as nothing', [of('new'), null, [path]], [null, SECRET, true]],
  ['what is not there as nothing', [of('new'), undefined, [path]], [null, SECRET, true]],
  [
    'nothing of a known secret, whatever the schema says of its field',
    [{ greeting_message: 'new' }, 'live', ['greeting_message']],
    [SECRET, SECRET, true],
  ],
  [
    'null for such a field as nothing',
    [{ greeting_message: null }, 'live', ['greeting_message']],
    [SECRET, null, true],
  ],
  ['what goes away as nothing', [of(null), 'live', [path]], [SECRET, null, true]],
])('a plan shows %s', (_title, given, expected) => {
  expect(shown(...given)).toEqual(expected);
});
