import type { ErrorCode } from 'yaml';
import type { Problem } from './problems.ts';

type Words = Pick<Problem, 'rule' | 'message' | 'hint' | 'severity'>;

/**
 * What the parser's codes mean to a person. The parser's own texts can quote the file, and with it a
 * secret, so they are only used where they cannot.
 */
const WORDS: Readonly<Partial<Record<ErrorCode, Omit<Words, 'rule'>>>> = {
  BAD_ALIAS: { message: 'an anchor or alias has no usable name' },
  ALIAS_PROPS: { message: 'an alias can have no anchor or tag of its own' },
  BAD_DQ_ESCAPE: {
    message: 'a text in double quotes has an escape that YAML does not know',
    hint: 'Use single quotes, or write the backslash twice',
  },
  BAD_SCALAR_START: {
    message: 'a text begins with a character that YAML reserves',
    hint: 'Put the text in quotes',
  },
  BAD_DIRECTIVE: { message: 'a line that begins with % is not a directive that YAML knows' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second `key: value` stands on a line that already has one',
    hint: 'Put the text in quotes, or start a new line',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key runs over several lines',
    hint: 'Check that the line before has its colon and that the indentation is right',
  },
  TAB_AS_INDENT: {
    message: 'a tab is used as indentation',
    hint: 'Indent with spaces',
  },
  KEY_OVER_1024_CHARS: { message: 'a key has more than 1024 characters' },
  RESOURCE_EXHAUSTION: { message: 'the nesting is too deep' },
};

function wordsFor(code: ErrorCode, raw: string): Omit<Words, 'rule'> {
  if (code === 'UNEXPECTED_TOKEN') {
    return {
      message: 'there is something here that YAML does not expect',
      hint: 'Check quotes, brackets and indentation',
    };
  }
  if (raw.startsWith('Missing closing')) {
    return { message: 'a quoted text has no closing quote' };
  }
  if (/^Flow (?:map|sequence) in block/.test(raw)) {
    return { message: 'a { or [ is not closed, or what it holds is not indented' };
  }
  if (raw.startsWith('Implicit map keys need')) {
    return { message: 'a line holds neither `key: value` nor a list item' };
  }
  const known = WORDS[code];
  if (known !== undefined) return known;
  return { message: raw.charAt(0).toLowerCase() + raw.slice(1) };
}

/** `greeting: {{name}} …`, which YAML reads as a map in a map. */
const TOKEN_FIRST = /(?:[:-][ \t]+|^[ \t]*)\{\{/;
const TOKEN_HINT = 'A text that begins with {{ needs quotes around all of it';

/** The rule and the words for an error of the YAML parser in a line. */
export function syntaxMessage(code: ErrorCode, raw: string, line: string): Words {
  if (code === 'TAG_RESOLVE_FAILED' || code === 'BAD_COLLECTION_TYPE') {
    return {
      rule: 'yaml/tag',
      message: 'YAML tags are not supported',
      hint: 'Value forms are objects with one $ key, such as { $file: prompts/name.md }',
    };
  }
  const hint = TOKEN_FIRST.test(line) ? { hint: TOKEN_HINT } : {};
  return { rule: 'yaml/syntax', ...wordsFor(code, raw), ...hint };
}
