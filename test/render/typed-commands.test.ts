import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { commandsIn, quoted, splitCommands } from '../../src/core/command-line.ts';
import { features } from '../../src/features/index.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderProse } from '../../src/render/terminal.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { typedCommands } from '../typed-commands.ts';
import { documents } from './documents.ts';

const { commands: COMMANDS } = openTable(features);

/**
 * Commands in messages, of all messages that the sources have: each is marked as one, and stays in one line whatever
 * the width of the terminal and the length of what is filled in.
 */

const SOURCES = join(import.meta.dirname, '../../src');

/** They speak to nobody: the simulator answers as the platform does. */
const SILENT = /^simulator\/|\.generated\.ts$/;

/** Lines of help, which are laid out for 80 columns and never broken, and what a shell reads. */
const LAID_OUT = new Set([
  'features/editor/completion.ts',
  'cli/usage.ts: Usage: callsheet help TOPIC',
  'cli/usage.ts: One command: callsheet help COMMAND    Options of all: callsheet help options',
  'cli/usage.ts: Pages: callsheet help',
  'cli/usage.ts: Options of every command: callsheet help options',
  'cli/usage.ts: More about it: callsheet help …',
  // No message: a key is derived for it.
  'state/fingerprint.ts: callsheet rollback copies 1',
  // It has a line of its own.
  'render/runs.ts:   CALLSHEET_STATE=… callsheet rollback …',
  ...COMMANDS.flatMap(({ examples }) =>
    examples.flatMap((line) =>
      ['cli/command-table.ts', ...features.map(({ name }) => `features/${name}/index.ts`)].map(
        (file) => `${file}: ${line}`,
      ),
    ),
  ),
]);

/** What is filled in: as long as a path gets, with blanks and quotes. */
const FILLED = quoted(`/tmp/${"it's a folder/".repeat(9)}agent.clinic["Harbor Dental"]`);

type Message = { readonly file: string; readonly text: string };

type Node = { readonly type?: unknown; readonly value?: unknown; readonly quasis?: unknown };

function visit(value: unknown, each: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, each);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  each(value);
  for (const member of Object.values(value)) visit(member, each);
}

/** The texts of a source file, with … for what is filled in. */
function textsIn(file: string): readonly Message[] {
  const found: Message[] = [];
  const source = readFileSync(join(SOURCES, file), 'utf8');
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file), (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') {
      found.push({ file, text: node.value });
    }
    if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis)) {
      const text = node.quasis.map(({ value }) => value.cooked).join('…');
      found.push({ file, text });
    }
  });
  return found;
}

const MESSAGES = globSync('**/*.{ts,tsx}', { cwd: SOURCES })
  .sort()
  .filter((file) => !SILENT.test(file))
  .flatMap(textsIn);

const names = COMMANDS.map(({ name }) => name.split(' ')[0] ?? '');
/** A command where it stands, marked or not. */
const COMMAND = new RegExp(
  `\\bcallsheet (?:--|(?:help|state|get|queue|rollout|${names.join('|')})\\b)`,
);

/** A text that is a command and nothing else: it is marked where it is put into a sentence. */
const IS_COMMAND = /^callsheet (?:[a-z_-]+ ?){1,2}(?:(?:--[a-z-]+|[A-Z]+|…) ?)*$/;

test('no message names a command without marking it as one', () => {
  const bare = MESSAGES.filter(({ file, text }) => {
    const isLaidOut = LAID_OUT.has(file) || LAID_OUT.has(`${file}: ${text.trimEnd()}`);
    if (isLaidOut || IS_COMMAND.test(text)) return false;
    return splitCommands(text).some((one) => !one.isCommand && COMMAND.test(one.text));
  });
  expect(bare).toEqual([]);
});

const WIDTHS = Array.from({ length: 161 }, (_, at) => at + 40);

describe('every command of a message is whole at any width', () => {
  const telling = MESSAGES.map(({ text }) => text.replaceAll('…', FILLED)).filter(
    (text) => commandsIn(text).length > 0,
  );

  test('there are many', () => {
    expect(telling.length).toBeGreaterThan(120);
  });

  test.each(WIDTHS.filter((width) => width % 8 === 0))('%i columns', (width) => {
    for (const text of telling) {
      const shown = renderProse(text, { width, color: false, verbose: false });
      expect(typedCommands(shown)).toEqual(commandsIn(text.replaceAll(/^\s+/g, '')));
    }
  });
});

describe('every command of a plan is whole at any width', () => {
  test.each(Object.entries(documents))('%s', (_, plan) => {
    const wide = typedCommands(renderPlanText(plan, { width: 5000, color: false, verbose: true }));
    for (const width of WIDTHS.filter((one) => one % 8 === 0)) {
      const shown = renderPlanText(plan, { width, color: false, verbose: true });
      expect(typedCommands(shown)).toEqual(wide);
    }
    // A comment shows each as code.
    const page = renderPlanMarkdown(plan);
    for (const command of wide.filter((one) => !/[<>&'"*_]/.test(one))) {
      const [span, block] = [`<code>${command}</code>`, `\`\`\`\n${command}\n\`\`\``];
      if (page.includes(command)) expect(page.includes(span) || page.includes(block)).toBe(true);
    }
  });
});
