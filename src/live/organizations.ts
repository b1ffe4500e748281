import { isResourceName } from '../core/address.ts';
import { CallsheetError, formatFirst } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { compareTexts, isUuid, plainId } from '../core/value.ts';
import type { Client } from '../platform/client.ts';
import { organizationTitles } from './entitlements.ts';
import { nameAll } from './names.ts';

/** An organization with the name that the stack gives it. */
export type Organization = { readonly id: string; readonly name: string };

/** Names organizations after what people call them, in the order of their names. */
export function nameOrganizations(
  ids: readonly string[],
  titles: ReadonlyMap<string, string>,
): readonly Organization[] {
  const all = [...new Set(ids)].sort();
  const things = all.map((id) => ({ id, display: titles.get(id) ?? '', createdAt: '' }));
  const names = nameAll(things, 'organization');
  return all
    .map((id) => ({ id, name: names.get(id) ?? id }))
    .sort((a, b) => compareTexts(a.name, b.name));
}

/**
 * The id of an organization that is given by its id, by the name that the stack has for it, or by its name on the
 * platform.
 */
export async function organizationNamed(
  text: string,
  known: Readonly<Record<string, string>>,
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<string> {
  if (isUuid(text)) return plainId(text);
  if (Object.hasOwn(known, text)) return known[text] as string;
  return organizationFor(text, await organizationTitles(client, now)).id;
}

/** An id by a name of its own: `NAME=ID`. */
export function namedId(flag: string, text: string): Organization {
  const [name = '', id = ''] = text.split('=');
  if (isResourceName(name) && isUuid(id)) return { name, id: plainId(id) };
  throw new CallsheetError('usage', `${flag} ${text} cannot be used`, {
    hint: `Write ${flag} NAME=ID: a name of letters, digits, _ and -, and the id that the dashboard shows.`,
  });
}

/** Names that a message lists. */
const MOST_NAMES = 12;

function namesAmong(titles: ReadonlyMap<string, string>): string {
  const names = [...titles.values()].sort();
  return names.length === 0 ? '' : `It reaches ${formatFirst(names, MOST_NAMES)}. `;
}

/** An organization by `NAME=ID`, by its id or by its name. */
export function organizationFor(text: string, titles: ReadonlyMap<string, string>): Organization {
  if (text.includes('=')) return namedId('--organization', text);
  const all = nameOrganizations(
    [...titles.keys(), ...(isUuid(text) ? [plainId(text)] : [])],
    titles,
  );
  const found = all.filter(
    ({ id, name }) =>
      plainId(id) === plainId(text) ||
      name === text ||
      titles.get(id)?.toLowerCase() === text.toLowerCase(),
  );
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  const names = all.map(({ name }) => name);
  const hint =
    others.length > 0
      ? `Give the id of the one that is meant: ${found.map(({ id }) => id).join(', ')}`
      : `${didYouMean(text, names, `${namesAmong(titles)}Give a name.`)} An id can be given as well.`;
  const message =
    others.length > 0
      ? `${found.length} organizations are called ${text}`
      : `there is no organization ${text} that the key reaches`;
  throw new CallsheetError('usage', message, { hint });
}
