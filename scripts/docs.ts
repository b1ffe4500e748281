// Renews the outputs shown in docs/reference/reading.md: every `<!-- run: … -->` is followed by what the command
// prints against a simulated account of 3 resellers, 12 organizations, 500 agents and 5,000 calls, under a
// clock that stands still. `--check` only says whether they are fresh.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../src/cli/program.ts';
import { features } from '../src/features/index.ts';
import { type Simulator, startSimulator } from '../src/simulator/index.ts';

const FILE = join(import.meta.dirname, '..', 'docs', 'reference', 'reading.md');
const NOW = new Date('2026-11-21T09:45:00Z');
const COLUMNS = 80;

const BLOCK =
  /<!-- run: (?<line>.*?)(?: \| (?<end>head|tail) (?<most>\d+))? -->\n[\s\S]*?<!-- end -->/g;

const before = await readFile(FILE, 'utf8');
const after = await renewed(before);
if (!process.argv.includes('--check')) await writeFile(FILE, after);
else if (after !== before) {
  console.error(
    'docs/reference/reading.md does not show what the commands print. Run: npm run docs',
  );
  process.exitCode = 1;
}

async function renewed(text: string): Promise<string> {
  const simulator = await startSimulator({
    resellers: 3,
    organizations: 12,
    agents: 500,
    calls: 5000,
    now: () => NOW,
    log: false,
  });
  const home = process.cwd();
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-docs-'));
  try {
    await writeFile(join(folder, 'callsheet.yaml'), stackOf(simulator));
    process.chdir(folder);
    let renewedText = '';
    let at = 0;
    // One after the other: they share standard output, and ids are counted.
    for (const { 0: block, index, groups = {} } of text.matchAll(BLOCK)) {
      renewedText += text.slice(at, index) + (await blockOf(groups, simulator));
      at = index + block.length;
    }
    return renewedText + text.slice(at);
  } finally {
    process.chdir(home);
    await rm(folder, { recursive: true, force: true });
    await simulator.close();
  }
}

async function blockOf(
  { line = '', end, most }: { readonly [name: string]: string | undefined },
  simulator: Simulator,
): Promise<string> {
  const typed = line.replace(/\{(\w+)\}/g, (_, name: string) => idOf(name, simulator));
  const lines = (await outputOf(typed, simulator)).trimEnd().split('\n');
  const shown = [`$ callsheet ${typed}`, ...part(lines, end, Number(most))].join('\n');
  const command = end === undefined ? line : `${line} | ${end} ${most}`;
  return `<!-- run: ${command} -->\n\`\`\`\n${shown}\n\`\`\`\n<!-- end -->`;
}

/** The first or the last lines, and how many there are beside them. */
function part(lines: readonly string[], end: string | undefined, most: number): readonly string[] {
  const rest = lines.length - most;
  if (end === undefined || rest <= 0) return lines;
  const mark = `… ${rest} more lines`;
  return end === 'head' ? [...lines.slice(0, most), mark] : [mark, ...lines.slice(-most)];
}

/** Runs a command and returns its standard output, as wide as the page. */
async function outputOf(typed: string, { url, clientId, clientSecret }: Simulator) {
  const words = [...typed.matchAll(/"([^"]*)"|(\S+)/g)];
  const argv = words.map(([, quoted, plain = '']) => quoted ?? plain);
  const write = process.stdout.write;
  let out = '';
  process.stdout.columns = COLUMNS;
  process.stdout.write = (text: string | Uint8Array) => {
    out += String(text);
    return true;
  };
  try {
    const exit = await runProgram([...argv, '--quiet'], {
      features,
      env: {
        CALLSHEET_BASE_URL: url,
        CALLSHEET_CLIENT_ID: clientId,
        CALLSHEET_CLIENT_SECRET: clientSecret,
        NO_COLOR: '1',
      },
      now: () => NOW,
      stop: new AbortController().signal,
      version: '0.0.0',
    });
    if (exit !== 0) throw new Error(`callsheet ${typed} ended with ${exit}`);
  } finally {
    process.stdout.write = write;
  }
  return out;
}

/** A stack that only names the account's organizations. */
function stackOf({ organizations }: Simulator): string {
  const named = organizations.map(({ id, name }) => `  ${shortName(name)}: ${id}`);
  return ['callsheet: 1', 'organizations:', ...named, ''].join('\n');
}

/** `clinica-del-sol` of `Clínica del Sol`. */
function shortName(name: string): string {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-');
}

/** Ids that are too long to be written in the page by hand. */
function idOf(name: string, { store }: Simulator): string {
  const records = { profile: store.profiles, knowledge_base: store.knowledgeBases }[name];
  const [id] = records?.keys() ?? [];
  if (id === undefined) throw new Error(`there is no ${name}`);
  return id;
}
