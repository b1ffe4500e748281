import type { Json } from '../core/value.ts';
import { paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue } from './value-text.ts';
import { cutText } from './width.ts';
import { formatCount } from './wording.ts';

/** What came of reading everything again after a rollback. */
type Verification = {
  readonly differs: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly wanted: Json;
    readonly found: Json;
  }[];
  readonly equal: number;
  readonly problem: string | null;
};

const INDENT = 4;
const MAX_VALUE = 120;

/** Says that everything is as it was, or what is not: address, field, what was wanted and what was found. */
export function renderVerification(
  { differs, equal, problem }: Verification,
  run: string | undefined,
  options: RenderOptions,
): string {
  const then = run === undefined ? 'in the snapshot' : `before run ${run}`;
  const say = (text: string, tone: 'strong' | 'error') =>
    wrap([span(text, tone)], options.width, 2);
  if (problem !== null) {
    const text = `Not verified: what is live could not be read again: ${sanitiseLine(problem)}`;
    return paint(say(text, 'error'), options.color);
  }
  if (differs.length === 0) {
    const text = `Verified: ${formatCount(equal, 'resource')} read again, every leaf as ${then}.`;
    return paint(say(text, 'strong'), options.color);
  }
  const lines = differs.flatMap(({ address, path, wanted, found }) => [
    ...wrap(
      [
        span('  '),
        span(sanitiseLine(address), 'strong'),
        span(path === null ? '' : `  ${sanitiseLine(path)}`),
      ],
      options.width,
      INDENT,
    ),
    ...wrap(
      [span(' '.repeat(INDENT)), span(`wanted ${short(wanted)}, found ${short(found)}`)],
      options.width,
      INDENT,
    ),
  ]);
  const what = `Not as ${then}: ${formatCount(differs.length, 'field')} of ${formatCount(countOf(differs), 'resource')}.`;
  return paint([...say(what, 'error'), ...lines], options.color);
}

/** The beginning of a long text tells enough. */
function short(value: Json): string {
  return cutText(inlineValue(value), MAX_VALUE);
}

function countOf(differs: Verification['differs']): number {
  return new Set(differs.map(({ address }) => address)).size;
}
