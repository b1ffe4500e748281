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
  readonly left: readonly NotUndone[];
};

/** What a rollback did not put back. */
type NotUndone = {
  readonly address: string;
  readonly path: string | null;
  readonly why: string;
  readonly advice: string;
};

/** Beyond this many they are counted, unless everything is asked for. */
const MAX_LEFT = 6;

const INDENT = 4;
const MAX_VALUE = 120;

/**
 * Says that everything that could be read is as it was, or what is not: address, field, what was wanted and what was
 * found; and what was not put back, with what to do about it.
 */
export function renderVerification(
  { differs, equal, problem, left }: Verification,
  run: string | undefined,
  options: RenderOptions,
): string {
  const then = run === undefined ? 'in the snapshot' : `before run ${run}`;
  const say = (text: string, tone: 'strong' | 'error') =>
    paint(wrap([span(text, tone)], options.width, 2), options.color);
  const isNamed = ({ address, path }: Verification['differs'][number]) =>
    left.some((one) => one.address === address && one.path === path);
  const others = differs.filter((one) => !isNamed(one));
  const named = left.length === 0 ? '' : renderNotUndone(left, options);
  if (problem !== null) {
    return `${named}${say(`Not verified: what is live could not be read again: ${sanitiseLine(problem)}`, 'error')}`;
  }
  if (others.length === 0) {
    const count = formatCount(equal + countOf(differs), 'resource');
    const but = left.length === 0 ? '' : ', but for what is listed above';
    const what = left.length === 0 ? 'every leaf' : 'every leaf that the platform returns';
    return `${named}${say(`Verified: ${count} read again, ${what} as ${then}${but}.`, 'strong')}`;
  }
  const lines = others.flatMap(({ address, path, wanted, found }) => [
    ...placeLines({ address, path }, options),
    ...wrap(
      [span(' '.repeat(INDENT)), span(`wanted ${short(wanted)}, found ${short(found)}`)],
      options.width,
      INDENT,
    ),
  ]);
  const what = `Not as ${then}: ${formatCount(others.length, 'field')} of ${formatCount(countOf(others), 'resource')}.`;
  return `${named}${say(what, 'error')}${paint(lines, options.color)}`;
}

/** What was not put back: address, field, why, and what to do; once where that is the same of several. */
export function renderNotUndone(left: readonly NotUndone[], options: RenderOptions): string {
  const alike = Map.groupBy(left, ({ path, why, advice }) => JSON.stringify([path, why, advice]));
  const groups = [...alike.values()];
  const shown = options.verbose ? groups : groups.slice(0, MAX_LEFT);
  const lines = shown.flatMap((group) => {
    const [{ path, why, advice } = NOTHING] = group;
    const named = options.verbose ? group : group.slice(0, MAX_LEFT);
    const others = group.length - named.length;
    const address = `${named.map((one) => one.address).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
    const text = span(sanitiseLine(`${why}. ${advice}`));
    return [
      ...placeLines({ address, path }, options),
      ...wrap([span(' '.repeat(INDENT)), text], options.width, INDENT),
    ];
  });
  const rest = groups.length - shown.length;
  const more = span(`  ⋯ ${rest} more; --verbose lists all of them`, 'dim');
  const resources = formatCount(countOf(left), 'resource');
  const values = left.filter(({ path }) => path !== null).length;
  const what = values === 0 ? resources : `${formatCount(values, 'value')} of ${resources}`;
  return paint(
    [
      ...wrap([span(`Not put back: ${what}.`, 'error')], options.width, 2),
      ...lines,
      ...(rest > 0 ? [[more]] : []),
    ],
    options.color,
  );
}

const NOTHING: NotUndone = { address: '', path: null, why: '', advice: '' };

function placeLines(
  { address, path }: { readonly address: string; readonly path: string | null },
  options: RenderOptions,
) {
  const field = path === null ? '' : `  ${sanitiseLine(path)}`;
  const place = [span('  '), span(sanitiseLine(address), 'strong'), span(field)];
  return wrap(place, options.width, INDENT);
}

/** The beginning of a long text tells enough. */
function short(value: Json): string {
  return cutText(inlineValue(value), MAX_VALUE);
}

function countOf(places: readonly { readonly address: string }[]): number {
  return new Set(places.map(({ address }) => address)).size;
}
