import { setTimeout as sleep } from 'node:timers/promises';
import { CallsheetError } from '../../core/errors.ts';
import { QueueLost } from '../../queue/database.ts';
import type { Queue } from '../../queue/open.ts';
import { countTasks } from '../../queue/read-batch.ts';
import { commandLine } from '../command-line.ts';
import type { Context } from '../context.ts';
import { say } from '../tell.ts';

const LOOK_MS = 1_000;
/** A queue that is away longer ends the waiting, not the work. */
const AWAY_MS = 60_000;

/** Waits until nothing of a batch is left to be done, and says how far it is whenever that changes. */
export async function follow(
  queue: Queue,
  id: string,
  flags: { readonly dir: string },
  { terminal, stop }: Pick<Context, 'terminal' | 'stop'>,
): Promise<void> {
  let told = '';
  let awaySince: number | undefined;
  while (!stop.aborted) {
    try {
      const { done, running, waiting, notes } = await queue.database.told(() =>
        countTasks(queue.database.query, id),
      );
      awaySince = undefined;
      if (running + waiting === 0) return;
      const text = [
        `${done} done, ${running} at work, ${waiting} waiting`,
        ...notes.map((note) => `  ${note}`),
      ].join('\n');
      if (terminal.live !== undefined) terminal.live.draw(text);
      else if (text !== told) say(terminal, text);
      told = text;
    } catch (error) {
      if (!(error instanceof QueueLost)) throw error;
      awaySince ??= Date.now();
      if (Date.now() - awaySince > AWAY_MS) throw error;
    }
    await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  terminal.live?.end();
  throw new CallsheetError('interrupted', `the batch ${id} goes on without anybody waiting`, {
    hint: `Its report: ${commandLine(`enqueue --report ${id}`, flags)}`,
  });
}
