/**
 * Commands that messages tell people to type. In a sentence a command stands between grave accents: `codeSpan` makes
 * that of a command, and `splitCommands` finds it again, so that every view keeps it whole and none has to guess where
 * it ends. Live text may hold such accents, too: at worst it is not broken over lines where it could be.
 */

/** The stack that a command is for, and what it is read with: flags that every command has. */
type Place = {
  readonly dir: string;
  readonly env?: string | undefined;
  readonly varFile?: readonly string[] | undefined;
  readonly allowEnv?: readonly string[] | undefined;
};

/**
 * A command as it is to be typed next, for the same stack and environment. The value of a `--var` is not in it: it may be
 * secret, and output is kept.
 */
export function commandLine(
  command: string,
  { dir, env, varFile = [], allowEnv = [] }: Place,
): string {
  const flags = [
    ...(dir === '.' ? [] : ['--dir', quoted(dir)]),
    ...(env === undefined ? [] : ['--env', quoted(env)]),
    ...varFile.flatMap((file) => ['--var-file', quoted(file)]),
    ...allowEnv.flatMap((name) => ['--allow-env', quoted(name)]),
  ];
  return ['callsheet', command, ...flags].join(' ');
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command for a sentence. */
export function codeSpan(command: string): string {
  return `\`${command}\``;
}

/** A command for the same stack and environment, as it stands in a sentence. */
export function commandSpan(command: string, at: Place): string {
  return codeSpan(commandLine(command, at));
}

/** Programs that messages tell people to run. */
const PROGRAMS = 'callsheet|git|npm|openssl';

/** A command begins behind a grave accent at the beginning of a word, with the variables that are set for it. */
const OPENING = new RegExp(
  `(?<![^\\s([])\`(?=(?:[A-Z_]+=(?:'[^']*'|[^\\s'\`])*[ ])*(?:${PROGRAMS})[ \`])`,
  'g',
);

/** A part of a text: a command without the accents around it, or what stands between commands. */
export type Passage = { readonly text: string; readonly isCommand: boolean };

/** The commands of a text, and what stands before, between and after them. Nothing is lost but the accents. */
export function splitCommands(text: string): readonly Passage[] {
  if (!text.includes('`')) return text === '' ? [] : [{ text, isCommand: false }];
  const passages: Passage[] = [];
  let from = 0;
  for (const { index } of text.matchAll(OPENING)) {
    if (index < from) continue;
    const end = closingAccent(text, index + 1);
    if (end === undefined) continue;
    if (index > from) passages.push({ text: text.slice(from, index), isCommand: false });
    passages.push({ text: text.slice(index + 1, end), isCommand: true });
    from = end + 1;
  }
  if (from < text.length) passages.push({ text: text.slice(from), isCommand: false });
  return passages;
}

/** The commands that a text tells people to type, in its order. */
export function commandsIn(text: string): readonly string[] {
  return splitCommands(text).flatMap((one) => (one.isCommand ? one.text : []));
}

/** Finds the end of a command as a shell reads it: an accent within quotes belongs to a word of it. */
function closingAccent(text: string, from: number): number | undefined {
  let isQuoted = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\n') return undefined;
    if (character === "'") isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '\\') at += 1;
    else if (character === '`') return at;
  }
  return undefined;
}
