import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Scale, Side } from './benchmark.ts';
import type { Measured } from './measure.ts';

export type Range = { readonly median: number; readonly least: number; readonly most: number };

/** The figures of one case. */
export type Figures = Scale & {
  readonly name: string;
  readonly goal?: number;
  /** MB that no run of Callsheet may exceed. */
  readonly most?: number;
  readonly runs: number;
  /** Milliseconds. */
  readonly callsheet: Range;
  readonly floor: Range;
  /** The ratio of the two programs that ran one after the other. */
  readonly ratio: Range;
  /** The same of the time on processors: what else a shared machine does bears less on it. */
  readonly cpuRatio: Range;
  /** Most that any run held, in MB. */
  readonly memory: Readonly<Record<Side, number>>;
  /** Most that any run made, where a platform counted them. */
  readonly requests?: Readonly<Record<Side, number>>;
  /** Most that any run of Callsheet made in a row, where a platform lets requests wait. */
  readonly roundTrips?: number;
};

/** A case that has no figures, and why. */
export type Unmeasured = Scale & { readonly name: string; readonly problem: string };

export type Entry = Figures | Unmeasured;

/** All that one run of a benchmark came to. */
export type Results = {
  readonly benchmark: string;
  readonly command: string;
  readonly machine: string;
  readonly entries: readonly Entry[];
};

export function figuresOf({ name, size, latency, goal, most, pairs }: Measured): Figures {
  const peak = (side: Side) => (Math.max(...pairs.map((pair) => pair[side].kib)) * 1024) / 1e6;
  const counts = pairs.flatMap(({ requests = [] }) => requests);
  const trips = pairs.flatMap(({ roundTrips = [] }) => roundTrips);
  const asked = (side: Side) => Math.max(...counts.map((count) => count[side]));
  const times = (side: Side) => rangeOf(pairs.map((pair) => pair[side].ms));
  const ratios = (of: 'ms' | 'cpu') =>
    rangeOf(pairs.map(({ callsheet, floor }) => callsheet[of] / floor[of]));
  return {
    name,
    size,
    latency,
    ...(goal === undefined ? {} : { goal }),
    ...(most === undefined ? {} : { most }),
    runs: pairs.length,
    callsheet: times('callsheet'),
    floor: times('floor'),
    ratio: ratios('ms'),
    cpuRatio: ratios('cpu'),
    memory: { callsheet: peak('callsheet'), floor: peak('floor') },
    ...(counts.length > 0 && {
      requests: { callsheet: asked('callsheet'), floor: asked('floor') },
    }),
    ...(trips.length > 0 && { roundTrips: Math.max(...trips) }),
  };
}

function rangeOf(values: readonly number[]): Range {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return { median: (low + high) / 2, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

export function isMeasured(entry: Entry): entry is Figures {
  return !('problem' in entry);
}

/** Describes the machine as far as it bears on the figures. */
export function machineFacts(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const [load = 0] = loadavg();
  return `${availableParallelism()} cores (${cpu?.model.trim()}), ${gib} GiB, Node ${process.versions.node}, load ${load.toFixed(1)} at the start`;
}
