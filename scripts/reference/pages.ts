import { kinds } from '../../src/kinds/index.ts';
import { commandsPage } from './commands.ts';
import { documentsPage } from './documents.ts';
import { exitsPage } from './exits.ts';
import { kindPage } from './kinds.ts';
import { limitsPage } from './limits.ts';
import { code, page, paragraph, summary, table } from './markdown.ts';
import { rulesPage } from './rules.ts';
import { settingsPage } from './settings.ts';

/** Pages of the reference that people write, with what they hold. */
export const WRITTEN_PAGES: readonly (readonly [path: string, title: string, holds: string])[] = [
  ['reading.md', 'Commands that read', 'what `get`, `history` and `metrics` print'],
  ['assumptions.md', 'Assumptions', 'what is taken for granted where the specification is silent'],
  ['simulator.md', 'The simulator', 'its seeds, dialects, faults and admin endpoint'],
  ['trust.md', 'Who can write what', 'state, receipts, queue and keys, and what each could do'],
  ['library.md', 'The library', 'Callsheet in a program'],
  [
    'monitoring.md',
    'Monitoring',
    'metrics, alerts and logs of `watch` and of workers; notifications and traces of commands',
  ],
];

/** Every page of the reference that is made, by its path in `docs/reference/`. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', indexPage()],
    ['settings.md', settingsPage()],
    ['commands.md', commandsPage()],
    ['documents.md', documentsPage()],
    ['exit-codes.md', exitsPage()],
    ['rules.md', rulesPage()],
    ['limits.md', limitsPage()],
    ...kinds.map((kind) => [`kinds/${kind.name}.md`, kindPage(kind)] as const),
  ]);
}

function indexPage(): string {
  return page(
    '# Reference',
    paragraph(
      'Everything that can be written, typed and answered. Most of it is made from the schemas, the command table and the rules that the program itself uses.',
    ),
    table(
      ['page', 'holds'],
      [
        ['[Settings](settings.md)', '`callsheet.yaml`, and the sections that every file may have'],
        ['[Commands](commands.md)', 'every command: arguments, flags, examples, exit codes'],
        ['[JSON documents](documents.md)', 'what `--format json` prints, with the schemas'],
        ['[Exit codes](exit-codes.md)', 'what each means, and what to do'],
        ['[Rules](rules.md)', 'what `validate` reports, and what to do'],
        ['[Limits](limits.md)', 'the limits of each field, and what they rest on'],
        ...WRITTEN_PAGES.map(([path, title, holds]) => [`[${title}](${path})`, holds]),
      ],
    ).join('\n'),
    '## Kinds',
    table(
      ['kind', 'written under', 'what it is'],
      // Kinds that refer to others come first here.
      kinds
        .toReversed()
        .map(({ name, section, nested, schema }) => [
          `[${code(name)}](kinds/${name}.md)`,
          code(nested === undefined ? section : `${section}.*.${nested.key}`),
          summary(schema.description ?? ''),
        ]),
    ).join('\n'),
  );
}
