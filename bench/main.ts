// Runs the benchmarks and prints what they came to: npm run bench, or node bench/main.ts --help
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Benchmark, Case, Scale } from './benchmark.ts';
import { benchmarks } from './benchmarks.ts';
import { type Entry, figuresOf, machineFacts, type Results } from './figures.ts';
import { type Extent, measure } from './measure.ts';
import { keepFigures, writePages } from './pages.ts';
import { tableOf } from './table.ts';

const HELP = `npm run bench -- [FLAGS] [BENCHMARK…]

Measures Callsheet against the least that the same work takes, each run in a
process of its own, and prints medians, spreads and peak memory. Everything
takes the better part of an hour; progress goes to stderr.

  --size N       this many agents, in place of each benchmark's own sizes
  --latency N    this latency of the platform in ms, in place of 0 and 20
  --runs N       how often each program is run (5)
  --seconds N    no further run of a case begins that would end after so many
                 seconds (45); one run is always made
  --case NAME    this case alone
  --json FILE    write the figures there as well, after each case
  --write        keep the figures in bench/figures.json, and write the tables of
                 docs/contributing/performance.md and the curves of docs/contributing/performance.svg
  --pages        measure nothing: write both from the figures that are kept

Benchmarks:
${benchmarks.map(({ name, about }) => `  ${name}\n${folded(about)}`).join('\n')}

A case that fails is told as not measured; the others go on, and the end is 1.
`;

/** Lines of a terminal's width. */
function folded(text: string): string {
  return text.replace(/(.{1,72})(?: |$)/g, '    $1\n').trimEnd();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string' },
    latency: { type: 'string' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '45' },
    case: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    pages: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  if (values.pages) return writePages();
  const unknown = positionals.find((name) => !benchmarks.some((one) => one.name === name));
  if (unknown !== undefined) throw new Error(`there is no benchmark ${unknown}\n\n${HELP}`);
  const extent: Extent = { runs: count(values.runs), seconds: count(values.seconds) };
  const machine = machineFacts();
  const typed = process.argv.slice(2).map((part) => (/\s/.test(part) ? `'${part}'` : part));
  const command = `npm run bench -- ${typed.join(' ')}`.replace(/ -- $/, '');
  console.log(`$ ${command}\n${machine}\n`);
  const results: Results[] = [];
  for (const one of benchmarks) {
    if (positionals.length > 0 && !positionals.includes(one.name)) continue;
    const entries: Entry[] = [];
    const result = { benchmark: one.name, command, machine, entries };
    results.push(result);
    console.log(`${one.name}. ${one.about}\n`);
    for await (const entry of measureAll(one, extent)) {
      entries.push(entry);
      // Each figure is kept at once, whatever happens to the rest.
      if (values.json !== undefined) writeFileSync(values.json, jsonOf({ ...extent, results }));
      if (values.write) keepFigures(result);
    }
    console.log(`${tableOf(entries)}\n`);
  }
}

async function* measureAll(one: Benchmark, extent: Extent): AsyncGenerator<Entry> {
  try {
    for (const scale of scalesOf(one)) {
      for (const each of one.cases) {
        const isWanted = values.case === undefined || values.case === each.name;
        // A size that was asked for is for every case.
        const fits = values.size !== undefined || (each.sizes?.includes(scale.size) ?? true);
        if (isWanted && fits) yield await measureOne(one, each, scale, extent);
      }
    }
  } finally {
    await one.tidy?.();
  }
}

/** Small ones first, so that what is cut short is what takes longest. */
function scalesOf({ sizes, latencies = [0] }: Benchmark): readonly Scale[] {
  const wanted = values.size === undefined ? sizes : [count(values.size)];
  const waits = values.latency === undefined ? latencies : [milliseconds(values.latency)];
  return wanted.flatMap((size) => waits.map((latency) => ({ size, latency })));
}

async function measureOne(
  { name: benchmark }: Benchmark,
  one: Case,
  scale: Scale,
  extent: Extent,
): Promise<Entry> {
  const { name } = one;
  const began = performance.now();
  const tell = (text: string) =>
    console.error(`${benchmark}, ${name}, ${scale.size} agents, ${scale.latency} ms: ${text}`);
  try {
    const figures = figuresOf(await measure(one, scale, extent));
    const took = ((performance.now() - began) / 1000).toFixed(0);
    tell(
      `${figures.ratio.median.toFixed(2)} × in ${figures.runs} runs (${took} s with everything around it)`,
    );
    return figures;
  } catch (error) {
    process.exitCode = 1;
    const message = error instanceof Error ? error.message : String(error);
    tell(message);
    return { name, ...scale, problem: message.split('\n')[0] ?? '' };
  }
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function milliseconds(text: string): number {
  return text === '0' ? 0 : count(text);
}

function count(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`${text} is no number above 0\n\n${HELP}`);
}

await main();
