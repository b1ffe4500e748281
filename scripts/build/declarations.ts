import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An import or export of another declaration file. */
const RELATIVE = /\bfrom\s+'(\.{1,2}\/[^']+)\.ts'|\bimport\('(\.{1,2}\/[^']+)\.ts'\)/g;

/**
 * Writes the declarations that `src/index.ts` leads to, and no others: what the library keeps to itself
 * would only bring in types of packages that are not installed.
 */
export async function writeDeclarations(root: string, target: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-types-'));
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    await run(process.execPath, [tsc, '--project', await writeProject(root, folder)]);
    const emitted = join(folder, 'emitted', 'src');
    for (const file of await reachable(emitted)) {
      const path = join(target, relative(emitted, file));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, declarationOf(await readFile(file, 'utf8')));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeProject(root: string, folder: string): Promise<string> {
  const path = join(folder, 'tsconfig.json');
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      // Types are checked by `npm run check`; here they are only written.
      noCheck: true,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: root,
      outDir: join(folder, 'emitted'),
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    files: [join(root, 'src', 'index.ts')],
    include: [],
  };
  await writeFile(path, JSON.stringify(project));
  return path;
}

/** The files that lead on from the library's entry. */
async function reachable(emitted: string): Promise<readonly string[]> {
  const found = new Set<string>();
  const waiting = [join(emitted, 'index.d.ts')];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const text = await readFile(file, 'utf8');
    for (const [, from, imported] of text.matchAll(RELATIVE)) {
      waiting.push(join(dirname(file), `${from ?? imported}.d.ts`));
    }
  }
  return [...found];
}

/** Every resolution of modules knows what `.js` stands for. */
function declarationOf(text: string): string {
  return text.replaceAll(RELATIVE, (line) => line.replace(".ts'", ".js'"));
}
