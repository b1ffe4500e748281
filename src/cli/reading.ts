import type { Reader } from '../plan/reader.ts';
import { formatNumber } from '../render/wording.ts';
import type { Context } from './context.ts';

/** How often the display is drawn anew: fast enough to see that it moves. */
const EVERY_MS = 120;
/** Resources between two lines in a log. */
const STRIDE = 1000;

/**
 * Shows that the platform is being read while `work` goes on: drawn anew on a terminal, elsewhere a line for each
 * thousand resources. `expected`: how many there are, as far as is known before.
 */
export async function whileReading<T>(
  reader: Reader,
  expected: number,
  { terminal }: Pick<Context, 'terminal'>,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  let read = 0;
  const { live } = terminal;
  const watched: Reader = {
    ...reader,
    async read(...asked) {
      const found = await reader.read(...asked);
      read += 1;
      if (live === undefined && read % STRIDE === 0) terminal.err(`${words(read, expected)} read`);
      return found;
    },
  };
  const draw = () => live?.draw(`Reading what is live: ${words(read, expected)}`);
  draw();
  const timer = live === undefined ? undefined : setInterval(draw, EVERY_MS).unref();
  try {
    return await work(watched);
  } finally {
    clearInterval(timer);
    live?.end();
  }
}

/** Facets and second looks are reads, too: once there are more than resources, their number is all that is said. */
function words(read: number, expected: number): string {
  const of = read <= expected && expected > 0 ? ` of ${formatNumber(expected)}` : '';
  return `${formatNumber(read)}${of} ${expected === 1 ? 'resource' : 'resources'}`;
}
