import { expect } from 'vitest';
import type { Moment } from '../../kill/matrix.ts';
import { mortal } from '../../kill/mortal.ts';
import { before as beforeRequest, type Parted, parted } from './parts-stage.ts';
import { wipe } from './restoring.ts';

/** In the midst of a part, and with some of the agents made. */
export const AMID: Moment = { name: 'after request POST createAgent', nth: 4 };

/** Restores into the empty account until it is killed. */
export async function kill({ stage, restore }: Parted, at: Moment = AMID): Promise<void> {
  wipe(stage.sim);
  const { outside, isDead } = mortal(at);
  await restore({}, { outside, exit: 'any' });
  expect(isDead(), `${at.name} never came`).toBe(true);
}

export async function goOn({ restore, before, now }: Parted, more: object = {}): Promise<void> {
  const { summary } = await restore(more);
  expect([summary().status, summary().remaining]).toEqual(['done', []]);
  expect(now()).toEqual(before);
}

/** A test of a restoration that is interrupted before the nth request of an operation leaves. */
export function interruptedAt(what: string, operation: string, nth: number): void {
  parted(`by an interrupt ${what} tells what was done, and goes on`, async (fleet) => {
    const { stage, restore } = fleet;
    wipe(stage.sim);
    const stop = new AbortController();
    const outside = beforeRequest(operation, nth, () => stop.abort());
    const flags = { format: 'text' as const };
    const { out } = await restore(flags, { outside, stop: stop.signal, exit: 130 });
    expect(stop.signal.aborted).toBe(true);
    expect(out).toMatch(/✓ created +retry_policy\./);
    expect(out).toContain('Interrupted. Run the same command again');
    await goOn(fleet);
  });
}

export function killedAt(at: Moment): void {
  parted(`by a kill ${at.name}, number ${at.nth}, goes on`, async (fleet) => {
    await kill(fleet, at);
    await goOn(fleet);
  });
}
