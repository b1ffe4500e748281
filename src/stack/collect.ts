import { type Address, formatAddress } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import { isUuid } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { checkName, type Report } from './diagnostics.ts';
import { STACK_FILE } from './folder.ts';
import { resolve } from './resolve.ts';
import {
  type Context,
  locateRoot,
  type Resolved,
  type ResolvedObject,
  rootField,
  type Surroundings,
  toObject,
} from './resolved.ts';
import { blockSchema, namedField, secretNames } from './schema.ts';
import { COMPOSING_MEMBERS, settingsSchema } from './settings-schema.ts';
import {
  describe,
  findMember,
  type MapNode,
  type Member,
  membersIn,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
  withKeys,
} from './source.ts';
import { validate } from './validate.ts';

/** Members that every file may have beside resources. */
export const SHARED_MEMBERS: readonly string[] = ['bases', 'moved', 'forget'];

/** The block of its section that a nested resource stands in, as a knowledge base holds sources. */
export type ParentBlock = {
  readonly kind: Kind;
  /** `knowledge_bases.clinic`: what messages call it. */
  readonly label: string;
  readonly keyPlace: SourceRange;
  /** The block without its resources. */
  readonly settings: MapNode;
};

/** One resource as it was written. */
export type WrittenResource = {
  readonly kind: Kind;
  readonly address: Address;
  readonly keyPlace: SourceRange;
  readonly body: MapNode;
  readonly block?: ParentBlock;
};

/** A partial resource that others are laid over. */
export type Base = {
  readonly name: string;
  readonly keyPlace: SourceRange;
  readonly body: MapNode;
};

/** Members that decide how a resource is put together. None of them is a field. */
export const COMPOSING: readonly string[] = Object.keys(COMPOSING_MEMBERS);

/** A body without the members that say how it is put together. */
export function dropComposing(body: MapNode): MapNode {
  return withKeys(body, (key) => !COMPOSING.includes(key));
}

export type WrittenPart = {
  readonly resources: readonly WrittenResource[];
  readonly blocks: readonly ParentBlock[];
};

/** Collects the contents of a stack's files, one after the other. */
export type Collector = {
  /** Takes what stands in a file. `main` is `callsheet.yaml`, whose settings are read elsewhere. */
  readonly add: (root: SyntaxNode, main: boolean) => WrittenPart;
  /** By name. */
  readonly bases: ReadonlyMap<string, Base>;
  /** Values of the members that every file may have beside resources, by their key. */
  readonly shared: {
    readonly moved: readonly SyntaxNode[];
    readonly forget: readonly SyntaxNode[];
  };
  /** Every address that is given, also where what stands there cannot be used, with its place. */
  readonly addresses: ReadonlyMap<Address, SourceRange>;
};

type Collection = {
  readonly bases: Map<string, Base>;
  readonly shared: { readonly moved: SyntaxNode[]; readonly forget: SyntaxNode[] };
  readonly places: Map<Address, SourceRange>;
  /** The resources and blocks of the current file. */
  readonly resources: WrittenResource[];
  readonly blocks: ParentBlock[];
  readonly report: Report;
};

/** The environments of `callsheet.yaml`, by name. */
export function listEnvironments(root: SyntaxNode | undefined): readonly Member[] {
  return membersIn(findMember(root, 'environments')?.value);
}

/** A node that must be a map, or undefined after saying that it is none. */
export function asMap(
  node: SyntaxNode,
  subject: string,
  what: string,
  report: Report,
  idHint?: string,
): MapNode | undefined {
  if (node.type === 'map') return node;
  const empty = node.type === 'scalar' && node.empty;
  report.add({
    rule: empty ? 'schema/empty' : 'schema/type',
    message: empty
      ? `${subject} has no value`
      : `${subject} must be ${what}, not ${describe(node)}`,
    hint: empty
      ? `Give it ${what}, or remove the line`
      : isUuid(textIn(node) ?? '')
        ? idHint
        : undefined,
    range: node.range,
  });
  return undefined;
}

const NAMES_RESOURCE = { rule: 'address/name', what: 'a resource' };

function addResource(
  kind: Kind,
  names: readonly string[],
  member: Member,
  block: ParentBlock | undefined,
  into: Collection,
): void {
  const address = formatAddress(kind.name, names);
  const body = asMap(member.value, address, 'a map of fields', into.report);
  const first = into.places.get(address);
  if (first !== undefined) {
    into.report.add({
      rule: 'address/duplicate',
      message: `${address} is defined twice, first at ${formatPosition(toPosition(first))}`,
      hint: 'Rename one of them or remove it',
      address,
      range: member.keyPlace,
    });
    return;
  }
  into.places.set(address, member.keyPlace);
  if (body === undefined) return;
  const { keyPlace } = member;
  into.resources.push({ kind, address, keyPlace, body, ...(block && { block }) });
}

function addBlock(kind: Kind, member: Member, into: Collection): void {
  const key = kind.nested?.key ?? '';
  const label = `${kind.section}.${member.key}`;
  const hint = `Write ${member.key}: { id: ${textIn(member.value)} }`;
  const map = asMap(member.value, label, 'a map of fields', into.report, hint);
  if (map === undefined) return;
  const settings = withKeys(map, (name) => name !== key);
  const block: ParentBlock = { kind, label, keyPlace: member.keyPlace, settings };
  into.blocks.push(block);
  const nested = findMember(map, key)?.value;
  if (nested === undefined) return;
  const resources = asMap(nested, `${label}.${key}`, 'a map of names', into.report);
  for (const inner of resources?.members.values() ?? []) {
    if (!checkName(inner, { ...NAMES_RESOURCE, holder: `${label}.${key}` }, into.report)) continue;
    addResource(kind, [member.key, inner.key], inner, block, into);
  }
}

function addSection(kind: Kind, section: SyntaxNode, into: Collection): void {
  const map = asMap(section, kind.section, 'a map of names', into.report);
  for (const member of map?.members.values() ?? []) {
    if (!checkName(member, { ...NAMES_RESOURCE, holder: kind.section }, into.report)) continue;
    if (kind.nested === undefined) addResource(kind, [member.key], member, undefined, into);
    else addBlock(kind, member, into);
  }
}

function addBases(section: SyntaxNode, into: Collection): void {
  const map = asMap(section, 'bases', 'a map of names', into.report);
  for (const member of map?.members.values() ?? []) {
    const { key: name, keyPlace } = member;
    if (!checkName(member, { ...NAMES_RESOURCE, holder: 'bases' }, into.report)) continue;
    const body = asMap(member.value, `base ${name}`, 'a map of fields', into.report);
    const first = into.bases.get(name);
    if (first !== undefined) {
      into.report.add({
        rule: 'base/duplicate',
        message: `the base ${name} is defined twice, first at ${formatPosition(toPosition(first.keyPlace))}`,
        hint: 'Rename one of them or remove it',
        range: keyPlace,
      });
    } else if (body !== undefined) into.bases.set(name, { name, keyPlace, body });
  }
}

/** Takes what is no resource and may stand in every file. */
function addShared({ key, value }: Member, into: Collection): boolean {
  if (key === 'bases') addBases(value, into);
  else if (key === 'moved' || key === 'forget') into.shared[key].push(value);
  else return false;
  return true;
}

function reportKey(
  member: Member,
  main: boolean,
  sections: readonly string[],
  secrets: readonly string[],
  report: Report,
): void {
  const { key, keyPlace: range } = member;
  const settings = Object.keys(settingsSchema.properties ?? {});
  if (!main && settings.includes(key)) {
    const message = `${key} belongs in ${STACK_FILE}`;
    report.add({ rule: 'stack/misplaced', message, hint: 'Move it there', range });
  } else {
    const shared = [...sections, ...SHARED_MEMBERS];
    const known = main ? [...shared, ...settings] : shared;
    if (nearest(key, secrets) !== undefined) report.mask(member.value.range);
    const other = main
      ? `The keys are ${known.join(', ')}`
      : `Write resources under ${sections.join(', ')}. To leave out a file that is not Callsheet's, set include in ${STACK_FILE}`;
    report.add({
      rule: 'schema/unknown-key',
      message: `${JSON.stringify(key)} is not a section that Callsheet knows`,
      hint: didYouMean(key, known, other),
      range,
    });
  }
}

/**
 * Finds the resources in the files of a stack. Where `include` could not be read, any file beside `callsheet.yaml` may
 * be none of Callsheet's, so what it holds beside resources is let be.
 */
export function openCollector(
  kinds: readonly Kind[],
  report: Report,
  included: 'known' | 'unknown',
): Collector {
  const bases = new Map<string, Base>();
  const shared = { moved: [], forget: [] };
  const places = new Map<Address, SourceRange>();
  const sections = kinds.map(({ section }) => section);
  const secrets = secretNames(kinds);
  return {
    bases,
    shared,
    addresses: places,
    add: (root, main) => {
      const into: Collection = { bases, shared, places, resources: [], blocks: [], report };
      if (root.type === 'scalar' && root.empty) return into;
      const map = asMap(root, root.range.source.file, 'a map of sections', report);
      for (const member of map?.members.values() ?? []) {
        const kind = kinds.find(({ section }) => section === member.key);
        if (kind !== undefined) addSection(kind, member.value, into);
        else if (addShared(member, into)) continue;
        else if (
          main ? namedField(settingsSchema, member.key) === undefined : included === 'known'
        ) {
          reportKey(member, main, sections, secrets, report);
        }
      }
      return { resources: into.resources, blocks: into.blocks };
    },
  };
}

/** A block hands these fields down to its resources. */
export type Inherited = {
  readonly fields: ResolvedObject;
  readonly places: ReadonlyMap<string, SourceRange>;
};

/** Checks a block of nested resources and takes from it what its resources inherit. */
export function resolveBlock(block: ParentBlock, surroundings: Surroundings): Inherited {
  const { kind, label: subject, settings, keyPlace } = block;
  const schema = blockSchema(kind);
  const own = { subject, address: undefined, refs: [], secrets: [] };
  const context: Context = { ...surroundings, ...own };
  const value = resolve(settings, rootField(schema), context);
  const root = locateRoot(schema, value, settings, keyPlace);
  validate({ subject, address: undefined, root }, surroundings.report);
  const places = new Map<string, SourceRange>();
  const fields: Record<string, Resolved> = {};
  for (const [member, field] of Object.entries(kind.nested?.inherit ?? {})) {
    const range = findMember(settings, member)?.keyPlace;
    const given = toObject(value)[member];
    if (range !== undefined) places.set(field, range);
    if (given !== undefined) fields[field] = given;
  }
  return { fields, places };
}
