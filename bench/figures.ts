import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Measured, Pair } from './measure.ts';

export type Range = { readonly median: number; readonly least: number; readonly most: number };

/** What one case came to. */
export type Figures = {
  readonly name: string;
  readonly goal?: number;
  readonly runs: number;
  /** Milliseconds. */
  readonly callsheet: Range;
  readonly floor: Range;
  /** Of the two programs that ran one after the other. */
  readonly ratio: Range;
  /** The same of the time on processors: what else a shared machine does bears less on it. */
  readonly cpuRatio: Range;
  /** Most that any run held, in MB. */
  readonly memory: { readonly callsheet: number; readonly floor: number };
};

export function figuresOf({ name, goal, pairs }: Measured): Figures {
  const peak = (side: keyof Pair) =>
    (Math.max(...pairs.map((pair) => pair[side].kib)) * 1024) / 1e6;
  const times = (side: keyof Pair) => rangeOf(pairs.map((pair) => pair[side].ms));
  const ratios = (of: 'ms' | 'cpu') =>
    rangeOf(pairs.map(({ callsheet, floor }) => callsheet[of] / floor[of]));
  return {
    name,
    ...(goal === undefined ? {} : { goal }),
    runs: pairs.length,
    callsheet: times('callsheet'),
    floor: times('floor'),
    ratio: ratios('ms'),
    cpuRatio: ratios('cpu'),
    memory: { callsheet: peak('callsheet'), floor: peak('floor') },
  };
}

function rangeOf(values: readonly number[]): Range {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return { median: (low + high) / 2, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

/** What of the machine bears on the figures. */
export function machineFacts(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const [load = 0] = loadavg();
  return `${availableParallelism()} cores (${cpu?.model.trim()}), ${gib} GiB, Node ${process.versions.node}, load ${load.toFixed(1)} at the start`;
}

/** The figures of a benchmark as a table of at most 80 columns. */
export function tableOf(all: readonly Figures[]): string {
  const rows = all.map(({ name, goal, runs, callsheet, floor, ratio, cpuRatio, memory }) => [
    name,
    seconds(callsheet),
    seconds(floor),
    `${times(ratio.median)} (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})`,
    cpuRatio.median.toFixed(2),
    goal === undefined ? '' : `≤ ${goal}`,
    `${memory.callsheet.toFixed(0)}/${memory.floor.toFixed(0)} MB`,
    String(runs),
  ]);
  const table = [
    ['case', 'callsheet', 'floor', 'ratio (spread)', 'CPU', 'goal', 'peak', 'runs'],
    ...rows,
  ];
  const widths = (table[0] ?? []).map((_, at) =>
    Math.max(...table.map((row) => row[at]?.length ?? 0)),
  );
  return table
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function seconds({ median }: Range): string {
  return `${(median / 1000).toFixed(2)} s`;
}

function times(value: number): string {
  return `${value.toFixed(2)} ×`;
}
