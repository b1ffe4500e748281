import type { World } from './harness.ts';

/** A `watch` that makes one pass and waits. */
export const ARGS = ['watch', '--interval', '1h', '--listen', '127.0.0.1:0', '--heal'];

/** It says so once the first pass is over. */
export const PASSED = /"event":"pass_ended"/;

/** The lines of its log. */
export function linesOf(out: string): readonly Record<string, unknown>[] {
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Has something drift that may be healed. */
export async function driftMarked(world: World): Promise<void> {
  await world.edit('agents.yaml', '  desk:\n', '  desk:\n    lifecycle: { heal: true }\n');
  world.sim.edit(world.agent('Front desk'), { greeting_message: 'Edited.' });
}
