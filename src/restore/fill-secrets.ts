import type { Address } from '../core/address.ts';
import { formatPath, parsePath } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import { type JsonObject, Secret, type Value, type ValueObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Held } from './held.ts';
import { elementOf, withValueAt } from './paths.ts';
import { heldSecrets, type Need, needsOf } from './secrets.ts';
import type { Site } from './site.ts';

/** A document with the secrets that are at hand. */
type Filled = {
  readonly document: ValueObject;
  /** Secrets that nobody supplied. */
  readonly missing: readonly Need[];
  /** Paths of which nothing can be said without them. */
  readonly ignore: readonly string[];
};

/** Puts secrets into their places. What lacks its secret is left as it is, or is not made. */
export function fillSecrets(
  {
    held,
    address,
    own,
  }: { readonly held: Held; readonly address: Address; readonly own: JsonObject },
  document: ValueObject,
  site: Site,
): Filled {
  const { schema } = kindNamed(held.kind);
  const missing: Need[] = [];
  const ignore: string[] = [];
  let filled = document;
  for (const { path, source } of heldSecrets(held, address, own))
    filled = withText(schema, filled, path, new Secret(source));
  for (const need of needsOf(held, address, own)) {
    const given = need.paths.flatMap((path) => {
      const secret = site.secretAt(address, path);
      return secret === undefined ? [] : [[path, secret] as const];
    });
    for (const [path, secret] of given) filled = withText(schema, filled, path, secret);
    if (given.length > 0) continue;
    missing.push(need);
    for (const path of need.paths) {
      // An element of a list that lacks its value says nothing; one that is there already keeps it.
      const text = isThere(path, address, site) ? path : elementText(path);
      filled = withText(schema, filled, text, undefined);
      ignore.push(text);
    }
  }
  return { document: filled, missing, ignore };
}

function withText(
  schema: FieldSchema,
  document: ValueObject,
  text: string,
  value: Value | undefined,
): ValueObject {
  const path = parsePath(text);
  return path === undefined ? document : withValueAt(schema, document, path, value);
}

/** The element that a path ends in, or the path itself. */
function elementText(text: string): string {
  const element = elementOf(parsePath(text) ?? []);
  return element === undefined ? text : formatPath(element);
}

/** Whether the platform has the element that lacks its value here. */
function isThere(text: string, address: Address, { recorded, exists }: Site): boolean {
  const known = recorded(address);
  if (known === undefined) return exists(address);
  const element = elementText(text);
  return element !== text && Object.keys(known.leaves).some((path) => path.startsWith(element));
}
