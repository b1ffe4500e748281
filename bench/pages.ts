import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { curvesOf } from './curves.ts';
import type { Results } from './figures.ts';
import { tableOf } from './table.ts';

const ROOT = join(import.meta.dirname, '..');
/** The figures that the pages show: the latest of each benchmark. */
const KEPT = join(import.meta.dirname, 'figures.json');
const PAGE = join(ROOT, 'docs/performance.md');
const CURVES = join(ROOT, 'docs/performance.svg');

/** Keeps what a benchmark came to in place of what it came to before, and writes the pages anew. */
export function keepFigures(result: Results): void {
  const others = keptFigures().filter(({ benchmark }) => benchmark !== result.benchmark);
  const all = [...others, result].toSorted((a, b) => (a.benchmark < b.benchmark ? -1 : 1));
  writeFileSync(KEPT, `${JSON.stringify(all, null, 2)}\n`);
  writePages();
}

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
