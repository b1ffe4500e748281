/**
 * `diff/` compares documents. It brings both sides to one canonical form, takes them apart into leaves,
 * and says of each owned leaf whether the configuration, the platform or both moved since Callsheet
 * last wrote it. It is pure, and it is the only user of `deep-diff`.
 *
 * This file: a document's leaves in canonical form. Read-only fields are dropped; null and absent are
 * alike; a list keyed by identity becomes its elements' leaves; a set is sorted; an object that the
 * schema marks as whole, and any other list, is one leaf. Below them: the world that a comparison is
 * given, and what a leaf stands for in it.
 */

import type { Address } from '../core/address.ts';
import { writeAddress } from '../core/alike.ts';
import { elementSegments, extendPath, type Path } from '../core/path.ts';
import { elementSecrecy, memberSecrecy, OPEN, type Secrecy, sensitivity } from '../core/redact.ts';
import { dereference, type FieldSchema } from '../core/schema.ts';
import {
  Blob,
  getOwn,
  isList,
  isObject,
  type Json,
  type JsonObject,
  LinkedText,
  plainId,
  Ref,
  refsIn,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { elementNode, type FieldNode, memberNode, rootNode } from '../core/walk.ts';
import type { AppliedLeaf } from '../state/model.ts';

/** The facts about a field that follow from its place. */
type Facts = {
  readonly secrecy: Secrecy;
  /** The platform never returns it: only fingerprints can be compared. */
  readonly unreadable: boolean;
};

export type Leaf = {
  readonly path: Path;
  /** `path` as text. */
  readonly text: string;
  readonly value: Value;
  readonly schema: FieldSchema;
  readonly node: FieldNode;
  readonly facts: Facts;
};

/** A list keyed by identity, and the segments of the elements that it has. */
type KeyedList = {
  readonly path: Path;
  readonly elements: ReadonlyMap<string, Value>;
  /** Schema of the elements. */
  readonly items: FieldSchema;
};

export type Leaves = {
  readonly leaves: ReadonlyMap<string, Leaf>;
  readonly lists: ReadonlyMap<string, KeyedList>;
};

const NO_FACTS: Facts = { secrecy: OPEN, unreadable: false };

/** The path to a value, linked from its end, so that a step takes no copy of what stands above. */
type LinkedPath = { readonly above: LinkedPath | undefined; readonly segment: string };

/** Called for the parts of a document, in its order. */
type Visitor = {
  /** True if fields that belong to the platform or never leave the configuration are visited, too. */
  readonly everything?: boolean;
  readonly leaf: (
    text: string,
    value: Value,
    node: FieldNode,
    linkedPath: LinkedPath,
    facts: Facts,
  ) => void;
  readonly list?: (
    text: string,
    elements: ReadonlyMap<string, Value>,
    items: FieldSchema,
    linkedPath: LinkedPath,
    node: FieldNode,
  ) => void;
};

/** Takes a document apart. An explicit null is a leaf of its own; callers that read live data skip it. */
export function listLeaves(root: FieldSchema, document: { readonly [key: string]: Value }): Leaves {
  const leaves = new Map<string, Leaf>();
  const lists = new Map<string, KeyedList>();
  walkLeaves(root, document, {
    leaf(text, value, node, linkedPath, facts) {
      const { schema } = node;
      leaves.set(text, { path: pathTo(linkedPath), text, value, schema, node, facts });
    },
    list(text, elements, items, linkedPath) {
      lists.set(text, { path: pathTo(linkedPath), elements, items });
    },
  });
  return { leaves, lists };
}

/** The path of a visited value. */
export function pathTo(linkedPath: LinkedPath): Path {
  const path: string[] = [];
  for (let at: LinkedPath | undefined = linkedPath; at !== undefined; at = at.above)
    path.push(at.segment);
  return path.reverse();
}

/** Goes through a document, leaf by leaf. */
export function walkLeaves(
  root: FieldSchema,
  document: { readonly [key: string]: Value },
  visitor: Visitor,
): void {
  function visit(
    node: FieldNode,
    value: Value,
    linkedPath: LinkedPath,
    text: string,
    above: Facts,
    secrecy: Secrecy,
  ): void {
    if (node.isLeftOut && visitor.everything !== true) return;
    const facts = factsAt(node, above, secrecy, value);
    if (node.identity !== undefined && isList(value)) {
      visitList(node, node.identity, value, linkedPath, text, facts);
    } else if (!node.isWhole && isObject(value)) {
      const keys = Object.keys(value);
      if (keys.length === 0) visitor.leaf(text, value, node, linkedPath, facts);
      for (const key of keys) visitMember(node, key, value, linkedPath, text, facts);
    } else {
      visitor.leaf(text, value, node, linkedPath, facts);
    }
  }

  function visitMember(
    node: FieldNode,
    key: string,
    object: { readonly [key: string]: Value },
    above: LinkedPath | undefined,
    textAbove: string,
    facts: Facts,
  ): void {
    const member = object[key];
    if (member === undefined) return;
    const { node: below, text } = memberNode(node, key, textAbove);
    const secrecy = memberSecrecy(facts.secrecy, below, key, object);
    visit(below, member, { above, segment: key }, text, facts, secrecy);
  }

  function visitList(
    node: FieldNode,
    identity: string,
    list: readonly Value[],
    linkedPath: LinkedPath,
    text: string,
    facts: Facts,
  ): void {
    const elements = new Map<string, Value>();
    const items = elementNode(node);
    const secrecy = elementSecrecy(items, facts.secrecy);
    const segments = elementSegments(identity, list);
    for (const [index, element] of list.entries()) {
      const segment = segments[index] ?? '';
      elements.set(segment, element);
      const at = extendPath(text, segment);
      visit(items, element, { above: linkedPath, segment }, at, facts, secrecy);
    }
    visitor.list?.(text, elements, items.schema, linkedPath, node);
  }

  const top = rootNode(root);
  for (const key of Object.keys(document)) visitMember(top, key, document, undefined, '', NO_FACTS);
}

function factsAt(node: FieldNode, above: Facts, secrecy: Secrecy, value: Value): Facts {
  const unreadable =
    above.unreadable ||
    node.writeOnly ||
    value instanceof Blob ||
    (secrecy.inside && value instanceof Secret);
  // Nearly every value has the same facts as the object that it is in.
  const isSame = secrecy === above.secrecy && unreadable === above.unreadable;
  return isSame ? above : { secrecy, unreadable };
}

/** How secret a value is where a leaf stands: its own, unless another one is given. */
export function leafSensitivity({ node, facts, value }: Leaf, other: Value | undefined = value) {
  return sensitivity({ node, secrecy: facts.secrecy }, other);
}

/**
 * A leaf's value in the form that is compared: null for whatever reads as absent, sets sorted, ids in small
 * letters, an address that identifies its resource as a URL is written, and block text without its final newline. Special values must have been replaced before.
 */
export function normalise(schema: FieldSchema, value: Value | undefined): Json {
  if (value === undefined || value === null || isSpecial(value)) return null;
  if (typeof value === 'string') {
    const echoes = schema['x-echoes'];
    if (echoes !== undefined && !echoes.includes(value)) return null;
    if (schema.format === 'uuid') return plainId(value);
    if (schema['x-address'] === true) return writeAddress(value);
    return value.endsWith('\n') ? value.slice(0, -1) : value;
  }
  if (isList(value)) {
    if (value.length === 0) return null;
    const items = value.map(toPlain);
    return schema['x-set'] ? [...new Set(items.map(String))].sort() : items;
  }
  if (!isObject(value)) return value;
  const members = withoutNulls(value);
  return Object.keys(members).length === 0 ? null : members;
}

/** Tells whether a leaf reads as absent. References, secrets and files do not. */
export function isEmptyLeaf({ schema, value }: Pick<Leaf, 'schema' | 'value'>): boolean {
  return !isSpecial(value) && normalise(schema, value) === null;
}

function toPlain(value: Value): Json {
  if (isSpecial(value)) return null;
  if (isList(value)) return value.map(toPlain);
  return isObject(value) ? withoutNulls(value) : value;
}

function withoutNulls(value: ValueObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([key, member]) => [key, toPlain(member)]),
  );
}

export function isSpecial(value: Value): value is Ref | LinkedText | Secret | Blob {
  return (
    value instanceof Ref ||
    value instanceof LinkedText ||
    value instanceof Secret ||
    value instanceof Blob
  );
}

/** The leaves of a live document by path, normalised, absent ones left out. Its digest is the pin's. */
export function liveForm(root: FieldSchema, document: JsonObject): ReadonlyMap<string, Json> {
  const form = new Map<string, Json>();
  walkLeaves(root, document, {
    leaf(text, given, node) {
      const value = normalise(node.schema, given);
      if (value !== null) form.set(text, value);
    },
  });
  return form;
}

/** Paths of the leaves whose value is wanted. Nothing is made of the others. */
export function leafTexts(
  root: FieldSchema,
  document: { readonly [key: string]: Value },
  isWanted: (value: Value) => boolean,
): readonly string[] {
  const texts: string[] = [];
  walkLeaves(root, document, {
    leaf(text, value) {
      if (isWanted(value)) texts.push(text);
    },
  });
  return texts;
}

/** The facts' schema of a whole field, for those that only have its name. */
export function fieldSchema(root: FieldSchema, field: string): FieldSchema {
  const schema = getOwn(root.properties, field);
  return schema === undefined ? {} : dereference(root, schema);
}

/** The knowledge that a comparison needs beside the documents. All of it is passed in: nothing is looked up. */
export type World = {
  /** The id of a resource, or undefined while it does not exist. */
  readonly findId: (address: Address) => string | undefined;
  /** The value behind the `$secret` that stands at a path; undefined where it is not at hand, or not to be written. */
  readonly findSecret: (source: string, path: string) => string | undefined;
  readonly fingerprints: Fingerprints;
  /**
   * Digests of files that were sent to a resource before its address let go of it, by path: the platform returns none, so
   * nothing else tells what it has.
   */
  readonly findContent?: (kind: string, id: string) => Readonly<Record<string, string>> | undefined;
};

/** Keyed fingerprints of values that must not be stored. See `state/fingerprint.ts`. */
type Fingerprints = {
  readonly of: (address: Address, path: string, value: Json) => string;
  /** `unknown` where the fingerprint was made with another key or method. */
  readonly matches: (
    fingerprint: string,
    address: Address,
    path: string,
    value: Json,
  ) => 'equal' | 'different' | 'unknown';
  /** True for one that was made before there was a key. */
  readonly isFormer: (fingerprint: string) => boolean;
};

/** Where nothing is known of what was written once, and nothing is remembered. */
export const NO_FINGERPRINTS: Fingerprints = {
  of: () => '',
  matches: () => 'unknown',
  isFormer: () => false,
};

/** One resource's three sides and what was asked for. */
export type Sides = {
  readonly address: Address;
  /** Leaves as last written; undefined where there is no state. */
  readonly applied: Readonly<Record<string, AppliedLeaf>> | undefined;
  /** Digests of files that were sent to it before it was let go of, where `applied` does not tell (`World.findContent`). */
  readonly sent?: Readonly<Record<string, string>> | undefined;
  /** Values as last written, by path, of which `applied` has a digest alone. */
  readonly bases?: ReadonlyMap<string, Json> | undefined;
  readonly ignore: readonly Path[];
  /** True if leaves that are no longer desired are left as they are. */
  readonly isPartial: boolean;
  /** True if all live values beside the desired ones are to go. */
  readonly isExact?: boolean;
  /** Edits stay if their configuration did not change since the last apply (`guards.drift: keep`). */
  readonly keepsEdits?: boolean;
  /** True if secrets are written even if nothing says that they changed. */
  readonly resend: boolean;
  /**
   * True if the resource took the place of one that is gone, which had the secrets: they were not written to this one.
   */
  readonly isSuccessor?: boolean;
  /** True if it only has the name of what a rollback puts back: nothing tells what its file is. */
  readonly isOther?: boolean;
  /** True if a write is checked against the live values: the source of a secret is no difference then. */
  readonly isProof?: boolean;
};

/** An id that is known only once the resource exists. */
export class Unknown {
  readonly address: string;
  constructor(address: string) {
    this.address = address;
  }
}

/**
 * The value that a leaf stands for: ids and secrets looked up, a file by the digest of its bytes.
 * `Unknown` while a resource that it refers to does not exist; undefined where a secret is not at hand.
 */
export function resolveLeaf(leaf: Leaf, world: World): Value | Unknown | undefined {
  const { value } = leaf;
  if (value instanceof Secret) return world.findSecret(value.source, leaf.text);
  if (value instanceof Blob) return `sha256:${value.sha256}`;
  return resolveRefs(value, world);
}

/** A value with ids in the place of references, also inside lists and objects that are one leaf. */
export function resolveRefs(value: Value, { findId }: Pick<World, 'findId'>): Value | Unknown {
  if (value instanceof Ref) return findId(value.address) ?? new Unknown(value.address);
  if (typeof value !== 'object' || value === null) return value;
  const refs = refsIn(value);
  if (refs.length === 0) return value;
  const unborn = refs.find(({ address }) => findId(address) === undefined);
  if (unborn !== undefined) return new Unknown(unborn.address);
  return withIds(value, (address) => findId(address) ?? '');
}

function withIds(value: Value, findId: (address: Address) => string): Value {
  if (value instanceof Ref) return findId(value.address);
  if (value instanceof LinkedText)
    return value.parts.map((part) => (part instanceof Ref ? findId(part.address) : part)).join('');
  if (isList(value)) return value.map((one) => withIds(one, findId));
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, member]) => [key, withIds(member, findId)]));
}
