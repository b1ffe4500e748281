import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';
import { openShell, type Shell } from './shell.ts';
import { type Command, looksLike, type Step, stepsOf } from './walk.ts';

const DOCS = join(import.meta.dirname, '../../docs');
/** The port that pages show; a free one takes its place. */
const SHOWN_PORT = '4010';

const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
  .map((file) => ({ file, steps: stepsOf(readFileSync(join(DOCS, file), 'utf8')) }))
  .filter(({ steps }) => steps.some(({ type }) => type === 'commands'));

test('there are pages to walk through', () => {
  expect(pages.map(({ file }) => file)).toEqual(
    expect.arrayContaining(['start.md', 'first-week.md']),
  );
});

/** Twenty processes one after the other, on a machine that is busy. */
const TIMEOUT = 180_000;

/** The page that everybody begins with; `npm run torture` walks through all. */
const walked = longRows(pages, ({ file }) => file === 'start.md');

test.each(walked)(
  '$file does what it says, from its first command to its last',
  { timeout: TIMEOUT },
  async ({ file, steps }) => {
    const home = temporaryFolder();
    const port = String(await freePort());
    const shell = openShell({ cwd: home, env: environment(home) });
    onTestFinished(shell.close);
    for (const step of steps) await take(step, { file, shell, port });
  },
);

type Walk = {
  readonly file: string;
  readonly shell: Shell;
  readonly port: string;
};

async function take(step: Step, walk: Walk): Promise<void> {
  const { shell, port } = walk;
  const at = `docs/${walk.file}:${step.line}`;
  const real = (text: string) => text.replaceAll(SHOWN_PORT, port);
  const asShown = (text: string) => text.replaceAll(port, SHOWN_PORT);
  switch (step.type) {
    case 'file': {
      const path = await placeOf(step.path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, real(step.text));
      return;
    }
    case 'change': {
      const path = await placeOf(step.path);
      const parts = readFileSync(path, 'utf8').split(step.from);
      expect(parts.length - 1, `${at}: how often ${step.path} has the lines`).toBe(1);
      writeFileSync(path, parts.join(step.to));
      return;
    }
    case 'terminal': {
      const printed = await shell.begin(real(step.command.typed), (text) =>
        looksLike(asShown(text), step.command.shown),
      );
      // What a program prints to be exported is what the page has its reader copy.
      for (const line of printed.split('\n').filter((one) => one.startsWith('export ')))
        await shell.type(line);
      return;
    }
    case 'commands':
      for (const [index, command] of step.commands.entries()) {
        const exit = index === step.commands.length - 1 ? step.exit : 0;
        await type(command, exit);
      }
  }

  /** The reader's shell may have gone into a folder. */
  async function placeOf(path: string): Promise<string> {
    return join((await shell.type('pwd')).printed.trim(), path);
  }

  async function type({ typed, shown }: Command, exit: number) {
    const outcome = await shell.type(real(typed));
    const printed = asShown(outcome.printed);
    const said = `${at}: $ ${typed}\n${printed}`;
    expect(outcome.exit, said).toBe(exit);
    if (!looksLike(printed, shown)) expect(printed, said).toBe(shown.join('\n'));
  }
}

/** A reader's terminal: `callsheet` is installed, and nothing is set up. */
function environment(home: string): Record<string, string> {
  const bin = join(home, '.bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'callsheet'),
    `#!/bin/sh\nexec "${process.execPath}" "${inject('bin')}" "$@"\n`,
    { mode: 0o755 },
  );
  return {
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    COLUMNS: '80',
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(':'),
    NODE_COMPILE_CACHE: inject('compiled'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'user.name',
    GIT_CONFIG_VALUE_0: 'reader',
    GIT_CONFIG_KEY_1: 'user.email',
    GIT_CONFIG_VALUE_1: 'reader@example.test',
    GIT_CONFIG_KEY_2: 'init.defaultBranch',
    GIT_CONFIG_VALUE_2: 'main',
  };
}
