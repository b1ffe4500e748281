// Builds dist/: one bundle, split so that each command loads only what it needs, with every runtime
// dependency inside; the library beside the command line, with its types; and the licences of what was
// bundled.
import { globSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'rolldown';
import { writeDeclarations } from './build/declarations.ts';
import { shapes, validators } from './build/validators.ts';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');
// The build is made beside dist/ and then moved, so that a program that runs meanwhile never finds half of it.
const draft = join(root, `dist.${process.pid}`);

/**
 * Packages that pg and pg-boss import and Callsheet never has them use: passwords from a file, another build of the
 * driver, other runtimes, schedules (decision 19). Nothing of them is bundled.
 */
const UNUSED: { readonly [name: string]: string } = {
  'pg-cloudflare': 'module.exports = {};',
  pgpass: 'module.exports = {};',
  'cron-parser': 'export const CronExpressionParser = {};',
  'rrule-temporal': 'export const RRuleTemporal = {};',
};
const withoutUnused: Plugin = {
  name: 'without-unused',
  resolveId(id, importer = '') {
    if (id in UNUSED) return `\0unused:${id}`;
    // This holds with NODE_PG_FORCE_NATIVE, too: there is no native driver in the package.
    const isNative = id === './native' && importer.endsWith('/pg/lib/index.js');
    return isNative ? join(dirname(importer), 'client.js') : null;
  },
  load: (id) => UNUSED[id.replace('\0unused:', '')] ?? null,
};

/** Files that features bundled apart from the rest. */
const apart = new Set<string>();
const bundles = globSync('src/features/*/assets.ts', { cwd: root }).map(async (file) => {
  const { bundling }: { bundling: (apart: Set<string>) => Plugin } = await import(join(root, file));
  return bundling(apart);
});

const { output } = await build({
  cwd: root,
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  platform: 'node',
  plugins: [withoutUnused, validators, shapes, ...(await Promise.all(bundles))],
  logLevel: 'warn',
  output: {
    dir: draft,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});

/** The table of characters that look alike is made of it. */
const UNICODE = `## Unicode data

confusables.txt, Copyright © 1991-2020 Unicode, Inc., as the package unhomoglyph has it. Terms: https://www.unicode.org/license.txt
`;

const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const bundled = new Set<string>();
for (const module of [...modules, ...apart]) {
  const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module);
  if (match?.[1] !== undefined) bundled.add(match[1]);
}
await writeFile(join(draft, 'THIRD-PARTY-LICENSES.md'), await licencesOf([...bundled].sort()));
await writeDeclarations(root, join(draft, 'types'));
await rm(dist, { recursive: true, force: true });
await rename(draft, dist);

async function licencesOf(names: readonly string[]): Promise<string> {
  const parts = [...(await Promise.all(names.map(licenceOf))), UNICODE];
  return `# Licences of the packages that this bundle contains\n\n${parts.join('\n')}`;
}

async function licenceOf(name: string): Promise<string> {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? `${license}` : await readFile(join(folder, file), 'utf8');
  return `## ${name} ${version}\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`;
}
