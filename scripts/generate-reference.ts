// Writes docs/reference/ from the schemas, the command table, the exit codes and the rules. `--check` writes
// nothing and exits with 1 if a page is stale, or is neither generated nor written by hand.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages, WRITTEN_PAGES } from './reference/pages.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'reference');
const pages = referencePages();
const written = WRITTEN_PAGES.map(([path]) => path);
const found = new Map(
  globSync('**/*.md', { cwd: folder }).map((path) => [
    path,
    readFileSync(join(folder, path), 'utf8'),
  ]),
);
const stale = [...pages].filter(([path, text]) => found.get(path) !== text);
const stray = [...found.keys()].filter((path) => !pages.has(path) && !written.includes(path));

if (process.argv.includes('--check')) {
  for (const path of [...stale.map(([name]) => name), ...stray])
    console.error(`stale: docs/reference/${path} (npm run generate writes it)`);
  if (stale.length + stray.length > 0) process.exitCode = 1;
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    console.log(`wrote docs/reference/${path}`);
  }
  for (const path of stray) rmSync(join(folder, path));
}
