/** What a page has its reader do, one step after the other. */
export type Step = {
  /** Line of the page, from 1. */
  readonly line: number;
} & (
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  /** Lines of a file that are to be others; they occur in it once. */
  | { readonly type: 'change'; readonly path: string; readonly from: string; readonly to: string }
  /** A program that runs beside everything that follows. */
  | { readonly type: 'terminal'; readonly command: Command }
  | { readonly type: 'commands'; readonly commands: readonly Command[]; readonly exit: number }
);

export type Command = { readonly typed: string; readonly shown: readonly string[] };

const FENCE =
  /^(?:<!-- (?<says>[^\n]*?) -->\n)?```(?<language>console|diff|ya?ml|md|csv|json|sh)\n(?<body>[\s\S]*?)^```$/gm;

/**
 * Reads a page's steps. Fences of `console` are typed, one command after each `$ `, and what follows is what it
 * prints; a comment above says what else a fence is:
 *
 * | comment                  | the fence                                              |
 * |--------------------------|--------------------------------------------------------|
 * | `<!-- file: PATH -->`    | is the text of a file                                  |
 * | `<!-- change: PATH -->`  | is a `diff` of a few of its lines                      |
 * | `<!-- terminal -->`      | is typed in another terminal, and goes on              |
 * | `<!-- exit: N -->`       | has a last command that ends with N                    |
 * | `<!-- shown -->`         | is only to be read                                     |
 */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(FENCE)].flatMap(({ index, groups = {} }): Step[] => {
    const { says = '', language, body = '' } = groups;
    const line = page.slice(0, index).split('\n').length;
    const [word, rest = ''] = says.split(/: (.*)/s);
    if (word === 'shown') return [];
    if (word === 'file') return [{ line, type: 'file', path: rest, text: body }];
    if (word === 'change')
      return [{ line, type: 'change', path: rest, from: side(body, '-'), to: side(body, '+') }];
    if (language !== 'console') return [];
    const commands = commandsOf(body);
    const [first] = commands;
    if (word === 'terminal' && first !== undefined)
      return [{ line, type: 'terminal', command: first }];
    return [{ line, type: 'commands', commands, exit: word === 'exit' ? Number(rest) : 0 }];
  });
}

/** Whether a command goes on in the next line. */
function isOpen(typed: string): boolean {
  return typed.endsWith('\\') || typed.split("'").length % 2 === 0;
}

function side(diff: string, sign: '-' | '+'): string {
  const lines = diff.split('\n').filter((line) => line[0] === ' ' || line[0] === sign);
  return lines.map((line) => line.slice(1)).join('\n');
}

function commandsOf(body: string): readonly Command[] {
  const commands: { typed: string; shown: string[] }[] = [];
  for (const line of body.replace(/\n$/, '').split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ typed: line.slice(2), shown: [] });
    else if (last === undefined) throw new Error(`a fence begins with no command: ${line}`);
    else if (last.shown.length === 0 && isOpen(last.typed)) last.typed += `\n${line}`;
    else last.shown.push(line);
  }
  return commands;
}

/** What printed lines look like on the page: `…` stands for anything in a line, and alone for any lines. */
export function looksLike(printed: string, shown: readonly string[]): boolean {
  const lines = shown.map((line) =>
    line.trim() === '…'
      ? '(?:[^\\n]*\\n)*?'
      : `${line.trimEnd().split('…').map(escaped).join('[^\\n]*')}\\n`,
  );
  const text = printed
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  return new RegExp(`^\\n*${lines.join('')}\\n*$`).test(`${text}\n`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
