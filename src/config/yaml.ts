import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser } from 'yaml';
import type { Problem } from './problems.ts';
import { type Place, type Source, startOf } from './source.ts';
import type { Written } from './written.ts';
import { toWritten } from './yaml-nodes.ts';
import { syntaxMessage } from './yaml-words.ts';

/** How deep maps and lists may stand in each other. The platform's documents need about ten levels. */
const MAX_DEPTH = 100;
/** Syntax errors cascade: what follows the first few of a file is mostly their echo. */
const MAX_SYNTAX_ERRORS = 5;

type ParsedYaml = {
  /** Undefined where the file cannot be used. */
  readonly root: Written | undefined;
  readonly problems: readonly Problem[];
};

type Tokens = {
  readonly tokens: readonly CST.Token[];
  /** Offset where the nesting became too deep; reading stopped there. */
  readonly tooDeep?: number;
};

/** Reads tokens one lexeme at a time, so that a hostile nesting costs no more than its first levels. */
function readTokens(text: string): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The stack also holds the document and the scalar at hand.
    if (parser.stack.length > MAX_DEPTH + 2) return { tokens, tooDeep: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return { tokens };
}

function compose(tokens: readonly CST.Token[], length: number): Document.Parsed[] {
  // Repeated keys are looked for when the nodes are converted: `yaml` compares every pair of keys.
  const composer = new Composer<ParsedNode>({ uniqueKeys: false, version: '1.2' });
  return [...composer.compose(tokens, true, length)].filter(
    (document): document is Document.Parsed => 'contents' in document,
  );
}

function lineOf({ text }: Source, offset: number): string {
  const begin = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const end = text.indexOf('\n', begin);
  return text.slice(begin, end < 0 ? text.length : end);
}

function syntaxProblems(document: Document.Parsed, source: Source): Problem[] {
  const lines = new Set<number>();
  const problems: Problem[] = [];
  for (const error of [...document.errors, ...document.warnings]) {
    const start = Math.min(error.pos[0], source.text.length);
    // One problem per line: the second is nearly always the first seen from another side.
    const line = source.text.lastIndexOf('\n', Math.max(0, start - 1));
    if (lines.has(line)) continue;
    lines.add(line);
    const place: Place = { source, start, end: Math.max(start, error.pos[1]) };
    problems.push({ ...syntaxMessage(error.code, error.message, lineOf(source, start)), place });
  }
  return problems.slice(0, MAX_SYNTAX_ERRORS);
}

/** Parses one YAML 1.2 document and keeps the place of every node. */
export function parseYaml(source: Source): ParsedYaml {
  const { tokens, tooDeep } = readTokens(source.text);
  if (tooDeep !== undefined) {
    const place = { source, start: tooDeep, end: tooDeep };
    const message = `maps and lists stand more than ${MAX_DEPTH} levels deep in each other`;
    return { root: undefined, problems: [{ rule: 'yaml/depth', message, place }] };
  }
  const [document, second] = compose(tokens, source.text.length);
  if (document === undefined) return { root: undefined, problems: [] };
  const problems = syntaxProblems(document, source);
  if (document.errors.length > 0) return { root: undefined, problems };
  if (second !== undefined) {
    const start = second.range[0];
    problems.push({
      rule: 'yaml/documents',
      message: 'the file holds more than one YAML document',
      hint: 'Put each document into a file of its own',
      place: { source, start, end: start },
    });
    return { root: undefined, problems };
  }
  if (document.directives?.yaml.version !== '1.2') {
    problems.push({
      rule: 'yaml/version',
      message: 'the file asks for another version of YAML than 1.2',
      hint: 'Remove the %YAML line',
      place: startOf(source),
    });
    return { root: undefined, problems };
  }
  const converted = toWritten(document.contents, source);
  return { root: converted.root, problems: [...problems, ...converted.problems] };
}
