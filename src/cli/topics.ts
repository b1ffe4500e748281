import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The pages of the documentation that `callsheet help TOPIC` shows. They come with the package, in `docs/`. The pages
 * for users are listed here, so that help and completion know them without reading a folder; those of the reference are
 * found there.
 */
type Topic = {
  readonly about: string;
  /** The commands that the page is about: their help names it. */
  readonly commands: readonly string[];
};

export const TOPICS: { readonly [topic: string]: Topic } = {
  start: { about: 'install, a first plan, a first apply', commands: ['init', 'fmt'] },
  'first-week': {
    about: '200 agents that are in a dashboard already',
    commands: ['export', 'import'],
  },
  language: {
    about: 'bases, tables of rows, environments, templates, moves',
    commands: ['explain'],
  },
  plans: {
    about: 'reading a plan, in a terminal, on a pull request and in a browser',
    commands: ['plan', 'show', 'apply', 'rehearse', 'ui'],
  },
  review: { about: 'approving a plan without the command line', commands: [] },
  guards: { about: 'what stops a plan, and what overrides it', commands: [] },
  secrets: { about: 'vaults, fingerprints, where credentials go', commands: [] },
  rollouts: {
    about: 'a few agents first, judged by calls; the others, or back',
    commands: ['rollout'],
  },
  pipelines: {
    about: 'GitHub, GitLab, Atlantis; receipts, events, traces',
    commands: ['runs'],
  },
  dashboard: { about: 'edits in the dashboard: drift and pull', commands: ['drift', 'pull'] },
  undo: {
    about: 'rollback, snapshots, restore',
    commands: ['rollback', 'snapshot', 'restore'],
  },
  stores: { about: 'where the state is kept, locks, dead runs, damage', commands: ['state'] },
  fleets: { about: 'many stacks, workers, watch', commands: ['queue', 'watch'] },
  rules: {
    about: 'editors, rules for prompts and stacks',
    commands: ['validate', 'schema'],
  },
  reference: { about: 'every field, setting, command, exit code and rule', commands: [] },
};

/** Pages of the reference that a command is about. */
const REFERENCE: { readonly [topic: string]: readonly string[] } = {
  reading: ['get', 'history', 'metrics', 'session'],
  simulator: ['simulate'],
};

/** The topic of the page about a command. */
export function topicAbout(command: string): string | undefined {
  const [first = ''] = command.split(' ');
  const listed = Object.entries(TOPICS).find(([, { commands }]) => commands.includes(first));
  return (
    listed?.[0] ?? Object.entries(REFERENCE).find(([, commands]) => commands.includes(first))?.[0]
  );
}

/**
 * Every topic with its page, by its path below `docs/`: `plans`, of the reference `settings`, and `reference/rules` where
 * a page for users has the name.
 */
export function topicPages(): ReadonlyMap<string, string> {
  const found = globSync('{*.md,reference/**/*.md}', { cwd: docsFolder() });
  const paths = found.map((path) => path.replaceAll('\\', '/'));
  const pages = new Map<string, string>();
  for (const path of paths.toSorted((a, b) => depth(a) - depth(b))) {
    const whole = path.replace(/\.md$/, '').replace(/\/README$/, '');
    const name = whole.split('/').at(-1) ?? '';
    if (whole !== 'README') pages.set(pages.has(name) ? whole : name, path);
  }
  return pages;
}

function depth(path: string): number {
  return path.replace(/\/README\.md$/, '').split('/').length;
}

export function docsFolder(): string {
  return join(packageFolder(), 'docs');
}

/** Finds the folder of Callsheet itself, from `dist/` as from `src/`. */
export function packageFolder(from = import.meta.dirname): string {
  return existsSync(join(from, 'package.json')) ? from : packageFolder(dirname(from));
}
