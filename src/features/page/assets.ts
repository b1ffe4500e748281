import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** Assets that a browser gets beside the data: one script and one style. */
export type Assets = { readonly script: string; readonly style: string };

/** The pages that there are. Each begins with the file of its name in `browser/`. */
const PAGES = ['report', 'ui'] as const;
type PageName = (typeof PAGES)[number];

const bundled = new Map<PageName, Promise<Assets>>();

/** In the bundle these are texts: the build has bundled what is bundled here when it is first asked for. */
export async function pageAssets(page: PageName): Promise<Assets> {
  const known = bundled.get(page) ?? bundlePage(page);
  bundled.set(page, known);
  return known;
}

/**
 * `scripts/build.ts` takes this for its bundle: it puts the bundled pages in the place of this file, and adds the files
 * that went into them, for the licences.
 */
export const bundling = (modules: Set<string>): Plugin => ({
  name: 'pages',
  load: {
    filter: { id: import.meta.filename },
    handler: async () => {
      const pages: { [page: string]: Assets } = {};
      for (const page of PAGES) {
        const { modules: own, ...assets } = await bundlePage(page);
        for (const module of own) modules.add(module);
        pages[page] = assets;
      }
      const code = `const pages = ${JSON.stringify(pages)};\nexport const pageAssets = async (page) => pages[page];\n`;
      return { code, moduleType: 'js' };
    },
  },
});

/** Bundles a page, and names the files that went into it. */
async function bundlePage(
  page: PageName,
): Promise<Assets & { readonly modules: readonly string[] }> {
  const style = await readStyle(page);
  const { build } = await import('rolldown');
  const { output } = await build({
    input: join(BROWSER, `${page}.tsx`),
    platform: 'browser',
    logLevel: 'warn',
    write: false,
    transform: { target: 'es2023' },
    output: { format: 'iife', minify: true, banner: BANNER },
  });
  const [chunk] = output;
  const script = chunk.code.trim();
  // Either would end the element that the script stands in.
  if (/<\/script|<!--/i.test(script)) throw new Error(`the page ${page} holds an end of script`);
  return { script, style, modules: chunk.moduleIds };
}

const BROWSER = join(import.meta.dirname, 'browser');

const SHARED = ['frame', 'list', 'change', 'views'];
/** In the order of the cascade. */
const STYLES: { readonly [page in PageName]: readonly string[] } = {
  report: [...SHARED, 'media'],
  ui: [...SHARED, 'ui', 'media'],
};

async function readStyle(page: PageName): Promise<string> {
  const sheets = await Promise.all(
    STYLES[page].map((name) => readFile(join(BROWSER, 'style', `${name}.css`), 'utf8')),
  );
  return withoutComments(sheets.join('\n'));
}

const BANNER =
  '/*! Contains preact (MIT, Copyright (c) 2015-present Jason Miller) and diff (BSD-3-Clause, Copyright (c) 2009-2015 Kevin Decker), and data of Unicode (Copyright (c) 1991-2020 Unicode, Inc., https://www.unicode.org/license.txt). */';

function withoutComments(style: string): string {
  return style
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .trim();
}
