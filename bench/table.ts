import { type Entry, type Figures, isMeasured } from './figures.ts';

type Column<T> = { readonly title: string; readonly of: (entry: T) => string };

const NAME: Column<Entry> = { title: 'case', of: ({ name }) => name };
const AGENTS: Column<Entry> = { title: 'agents', of: ({ size }) => size.toLocaleString('en') };
const LATENCY: Column<Entry> = { title: 'latency', of: ({ latency }) => `${latency} ms` };
const REQUESTS: Column<Figures> = {
  title: 'requests',
  of: ({ requests }) => (requests ? `${requests.callsheet}/${requests.floor}` : ''),
};
const TRIPS: Column<Figures> = {
  title: 'in a row',
  of: ({ roundTrips }) => (roundTrips === undefined ? '' : String(roundTrips)),
};
const FIGURES: readonly Column<Figures>[] = [
  { title: 'callsheet', of: ({ callsheet }) => seconds(callsheet.median) },
  { title: 'floor', of: ({ floor }) => seconds(floor.median) },
  {
    title: 'ratio (spread)',
    of: ({ ratio }) =>
      `${ratio.median.toFixed(2)} × (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})`,
  },
  { title: 'CPU', of: ({ cpuRatio }) => cpuRatio.median.toFixed(2) },
  { title: 'goal', of: ({ goal }) => (goal === undefined ? '' : `≤ ${goal}`) },
  {
    title: 'peak',
    of: ({ memory, most }) => {
      const bound = most === undefined ? '' : ` (≤ ${most.toFixed(0)})`;
      return `${memory.callsheet.toFixed(0)}/${memory.floor.toFixed(0)} MB${bound}`;
    },
  },
  { title: 'runs', of: ({ runs }) => String(runs) },
];

/**
 * The figures of a benchmark as a table. Sizes and latencies have a column where there are several, requests and round
 * trips in a row where they were counted.
 */
export function tableOf(entries: readonly Entry[]): string {
  const differs = (of: (entry: Entry) => number) => new Set(entries.map(of)).size > 1;
  const keys = [
    NAME,
    ...(differs(({ size }) => size) ? [AGENTS] : []),
    ...(differs(({ latency }) => latency) ? [LATENCY] : []),
  ];
  const isCounted = entries.some((entry) => isMeasured(entry) && entry.requests !== undefined);
  const areTripsCounted = entries.some(
    (entry) => isMeasured(entry) && entry.roundTrips !== undefined,
  );
  const figures = [
    ...(isCounted ? [REQUESTS] : []),
    ...(areTripsCounted ? [TRIPS] : []),
    ...FIGURES,
  ];
  const rows = entries.map((entry) => [
    ...keys.map(({ of }) => of(entry)),
    ...(isMeasured(entry)
      ? figures.map(({ of }) => of(entry))
      : [`not measured: ${entry.problem}`]),
  ]);
  const titles = [...keys, ...figures].map(({ title }) => title);
  const table = [titles, ...rows];
  // Why something was not measured goes over the width of the rest.
  const widthOf = (row: readonly string[], at: number) =>
    row.length === titles.length || at < keys.length ? (row[at]?.length ?? 0) : 0;
  const widths = titles.map((_, at) => Math.max(...table.map((row) => widthOf(row, at))));
  return table
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
