import type { DesiredResource } from '../core/desired.ts';
import { editDistance, nearest } from '../core/nearest.ts';
import { isObject } from '../core/value.ts';
import type { LintFinding, LintRule, LintSubject, Origin, Span } from './prose.ts';
import { findAll, firstOfEach, type Prose, perText, proseOf, textKey } from './prose.ts';

export const growth: LintRule = {
  name: 'prompt/growth',
  severity: 'warning',
  description: 'A prompt is longer than the model should read at every turn of a call.',
  check: (subject) => {
    const { max_prompt_characters: most } = subject.settings;
    return proseOf(subject, ['instructions'])
      .filter(({ text }) => text.length > most)
      .map(({ resource, path, text }) => ({
        resource,
        path,
        message: `has ${text.length.toLocaleString('en')} characters; more than ${most.toLocaleString('en')} make every turn of a call slow`,
        hint: 'Move reference material into a knowledge base or a tool, or raise lint.max_prompt_characters',
      }));
  },
};

export const duplicated: LintRule = {
  name: 'prompt/duplicated',
  severity: 'warning',
  description: 'The same long prompt is written out for several agents at different places.',
  check: (subject) => {
    const { min_duplicate_characters: least } = subject.settings;
    const long = proseOf(subject, ['instructions']).filter(({ text }) => text.length >= least);
    const bare = perText((text) => textKey(text.trim()));
    const same = Map.groupBy(long, bare);
    return [...same.values()].flatMap((uses) => (uses.length < 2 ? [] : repeatsIn(uses, subject)));
  },
};

/** Every place after the first at which a text is written. */
function repeatsIn(uses: readonly Prose[], { originOf }: LintSubject): readonly LintFinding[] {
  const places = new Map<string, { readonly prose: Prose; readonly origin: Origin }>();
  for (const prose of uses) {
    const origin = originOf(prose.resource, prose.path);
    if (!places.has(origin.key)) places.set(origin.key, { prose, origin });
  }
  const [first, ...others] = places.values();
  if (first === undefined) return [];
  const { resource, path } = first.prose;
  return others.map(({ prose }) => ({
    resource: prose.resource,
    path: prose.path,
    message: `is word for word the ${path} of ${resource.address} (${first.origin.label})`,
    hint: 'Write it once: in a base that both take, or in one file that both name with $file',
  }));
}

type Language = 'en' | 'es';

const NAMES: Readonly<Record<Language, string>> = { en: 'English', es: 'Spanish' };

/** Words that greetings of a language hold and those of the other do not. */
const MARKS: Readonly<Record<Language, RegExp>> = {
  en: /(?<!\p{L})(?:hello|hi|thank(?:s| you)|you|your|how|help|the|this|calling|welcome|english)(?!\p{L})/iu,
  es: /[¿¡]|(?<!\p{L})(?:hola|gracias|buen[oa]s|usted|español|ayudar(?:le)?|bienvenid[oa]s?|llamar|para|soy|puedo)(?!\p{L})/iu,
};

const GREETINGS: readonly string[] = ['greeting_message', 'outbound_greeting_message'];

export const oneGreeting: LintRule = {
  name: 'prompt/one-greeting',
  severity: 'warning',
  description: 'An agent is declared to speak two languages and greets in one of them.',
  check: (subject) =>
    proseOf(subject, ['speech']).flatMap(({ resource, path, text }): readonly LintFinding[] => {
      if (!GREETINGS.includes(path)) return [];
      const declared = declaredBy(resource);
      const spoken = declared.filter((language) => MARKS[language].test(text));
      const [only] = spoken;
      // A greeting that is a name and nothing else is in any language.
      if (declared.length < 2 || only === undefined || spoken.length > 1) return [];
      const other: Language = only === 'en' ? 'es' : 'en';
      return [
        {
          resource,
          path,
          message: `greets in ${NAMES[only]} alone, but ${howDeclared(resource)}`,
          hint: `Add a sentence in ${NAMES[other]}, or set language to the language of the greeting`,
        },
      ];
    }),
};

/** The languages that an agent is to speak, of those that the platform has. */
function declaredBy({ document }: DesiredResource): readonly Language[] {
  const declared = [document.language, voiceLanguage(document)].flatMap((language) => {
    if (language === 'multi') return ['en', 'es'];
    return typeof language === 'string' ? [language.slice(0, 2)] : [];
  });
  return (['en', 'es'] as const).filter((language) => declared.includes(language));
}

function howDeclared({ document }: DesiredResource): string {
  if (document.language === 'multi') return 'language is multi';
  return `language is ${String(document.language)} with voice_settings.language ${String(voiceLanguage(document))}`;
}

function voiceLanguage({ voice_settings: voice }: DesiredResource['document']) {
  return isObject(voice) ? voice.language : undefined;
}

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
    'A prompt or template holds a {{token}} without a fallback that lint.tokens does not list; without a list, one that looks like a misspelling of another.',
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
