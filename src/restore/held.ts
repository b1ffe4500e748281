/**
 * `restore/` turns what a snapshot holds into a desired side for an account that may be another one: names
 * for resources that had none, ids that follow what is made anew, secrets and files in their places, and a
 * list of what cannot come back. What becomes of it goes through the ordinary diff, plan and apply. It is pure.
 *
 * This file: a resource of a snapshot with what restoring needs to know of it.
 */
import type { Address } from '../core/address.ts';
import { ownOf } from '../core/own.ts';
import type { JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import type { ResourceRecord } from '../snapshot/format.ts';
import { documentOf } from '../snapshot/read-resource.ts';
import { isConcealed } from '../state/model.ts';

export type Held = {
  readonly kind: string;
  readonly id: string;
  readonly scope: Scope;
  /** In the shape of the configuration, without what no schema knows. */
  readonly document: JsonObject;
  /** Paths of sensitive values that the snapshot leaves out. */
  readonly withheld: readonly string[];
  /** Top-level fields that this version does not know how to write. */
  readonly unknown: readonly string[];
  /** Its address in the stack that the snapshot was made in. */
  readonly address: Address | null;
  /** Paths of secrets that were written to it; undefined where nobody kept a record. */
  readonly secrets: readonly string[] | undefined;
  /** `sha256:…` of the files that it was made of, by path, as far as a state knew them. */
  readonly files: { readonly [path: string]: string };
  readonly protect: boolean;
  /** Whether all of it could be read; otherwise what its list shows is known. */
  readonly isWhole: boolean;
};

export function heldFrom(record: ResourceRecord): Held {
  const { kind, id, scope, withheld, address, state, extent } = record;
  const { properties } = kindNamed(kind).schema;
  const all = Object.entries(documentOf(record));
  const known = all.filter(([field]) => ownOf(properties, field) !== undefined);
  const leaves = Object.entries(state?.leaves ?? {});
  return {
    kind,
    id,
    scope,
    document: Object.fromEntries(known),
    withheld,
    unknown: all.map(([field]) => field).filter((field) => ownOf(properties, field) === undefined),
    address,
    secrets:
      state === null
        ? undefined
        : leaves.filter(([, leaf]) => isConcealed(leaf)).map(([path]) => path),
    files: Object.fromEntries(
      leaves.flatMap(([path, leaf]) =>
        'digest' in leaf && ownOf(properties, path)?.['x-file'] !== undefined
          ? [[path, leaf.digest]]
          : [],
      ),
    ),
    protect: state?.protect ?? false,
    isWhole: extent === 'whole',
  };
}

/** What people call it: its name, its page, or its id. */
export function nameOf({ document, id }: Pick<Held, 'document' | 'id'>): string {
  const { name, url } = document;
  if (typeof name === 'string' && name !== '') return name;
  return typeof url === 'string' && url !== '' ? url : id;
}
