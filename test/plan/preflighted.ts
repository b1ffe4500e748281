import { expect, test } from 'vitest';
import type { Note } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { type Documents, HARBOR, type WorldBuilder, world } from '../world.ts';
import { entitlementsOf, type Said } from './entitlements.ts';

/** A change, what the platform says when it is asked before, and what the plan makes of that. */
export type Row = {
  readonly title: string;
  readonly desired?: Documents;
  readonly live?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly having?: (world: WorldBuilder) => WorldBuilder;
  readonly said: Said;
  /** `agent.desk` unless given. */
  readonly address?: string;
  /** What the platform would refuse, in full; undefined: the change is carried out. */
  readonly because?: string | undefined;
  readonly notes?: readonly string[];
};

/** An agent that moves to another model. */
export const DESK = { 'agent.desk': { name: 'Desk', model: 'alpha-4o' } };
export const LIVE_DESK = {
  agent: [{ id: 'a1', name: 'Desk', organization_id: HARBOR, model: 'alpha-4.1' }],
};

/** One test a row. */
export function judged(rows: readonly Row[]): void {
  test.each(rows)('$title', async (row) => {
    const { desired = DESK, live = LIVE_DESK, having = (same) => same, said } = row;
    const built = having(world().desired(desired).live(live)).entitlements(entitlementsOf(said));
    const { changes, notes } = (await built.plan()).plan;
    const change = changes.find(({ address }) => address === (row.address ?? 'agent.desk'));
    expect(change?.verdict).toBe(row.because === undefined ? 'ok' : 'refused');
    if (row.because !== undefined) {
      const start = `${row.because} (`;
      expect(change?.reason.slice(0, start.length)).toBe(start);
    }
    expect(notes.map(tell)).toEqual(row.notes ?? []);
  });
}

function tell({ severity, address, message }: Note): string {
  return `${severity} ${address ?? 'plan'}: ${message}`;
}

/** Words of the plan. */
export const lockedModel = (where: string) =>
  `model needs the feature llm.alpha-4o, which is locked ${where}; have it unlocked there, or remove it from the configuration`;

export const unchecked = (what: string) =>
  `warning plan: Callsheet could not check ${what} before writing (answered 503). Apply reports a refusal.`;
