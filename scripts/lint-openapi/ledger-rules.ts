import type { Finding, Rule } from './problem.ts';
import { placesBelow } from './walk.ts';

const PARTS = ['documented', 'assumed', 'why'] as const;

export const LEDGER_RULES: readonly Rule[] = [
  ({ document }) =>
    Object.entries(document['x-assumptions']).flatMap(([id, entry]) =>
      PARTS.filter((part) => typeof entry[part] !== 'string' || entry[part] === '').map(
        (part): Finding => ({
          rule: 'assumption-told',
          path: ['x-assumptions', id],
          message: `needs ${part}`,
        }),
      ),
    ),

  // Operations say of their place whether it is documented; anything else is marked where it is assumed.
  ({ document }) =>
    placesBelow(document)
      .filter(({ node }) => node['x-assumes'] !== undefined && node.operationId === undefined)
      .filter(({ node }) => node['x-documented'] !== false)
      .map(({ path }) => ({
        rule: 'assumption-marked',
        path,
        message: 'rests on an assumption, so it needs x-documented: false',
      })),

  ({ document, usedByKinds }) => {
    const ledger = document['x-assumptions'];
    const named = namedIn(document);
    const used = new Set([...usedByKinds, ...named.map(({ id }) => id)]);
    return [
      ...named
        .filter(({ id }) => ledger[id] === undefined)
        .map(({ id, path }) => ({
          rule: 'assumption-known',
          path,
          message: `${id} is not in x-assumptions`,
        })),
      ...Object.keys(ledger)
        .filter((id) => !used.has(id))
        .map((id) => ({
          rule: 'assumption-used',
          path: ['x-assumptions', id],
          message: 'nothing names it',
        })),
    ];
  },
];

type Named = { readonly id: string; readonly path: readonly string[] };

function namedIn(document: object): readonly Named[] {
  return placesBelow(document).flatMap(({ node, path }) =>
    (['x-assumption', 'x-assumed-body', 'x-assumes'] as const).flatMap((keyword) =>
      [node[keyword] ?? []].flat().map((id) => ({ id: String(id), path: [...path, keyword] })),
    ),
  );
}
