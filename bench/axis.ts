export type Point = readonly [x: number, y: number];

/** An axis on which every power of ten is as long. */
export type Axis = {
  readonly place: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
};

/** An axis over the powers of ten around some values; upwards, the largest stands at 0. */
export function logAxis(values: readonly number[], length: number, isUpwards: boolean): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const place = (value: number) => {
    const share = (Math.log10(value) - low) / (high - low);
    return rounded(length * (isUpwards ? 1 - share : share));
  };
  const powers = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { place, ticks: powers.map((power) => ({ at: place(power), text: plain(power) })) };
}

export function pathOf(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Without the tail that powers below one have in binary. */
function plain(power: number): string {
  return Number(power.toPrecision(1)).toLocaleString('en', { maximumFractionDigits: 6 });
}
