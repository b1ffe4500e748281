import { COMMANDS } from '../../src/cli/command-table.ts';
import { EXIT, EXIT_WORDS, type ExitName } from '../../src/core/errors.ts';
import { anchorOf, code, page, paragraph, sentence, table } from './markdown.ts';

const NAMES = Object.keys(EXIT) as readonly ExitName[];

/** What the section of an exit code is called. */
export function exitHeading(name: ExitName): string {
  return `${EXIT[name]} ${name}`;
}

/** The page of exit codes. */
export function exitsPage(): string {
  return page(
    '# Exit codes',
    paragraph(
      'They are the same for every command and every output format. A pipeline may rely on them.',
    ),
    table(
      ['exit', 'means'],
      NAMES.map((name) => [
        `[${EXIT[name]}](#${anchorOf(exitHeading(name))})`,
        EXIT_WORDS[name].means,
      ]),
    ).join('\n'),
    ...NAMES.flatMap((name) => [
      `## ${exitHeading(name)}`,
      sentence(EXIT_WORDS[name].means),
      paragraph(`**What to do** ${EXIT_WORDS[name].remedy}`),
      paragraph(`**Ends so** ${commandsWith(name)}`),
    ]),
  );
}

function commandsWith(name: ExitName): string {
  const those = COMMANDS.filter(({ exits }) => exits.includes(name));
  if (those.length === COMMANDS.length) return 'every command.';
  const links = those.map(
    (one) => `[${code(one.name)}](commands.md#${anchorOf(`callsheet ${one.name}`)})`,
  );
  return `${links.join(', ')}.`;
}
