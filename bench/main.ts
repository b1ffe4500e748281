// Runs the benchmarks and prints what they came to: npm run bench, or node bench/main.ts --help
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { benchmarks } from './benchmarks.ts';
import { type Figures, figuresOf, machineFacts, tableOf } from './figures.ts';
import { type Extent, measure } from './measure.ts';

const HELP = `npm run bench -- [--size N] [--runs N] [--seconds N] [--case NAME] [--json FILE] [BENCHMARK…]

  --size N      how many agents (10000)
  --runs N      how often each program is run (5)
  --seconds N   no further run of a case begins after so many seconds (45)
  --case NAME   this case alone
  --json FILE   write the figures there as well

Benchmarks: ${benchmarks.map(({ name }) => name).join(', ')}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '45' },
    case: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  const unknown = positionals.find((name) => !benchmarks.some((one) => one.name === name));
  if (unknown !== undefined) throw new Error(`there is no benchmark ${unknown}\n\n${HELP}`);
  const extent: Extent = {
    size: count(values.size),
    runs: count(values.runs),
    seconds: count(values.seconds),
  };
  const machine = machineFacts();
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.replace(/ -- $/, '');
  console.log(`$ ${command}\n${machine}\n`);
  const results: { name: string; figures: readonly Figures[] }[] = [];
  for (const { name, about, cases } of benchmarks) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    console.log(`${name}, ${extent.size.toLocaleString('en')} agents. ${about}\n`);
    const figures: Figures[] = [];
    for (const one of cases) {
      if (values.case === undefined || values.case === one.name) {
        figures.push(figuresOf(await measure(one, extent)));
      }
    }
    console.log(`${tableOf(figures)}\n`);
    results.push({ name, figures });
  }
  if (values.json !== undefined) {
    writeFileSync(
      values.json,
      `${JSON.stringify({ command, machine, ...extent, results }, null, 2)}\n`,
    );
  }
}

function count(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`${text} is no number above 0\n\n${HELP}`);
}

await main();
