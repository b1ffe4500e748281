import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  basedAgent,
  basesFile,
  COLUMNS,
  MAIN,
  plainAgent,
  promptText,
  TOWNS,
  tableAgent,
  tableRow,
} from './texts.ts';

const AGENTS_PER_FILE = 10;

type Write = (path: string, text: string) => void;

function into(dir: string): Write {
  return (path, text) => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
}

function eachFile(size: number, write: (file: number, first: number, count: number) => void): void {
  for (let first = 0, file = 0; first < size; first += AGENTS_PER_FILE, file += 1) {
    write(file, first, Math.min(AGENTS_PER_FILE, size - first));
  }
}

function range(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/**
 * A fleet as teams keep one: ten agents a file. Half of the files have agents that are written out over a base,
 * with a prompt file of their own; the other half have a table of ten rows and a template.
 */
export function writeSpread(dir: string, size: number): void {
  const write = into(dir);
  write('callsheet.yaml', MAIN);
  write('bases.yaml', basesFile());
  for (const [index] of TOWNS.entries())
    write(`templates/${index}.md`, promptText(index, '${place}'));
  eachFile(size, (file, first, count) => {
    const name = `regions/${String(file).padStart(4, '0')}`;
    if (file % 2 === 0) {
      write(
        `${name}.yaml`,
        `agents:\n${range(first, count)
          .map((index) => basedAgent(index, `${name}.md`))
          .join('')}`,
      );
      write(`${name}.md`, promptText(file, 'the clinic'));
    } else {
      write(
        `${name}.yaml`,
        `agents:\n${tableAgent(`region_${file}`, `${name}.csv`, `templates/${file % TOWNS.length}.md`)}`,
      );
      write(`${name}.csv`, table(first, count));
    }
  });
}

/** The same fleet with nothing shared: every agent says everything itself. */
export function writePlain(dir: string, size: number): void {
  const write = into(dir);
  write('callsheet.yaml', MAIN);
  eachFile(size, (file, first, count) => {
    const agents = range(first, count).map(plainAgent);
    write(`regions/${String(file).padStart(4, '0')}.yaml`, `agents:\n${agents.join('')}`);
  });
}

/** The same fleet as one table. */
export function writeTable(dir: string, size: number): void {
  const write = into(dir);
  write('callsheet.yaml', MAIN);
  write('bases.yaml', basesFile());
  write('templates/0.md', promptText(0, '${place}'));
  write('agents.yaml', `agents:\n${tableAgent('clinic', 'clinics.csv', 'templates/0.md')}`);
  write('clinics.csv', table(0, size));
}

function table(first: number, count: number): string {
  return [COLUMNS, ...range(first, count).map(tableRow)].map((line) => `${line}\n`).join('');
}
