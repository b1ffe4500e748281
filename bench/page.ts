// Measures the HTML report of a large plan: node bench/page.ts [CHANGES…]
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { renderReport } from '../src/features/page/render.ts';
import { closeChromium, openChromium } from '../test/chromium.ts';
import { fleetPlan } from '../test/features/page/plans.ts';
import { machineFacts } from './figures.ts';

/** Every figure is the median of so many. */
const RUNS = 5;

const folder = await mkdtemp(join(tmpdir(), 'callsheet-page-'));
try {
  console.log(`$ node bench/page.ts ${process.argv.slice(2).join(' ')}\n${machineFacts()}\n`);
  console.log('| changes | as JSON | HTML | gzip | written in | first card | key |');
  console.log('|---:|---:|---:|---:|---:|---:|---:|');
  const given = process.argv.slice(2).map(Number);
  for (const count of given.length === 0 ? [100, 1000, 10_000] : given) {
    console.log(await rowOf(count));
  }
} finally {
  await closeChromium();
  await rm(folder, { recursive: true, force: true });
}

async function rowOf(count: number): Promise<string> {
  const plan = fleetPlan(count);
  const file = join(folder, `${count}.html`);
  await renderReport(plan);
  const start = performance.now();
  const html = await renderReport(plan);
  const written = performance.now() - start;
  await writeFile(file, html);
  const { size } = await stat(file);
  const times: { readonly first: number; readonly key: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) times.push(await timesOf(file));
  const median = (of: 'first' | 'key') =>
    times.map((one) => one[of]).sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
  const cells = [
    count.toLocaleString('en'),
    megabytes(JSON.stringify(plan).length),
    megabytes(size),
    megabytes(gzipSync(html).length),
    ...[written, median('first'), median('key')].map(milliseconds),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** As the page itself sees it: from the beginning of its navigation, and from a key to the next frame. */
async function timesOf(file: string) {
  const context = await (await openChromium()).newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.locator('.card').first().waitFor();
  const first = await page.evaluate<number>(
    'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))',
  );
  const key = await page.evaluate<number>(`new Promise((done) => {
    const start = performance.now();
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  })`);
  await context.close();
  return { first, key };
}

function megabytes(bytes: number): string {
  return bytes < 1024 * 1024
    ? `${(bytes / 1024).toFixed(0)} KB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function milliseconds(time: number): string {
  return `${time.toFixed(0)} ms`;
}
