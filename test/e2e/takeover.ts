import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Holder } from '../../src/state/store.ts';
import { openKeyed } from '../state/keyed.ts';
import type { World } from './harness.ts';
import type { Running } from './process.ts';

/** Who takes the state over from a run that was paused. */
export const OTHER: Holder = {
  run: 'r-other',
  command: 'apply',
  user: 'kim',
  host: 'elsewhere',
  pid: process.pid,
  since: '2026-03-02T08:30:00.000Z',
};

/** The state as another machine sees it a minute later, for which watching takes no time. */
export function aMinuteLater({ folder }: Pick<World, 'folder'>) {
  return openKeyed(join(folder, '.callsheet/state.json'), {
    now: () => Date.now() + 60_000,
    sleep: async () => {},
  });
}

/** Stops the run that holds the state, and waits until it stands still. */
export async function pause(world: Pick<World, 'folder'>, running: Running): Promise<void> {
  const held = await aMinuteLater(world).lock();
  const stat = `/proc/${held?.holder.pid}/stat`;
  running.signal('SIGSTOP');
  while (existsSync(stat) && !/\) T /.test(readFileSync(stat, 'utf8'))) await turn();
}
