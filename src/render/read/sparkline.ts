const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** A value of nothing, so that it is told from a little. */
const ZERO = '·';

/** One bar a value, from nothing to the highest of them or to `highest`. */
export function sparkline(values: readonly number[], highest = Math.max(0, ...values)): string {
  return values.map((value) => barOf(value, highest)).join('');
}

function barOf(value: number, highest: number): string {
  if (!(value > 0) || highest <= 0) return ZERO;
  const step = Math.ceil((value / highest) * BARS.length) - 1;
  return BARS[Math.min(step, BARS.length - 1)] ?? ZERO;
}

/** Every bar `times` columns wide. */
export function stretch(bars: string, times: number): string {
  return Array.from(bars, (bar) => bar.repeat(times)).join('');
}

/**
 * Values added up in neighbouring groups, so that there are at most `most`; `size` is how many went into
 * each.
 */
export function gather(
  values: readonly number[],
  most: number,
): { readonly sums: readonly number[]; readonly size: number } {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const groups = Math.ceil(values.length / size);
  const sums = Array.from({ length: groups }, (_, group) =>
    values.slice(group * size, (group + 1) * size).reduce((sum, value) => sum + value, 0),
  );
  return { sums, size };
}

/** A horizontal bar of at most `width` columns for a share from 0 to 1; the least share is still seen. */
export function shareBar(share: number, width: number): string {
  if (!(share > 0)) return '';
  return '█'.repeat(Math.min(width, Math.max(1, Math.round(share * width))));
}
