import { isResourceName } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { organizationTitles } from '../live/entitlements.ts';
import type { Client } from '../platform/client.ts';
import { isUuid } from '../stack/formats.ts';
import { nameOrganizations, type Organization, type Scopes } from './survey.ts';

export type ScopeFlags = {
  readonly organization?: readonly string[];
  readonly knowledgeBase?: readonly string[];
};

/** What is to be exported: what the flags say, and what organizations are called. */
export async function scopesFor(
  { organization, knowledgeBase = [] }: ScopeFlags,
  known: Readonly<Record<string, string>>,
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<Scopes> {
  const knowledgeBases = knowledgeBase.map((text) => namedId('--knowledge-base', text));
  const titles = new Map([
    ...(await organizationTitles(client, now)),
    ...Object.entries(known).map(([name, id]) => [id, name] as const),
  ]);
  const only = organization?.map((text) => organizationFor(text, titles));
  return { only, titles, knowledgeBases };
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
  if (isUuid(text)) return text;
  if (Object.hasOwn(known, text)) return known[text] as string;
  const { only = [] } = await scopesFor({ organization: [text] }, {}, client, now);
  return (only[0] as Organization).id;
}

function namedId(flag: string, text: string): Organization {
  const [name = '', id = ''] = text.split('=');
  if (isResourceName(name) && isUuid(id)) return { name, id };
  throw new CallsheetError('usage', `${flag} ${text} cannot be used`, {
    hint: `Write ${flag} NAME=ID: a name of letters, digits, _ and -, and the id that the dashboard shows.`,
  });
}

/** Names that a message lists. */
const MOST_NAMES = 12;

function namesAmong(titles: ReadonlyMap<string, string>): string {
  const names = [...titles.values()].sort();
  if (names.length === 0) return '';
  const rest = names.length > MOST_NAMES ? ', …' : '';
  return `It reaches ${names.slice(0, MOST_NAMES).join(', ')}${rest}. `;
}

/** An organization by `NAME=ID`, by its id or by its name. */
function organizationFor(text: string, titles: ReadonlyMap<string, string>): Organization {
  if (text.includes('=')) return namedId('--organization', text);
  const all = nameOrganizations([...titles.keys(), ...(isUuid(text) ? [text] : [])], titles);
  const found = all.filter(
    ({ id, name }) =>
      id === text || name === text || titles.get(id)?.toLowerCase() === text.toLowerCase(),
  );
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  const near = nearest(
    text,
    all.map(({ name }) => name),
  );
  const hint =
    others.length > 0
      ? `Give the id of the one that is meant: ${found.map(({ id }) => id).join(', ')}`
      : near === undefined
        ? `${namesAmong(titles)}Give a name or an id.`
        : `Did you mean ${near}? An id can be given as well.`;
  const message =
    others.length > 0
      ? `${found.length} organizations are called ${text}`
      : `there is no organization ${text} that the key reaches`;
  throw new CallsheetError('usage', message, { hint });
}
