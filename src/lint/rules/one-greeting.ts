import type { DesiredResource } from '../../core/desired.ts';
import { isObject } from '../../core/value.ts';
import { proseOf } from '../prose.ts';
import type { LintFinding, LintRule } from '../rule.ts';

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
          message: `greets in ${NAMES[only]} alone, and ${howDeclared(resource)}`,
          hint: `Add a sentence in ${NAMES[other]}, or set language to the one that is spoken`,
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
