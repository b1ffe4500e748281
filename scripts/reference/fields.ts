import type { FieldDocument, FieldMember } from '../../src/core/documents.ts';
import { kinds } from '../../src/kinds/index.ts';
import { listFacts } from '../../src/render/explain.ts';
import { explainField } from '../../src/stack/editor/explain-field.ts';
import { bullet, code, inline, paragraph, summary, table, toHeading } from './markdown.ts';

/** Stands for a key that is free, such as the name of a variable. */
const FREE = 'NAME';

/** The fields that one page documents. */
export type Scope = {
  /** `agent.`, which is left out of headings; nothing for the settings. */
  readonly prefix: string;
  /** The field that is documented in place of another that is the same. */
  readonly sameAs?: (name: string) => string | undefined;
};

/** Returns the document of a field. Throws if there is no field of that name. */
export function documented(name: string): FieldDocument {
  const found = explainField(name, kinds);
  if ('message' in found) throw new Error(`${found.message}; ${found.hint}`);
  return found;
}

/** A table of fields with the first sentence about each. */
export function fieldTable(members: readonly FieldMember[]): string {
  const rows = members.map(({ name, type, required, description }) => [
    toHeading(code(name), name),
    required ? `${type}, **required**` : type,
    summary(description),
  ]);
  return table(['field', 'type', 'what it is'], rows).join('\n');
}

/** A section for a field, and one for each field below it. */
export function fieldSections(name: string, level: number, scope: Scope): readonly string[] {
  const field = documented(name);
  const below = belowOf(field);
  const title = name.slice(scope.prefix.length);
  const own = [
    `${'#'.repeat(Math.min(level, 6))} ${code(title)}`,
    paragraph(field.description),
    [
      ...listFacts(field).map(([label, words]) => bullet(`**${label}** ${inline(words)}`)),
      ...membersLine(below, scope),
    ].join('\n'),
  ];
  const inner = below.filter((member) => scope.sameAs?.(member) === undefined);
  return [...own, ...inner.flatMap((member) => fieldSections(member, level + 1, scope))];
}

/** Names of the fields that stand in a field: its members, those of its elements, or any. */
function belowOf({ field, type, members }: FieldDocument): readonly string[] {
  const isList = type.startsWith('list of') || / or list of/.test(type);
  const named = members.filter(({ settable }) => settable);
  const at = isList ? `${field}[]` : field;
  if (named.length > 0) return named.map((member) => `${at}.${member.name}`);
  const any = `${at}.${FREE}`;
  const found = explainField(any, kinds);
  return 'message' in found ? [] : [any];
}

function membersLine(below: readonly string[], { prefix, sameAs }: Scope): readonly string[] {
  if (below.length === 0) return [];
  const links = below.map((name) => {
    const heading = (sameAs?.(name) ?? name).slice(prefix.length);
    return toHeading(code(name.split('.').at(-1) ?? name), heading);
  });
  return [bullet(`**members** ${links.join(', ')}`)];
}
