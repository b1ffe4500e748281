import { expect, test } from 'vitest';
import type { Change, PlanOptions } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { PlanInput } from '../../src/plan/make.ts';
import { type Documents, type WorldBuilder, world } from '../world.ts';

/** A world, and what its plan must say of one address. */
export type Row = {
  readonly title: string;
  readonly desired?: Documents;
  readonly live?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly applied?: Documents;
  readonly options?: Partial<PlanOptions>;
  readonly having?: (world: WorldBuilder) => WorldBuilder;
  readonly input?: Partial<PlanInput>;
  /** `agent.desk` unless given. */
  readonly address?: string;
  /** `update refused`, `no_op`; the verdict is left out where it is ok. */
  readonly says: string;
  /** Parts of the reason. */
  readonly because?: readonly string[];
  /** `revert greeting_message`, `update status`, in their order. */
  readonly steps?: readonly string[];
};

export function worldOf({ desired = {}, live = {}, applied = {}, options = {}, having }: Row) {
  const made = world().desired(desired).live(live).applied(applied).options(options);
  return having === undefined ? made : having(made);
}

/** The change of a row's address; undefined where the plan has nothing to do there. */
export async function changeOf(row: Row): Promise<Change | undefined> {
  const { plan } = await worldOf(row).plan(row.input);
  return plan.changes.find(({ address }) => address === (row.address ?? 'agent.desk'));
}

export function stepsOf(change: Change | undefined): readonly string[] {
  return (change?.operations ?? []).map(({ step, fields, version }) =>
    [step, ...(version === undefined ? [] : [`to ${version}`]), ...fields].join(' '),
  );
}

/** One test a row. */
export function plans(rows: readonly Row[]): void {
  test.each(rows)('$title', async (row) => {
    const change = await changeOf(row);
    const said = change
      ? `${change.action}${change.verdict === 'ok' ? '' : ` ${change.verdict}`}`
      : 'no_op';
    expect(said).toBe(row.says);
    for (const part of row.because ?? []) expect(change?.reason).toContain(part);
    if (row.steps !== undefined) expect(stepsOf(change)).toEqual(row.steps);
  });
}
