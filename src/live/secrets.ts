import type { Address } from '../core/address.ts';
import { formatPath, identityText, isIdentity, type Path } from '../core/path.ts';
import {
  compareTexts,
  countEach,
  isList,
  isObject,
  Secret,
  type Value,
  type ValueObject,
  valuesIn,
} from '../core/value.ts';
import { toSlug } from './names.ts';

/**
 * Which places of a new stack read the same environment variable, and what it is called.
 *
 * | the platform       | one variable for                                                            |
 * |--------------------|-----------------------------------------------------------------------------|
 * | returns the value  | the same value to the same host, in the same header                          |
 * | does not return it | the same field for the same account at the same provider (`x-secret-of`)     |
 *
 * Values that are returned are compared by every plan, so one variable for different values would be a change.
 * A name begins with the kind: a short one that live texts make up must not be a credential of the environment.
 */

/** A field that is to read a secret from the environment. */
export type SecretPlace = {
  readonly address: Address;
  /** The resource's name within its organization, and that of the organization. */
  readonly own: string;
  readonly organization: string;
  readonly path: Path;
  /** The place to which the platform sends it. */
  readonly destination: string | undefined;
  /** The member that says that a secret is set which the platform does not return: an account, a user. */
  readonly beside: string | undefined;
  /** The value that the platform returned, if it does; never printed. */
  readonly value: string | undefined;
};

/** A place, and what stands there in the document until the variable has a name. */
export type HeldSecret = SecretPlace & { readonly secret: Secret };

/** A secret that an exported stack reads from the environment. */
export type SecretUse = {
  /** Name of the environment variable. */
  readonly name: string;
  readonly address: Address;
  /** Text of the path of the field. */
  readonly path: string;
  /** The value that the platform returned, if it does; never printed. */
  readonly value: string | undefined;
};

/** Names of variables by the source that stands in for them. */
type Names = ReadonlyMap<string, string>;

/** Gives places that read the same variable the same stand-in. */
export function openSecrets() {
  const known = new Map<string, Secret>();
  return {
    standIn(place: SecretPlace): Secret {
      const { path, destination, beside, value } = place;
      const names = namesIn(path);
      const key = JSON.stringify([
        destination,
        value === undefined ? [path, beside] : [names.at(-1)?.toLowerCase(), value],
        value === undefined,
      ]);
      const secret = known.get(key) ?? new Secret(`env:SECRET_${known.size + 1}`);
      known.set(key, secret);
      // A copy of its own, so that identity distinguishes a place from others that were left out.
      return new Secret(secret.source);
    },
  };
}

/** Those whose stand-in the document still has. */
export function secretsIn(
  document: ValueObject,
  held: readonly HeldSecret[],
): readonly HeldSecret[] {
  if (held.length === 0) return held;
  const used = new Set(valuesIn(document));
  return held.filter(({ secret }) => used.has(secret));
}

/** A document that reads the variables in the place of their stand-ins. */
export function withNames(document: ValueObject, names: Names): ValueObject {
  const named = (value: Value): Value => {
    if (value instanceof Secret) {
      const name = names.get(value.source);
      return name === undefined ? value : new Secret(`env:${name}`);
    }
    if (isList(value)) return value.map(named);
    return isObject(value) ? withNames(value, names) : value;
  };
  return Object.fromEntries(Object.entries(document).map(([key, value]) => [key, named(value)]));
}

/** The variables of all places, in the order of their names. */
export function secretUses(held: readonly HeldSecret[], names: Names): readonly SecretUse[] {
  return held
    .map(({ secret: { source }, address, path, value }) => ({
      name: names.get(source) ?? source,
      address,
      path: formatPath(path),
      value,
    }))
    .sort(
      (a, b) =>
        compareTexts(a.name, b.name) ||
        compareTexts(a.address, b.address) ||
        compareTexts(a.path, b.path),
    );
}

/** The length of the longest name. */
const MOST_CHARACTERS = 40;

/** The places of one variable, in an order that does not depend on how they came. */
type Group = {
  readonly source: string;
  readonly first: HeldSecret;
  readonly all: readonly HeldSecret[];
};

/**
 * Names the variables: `AGENT_SMS_AUTH_TOKEN` where there is one of its kind, `AGENT_HARBOR_SMS_AUTH_TOKEN` where an
 * organization has one, `AGENT_FRONT_DESK_SMS_AUTH_TOKEN` where an agent has; what is too long then is numbered.
 */
export function nameSecrets(
  held: readonly HeldSecret[],
  isTaken: (name: string) => boolean = () => false,
): Names {
  const groups = listGroups(held);
  const alike = Map.groupBy(groups, ({ first }) => chooseName(first));
  const candidates = new Map(
    [...alike.values()].flatMap((those) =>
      listNameCandidates(those).map(([group, names]) => [
        group,
        [...new Set(names)].filter((name) => name.length <= MOST_CHARACTERS && !isTaken(name)),
      ]),
    ),
  );
  const claims = countEach([...candidates.values()].flat());
  const next = new Map<string, number>();
  const numbered = ({ first }: Group): string => {
    const base = chooseName(first);
    for (let number = next.get(base) ?? 1; ; number += 1) {
      const name = chooseName(first, [], `_${number}`);
      if (claims.has(name) || isTaken(name)) continue;
      next.set(base, number + 1);
      claims.set(name, 1);
      return name;
    }
  };
  return new Map(
    groups.map((group) => {
      const own = candidates.get(group)?.find((name) => claims.get(name) === 1);
      return [group.source, own ?? numbered(group)];
    }),
  );
}

function listGroups(held: readonly HeldSecret[]): readonly Group[] {
  const formatKey = ({ address, path }: HeldSecret) => `${address} ${formatPath(path)}`;
  const sorted = held
    .map((one) => ({ one, key: formatKey(one) }))
    .sort((a, b) => compareTexts(a.key, b.key))
    .map(({ one }) => one);
  return [...Map.groupBy(sorted, ({ secret }) => secret.source)].flatMap(([source, all]) =>
    all[0] === undefined ? [] : [{ source, first: all[0], all }],
  );
}

/** Lists the names that each of several groups of the same name may get, the best first. */
function listNameCandidates(
  groups: readonly Group[],
): readonly (readonly [Group, readonly string[]])[] {
  const within = new Map(
    groups.map((group) => [group, [...new Set(group.all.map((one) => one.organization))]]),
  );
  const organizations = countEach([...within.values()].flat());
  return groups.map((group) => {
    const { first, all } = group;
    const [organization = '', ...others] = within.get(group) ?? [];
    const isOneOrganization = others.length === 0 && organizations.get(organization) === 1;
    const isOneResource = all.every(({ address }) => address === first.address);
    return [
      group,
      [
        ...(groups.length === 1 ? [chooseName(first)] : []),
        ...(isOneOrganization && organization !== '' ? [chooseName(first, [organization])] : []),
        ...(isOneResource
          ? [longName(first, [first.own]), longName(first, first.address.split('.').slice(1))]
          : []),
      ],
    ] as const;
  });
}

/** Members that say nothing to people: what holds a list, and the value of what was named already. */
const SILENT = new Set([
  'integrations',
  'extensions',
  'tools',
  'mcp_servers',
  'headers',
  'auth_headers',
  'value',
]);

/** Lists the names on the path to a field, as people call it: `crm_lookup`, `X-Api-Key`. */
function namesIn(path: Path): readonly string[] {
  return path
    .filter((segment) => !SILENT.has(segment))
    .map((segment) => (isIdentity(segment) ? identityText(segment) : segment));
}

/** `AGENT_CRM_LOOKUP_API_KEY`, cut to the longest that a name may be. */
function chooseName(place: SecretPlace, before: readonly string[] = [], ending = ''): string {
  const most = MOST_CHARACTERS - ending.length;
  const parts = listWordings(place, before);
  while (joinWords(parts).length > most) {
    const longest = parts.reduce((a, b) => (b.join('').length >= a.join('').length ? b : a));
    if (longest.length > 1) longest.pop();
    else longest[0] = longest[0]?.slice(0, most - joinWords(parts).length) ?? '';
  }
  return `${joinWords(parts)}${ending}`;
}

/** The same at its full length. */
function longName(place: SecretPlace, before: readonly string[]): string {
  return joinWords(listWordings(place, before));
}

/** The words of each part. */
function listWordings({ address, path }: SecretPlace, before: readonly string[]): string[][] {
  const [kind = ''] = address.split('.');
  const fields = namesIn(path).map((name) => {
    const words = toSlug(name).split('_');
    // `X-Api-Key` is an API key, and `smsProvider` the one for SMS.
    const telling = words.filter(
      (word, index) => word !== 'provider' && (word !== 'x' || index > 0),
    );
    return telling.length === 0 ? words : telling;
  });
  const parts = [...before.map((name) => toSlug(name).split('_')), ...fields].filter(
    (words) => words.join('') !== '',
  );
  return [[kind], ...(parts.length === 0 ? [['secret']] : parts)];
}

function joinWords(parts: readonly (readonly string[])[]): string {
  return parts.flat().join('_').toUpperCase();
}
