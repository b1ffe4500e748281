import { editDistance, nearest } from '../../core/nearest.ts';
import { findAll, firstOfEach } from '../mentions.ts';
import { type Prose, perText, proseOf } from '../prose.ts';
import type { LintFinding, LintRule, Span } from '../rule.ts';

/** A token without a fallback: `{{name}}`. */
const BARE = [/\{\{\s*(?<name>[A-Za-z_][\w.-]*)\s*\}\}/dg];
/** Any token. */
const TOKENS = [/\{\{\s*(?<name>[A-Za-z_][\w.-]*)\s*(?:\|[^{}\n]*)?\}\}/dg];

/** Call placeholders that the specification names (MCP connection, `pre_answer_calls`). */
const DOCUMENTED: readonly string[] = ['caller_id'];

export const unsuppliedToken: LintRule = {
  name: 'prompt/unsupplied-token',
  severity: 'warning',
  description:
    'A prompt or template holds a {{token}} without a fallback that lint.tokens does not list; without a list, one that is a slip of another.',
  check: (subject) => {
    const { tokens } = subject.settings;
    const prose = proseOf(subject, ['instructions', 'speech', 'message']);
    const uses = usesIn(prose, BARE);
    const known = [...DOCUMENTED, ...(tokens ?? commonIn(prose))];
    const isSupplied = supplierOf(known);
    // One word from the team settles a token everywhere, so each is told once.
    return [...uses].flatMap(([name, all]): readonly LintFinding[] => {
      if (isSupplied(name)) return [];
      const [first] = all;
      const slip = known.find((token) => isSlip(name, token));
      if (first === undefined || (tokens === undefined && slip === undefined)) return [];
      const also = tokens === undefined ? '' : others(all.length - 1);
      return [
        {
          resource: first.prose.resource,
          path: first.prose.path,
          span: first.span,
          message: `holds {{${name}}}, which ${tokens === undefined ? 'nothing else uses' : `lint.tokens does not list${also}`}`,
          hint: hintFor(name, slip ?? (tokens && nearest(name, known))),
        },
      ];
    });
  },
};

type Use = { readonly prose: Prose; readonly span: Span };

/** Where tokens stand, by name: the first place of each text. */
function usesIn(
  prose: readonly Prose[],
  patterns: readonly RegExp[],
): ReadonlyMap<string, readonly Use[]> {
  const read = perText((text) => (text.includes('{{') ? firstOfEach(findAll(text, patterns)) : []));
  const found = prose.flatMap((one) =>
    read(one).map(({ name, span }) => ({ name, prose: one, span })),
  );
  return Map.groupBy(found, ({ name }) => name);
}

/** Tokens that several texts use: the specification lists none, so use is what tells. */
function commonIn(prose: readonly Prose[]): readonly string[] {
  return [...usesIn(prose, TOKENS)].flatMap(([name, { length }]) => (length > 1 ? [name] : []));
}

/** `contact.*` stands for all that begin so. */
function supplierOf(tokens: readonly string[]) {
  const exact = new Set(tokens);
  const beginnings = tokens.flatMap((token) => (token.endsWith('*') ? [token.slice(0, -1)] : []));
  return (name: string): boolean =>
    exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/** One letter too many, too few, another or swapped: `last_name` is no slip of `first_name`, nor `line_2` of `line_1`. */
function isSlip(name: string, token: string): boolean {
  const withoutDigits = (text: string) => text.replace(/\d/g, '');
  return (
    name.length > 4 &&
    Math.abs(name.length - token.length) <= 1 &&
    editDistance(name, token) === 1 &&
    withoutDigits(name) !== withoutDigits(token)
  );
}

function others(count: number): string {
  if (count === 0) return '';
  return count === 1 ? '; 1 other text holds it too' : `; ${count} other texts hold it too`;
}

function hintFor(name: string, close: string | undefined): string {
  const add = `Name it in lint.tokens if it is supplied, or write {{${name}|fallback}}`;
  return close === undefined ? add : `Did you mean {{${close}}}? ${add}`;
}
