import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { curvesOf } from './curves.ts';
import type { Entry, Results } from './figures.ts';
import { tableOf } from './table.ts';

const ROOT = join(import.meta.dirname, '..');
/** The figures that the pages show: the latest of each benchmark. */
const KEPT = join(import.meta.dirname, 'figures.json');
const PAGE = join(ROOT, 'docs/contributing/performance.md');
const CURVES = join(ROOT, 'docs/contributing/performance.svg');

/** Keeps what a benchmark came to. Figures of the same case, fleet and latency make way for the new ones. */
export function keepFigures(result: Results): void {
  const all = keptFigures();
  const before = all.find(({ benchmark }) => benchmark === result.benchmark);
  const others = all.filter(({ benchmark }) => benchmark !== result.benchmark);
  const kept = [...others, before === undefined ? result : withFigures(before, result)];
  kept.sort((a, b) => (a.benchmark < b.benchmark ? -1 : 1));
  writeFileSync(KEPT, `${JSON.stringify(kept, null, 2)}\n`);
  writePages();
}

function withFigures(before: Results, { command, entries, ...rest }: Results): Results {
  const keyOf = ({ name, size, latency }: Entry) => JSON.stringify([name, size, latency]);
  const fresh = new Set(entries.map(keyOf));
  const old = before.entries.filter((entry) => !fresh.has(keyOf(entry)));
  const commands = old.length === 0 ? [command] : [...before.command.split(NEXT), command];
  const order = [...new Set([...entries, ...old].map(({ name }) => name))];
  const sorted = [...old, ...entries].toSorted(
    (a, b) =>
      a.size - b.size || a.latency - b.latency || order.indexOf(a.name) - order.indexOf(b.name),
  );
  return { ...rest, command: [...new Set(commands)].join(NEXT), entries: sorted };
}

/** Between the commands whose figures stand in one table. */
const NEXT = '\n$ ';

export function writePages(): void {
  writeFileSync(PAGE, pageText(readFileSync(PAGE, 'utf8')));
  const curves = curvesText();
  if (curves !== undefined) writeFileSync(CURVES, curves);
}

/** The page with the tables of the figures that are kept; what stands around them is written by hand. */
export function pageText(page: string): string {
  return keptFigures().reduce((text, { benchmark, command, machine, entries }) => {
    const [begin, end] = [`<!-- figures: ${benchmark} -->`, '<!-- /figures -->'];
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for the figures of ${benchmark}`);
    const table = `\n\n\`\`\`\n$ ${command}\n${machine}\n\n${tableOf(entries)}\n\`\`\`\n\n`;
    return text.slice(0, from + begin.length) + table + text.slice(to);
  }, page);
}

/** The curves of the figures that are kept; undefined where there are none of a fleet. */
export function curvesText(): string | undefined {
  const fleet = keptFigures().find(({ benchmark }) => benchmark === 'fleet');
  return fleet && curvesOf(fleet.entries);
}

function keptFigures(): readonly Results[] {
  return JSON.parse(readFileSync(KEPT, 'utf8'));
}
