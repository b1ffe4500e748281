import type { Plugin } from 'rolldown';
import { bundlePage, PAGES } from '../../src/page/assets.ts';

const BUNDLER = /[\\/]src[\\/]page[\\/]assets\.ts$/;

/** Files that went into the pages, for the licences. */
export const modulesOfPages = new Set<string>();

/** Puts the bundled pages in the place of the bundler, each in a module that is loaded when it is asked for. */
export const pages: Plugin = {
  name: 'pages',
  load: {
    filter: { id: BUNDLER },
    handler: async () => {
      const bundled = await Promise.all(
        PAGES.map(async (page) => {
          const { modules, ...assets } = await bundlePage(page);
          for (const module of modules) modulesOfPages.add(module);
          return [page, assets] as const;
        }),
      );
      const code = `
const pages = ${JSON.stringify(Object.fromEntries(bundled))};
export async function pageAssets(page) {
  return pages[page];
}
`;
      return { code, moduleType: 'js' };
    },
  },
};
