import { nearest } from '../../config/nearest.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { kindTitle } from '../../render/wording.ts';

/**
 * A kind by any name that it goes by: `agent`, `agents`, `retry-policies`, `voices`. Throws
 * `CallsheetError('usage')` where there is none.
 */
export function kindCalled(given: string): Kind {
  const wanted = given.toLowerCase().replaceAll('-', '_');
  const named = kinds.find((kind) => namesOf(kind).includes(wanted));
  if (named !== undefined) return named;
  // The last word is enough where it is one kind's alone: `voices`, but not `templates`.
  const [ending, ...others] = kinds.filter((kind) =>
    namesOf(kind).some((name) => name.endsWith(`_${wanted}`)),
  );
  if (ending !== undefined && others.length === 0) return ending;
  const near = nearest(wanted, kinds.flatMap(namesOf));
  const meant = near === undefined ? '' : `Did you mean ${near}? `;
  throw new CallsheetError('usage', `there is no kind ${JSON.stringify(given)}`, {
    hint: `${meant}The kinds: ${kinds.map(pluralOf).join(', ')}.`,
  });
}

function namesOf(kind: Kind): readonly string[] {
  return [kind.name, kind.section, pluralOf(kind)];
}

/** `knowledge_sources` of `knowledge_source`. */
function pluralOf({ name }: Kind): string {
  return kindTitle(name).replaceAll(' ', '_');
}
