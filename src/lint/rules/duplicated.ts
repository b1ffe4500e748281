import { type Prose, perText, proseOf, textKey } from '../prose.ts';
import type { LintFinding, LintRule, LintSubject, Origin } from '../rule.ts';

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
