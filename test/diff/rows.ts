import { expect, test } from 'vitest';
import { getKind } from '../../src/core/address.ts';
import type { FieldCause } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { LeafChange } from '../../src/diff/compare.ts';
import { type WorldBuilder, type Written, world } from '../world.ts';

/** One resource's three sides, without its name, and what the comparison must find: all of it. */
export type Row = {
  readonly title: string;
  /** `agent.desk` unless given. */
  readonly address?: string;
  readonly desired: Written;
  readonly live: JsonObject;
  /** Undefined: there is no state, the resource is found by its name. */
  readonly applied?: Written;
  /** Anything else of the world. */
  readonly having?: (world: WorldBuilder) => WorldBuilder;
  /** Causes by path. */
  readonly finds: Readonly<Record<string, FieldCause>>;
};

const NAME = { name: 'Desk' };

/** The world of a row: one resource called Desk. */
export function worldOf({ address = 'agent.desk', desired, live, applied, having }: Row) {
  const made = world()
    .desired({ [address]: { ...NAME, ...desired } })
    .live({ [getKind(address)]: [{ id: 'id-1', ...NAME, ...live }] })
    .applied(applied === undefined ? {} : { [address]: { id: 'id-1', ...NAME, ...applied } });
  return having === undefined ? made : having(made);
}

export function findingsOf(row: Row): Promise<readonly LeafChange[]> {
  return worldOf(row).compare();
}

/** One test a row. */
export function compares(rows: readonly Row[]): void {
  test.each(rows)('$title', async (row) => {
    const found = await findingsOf(row);
    expect(Object.fromEntries(found.map(({ text, cause }) => [text, cause]))).toEqual(row.finds);
    expect(found).toHaveLength(Object.keys(row.finds).length);
  });
}

/** Means only what the document mentions, as a rollback does. */
export function partially(made: WorldBuilder): WorldBuilder {
  return made.wanting(made.wanted().map((one) => ({ ...one, isPartial: true })));
}
