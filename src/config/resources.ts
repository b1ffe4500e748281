import { type Address, formatAddress, isResourceName } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Base } from './bases.ts';
import { STACK_FILE } from './discover.ts';
import { secretNames } from './masks.ts';
import { nearest } from './nearest.ts';
import { unpack } from './packed.ts';
import type { Report } from './problems.ts';
import { namedField } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';
import { type Place, positionOf } from './source.ts';
import { describe, type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/** Members that every file may have beside resources. */
export const SHARED_MEMBERS: readonly string[] = ['bases', 'moved', 'forget'];

/** The block of its section that a nested resource stands in, as a knowledge base holds sources. */
export type WrittenBlock = {
  readonly kind: Kind;
  /** `knowledge_bases.clinic`: what messages call it. */
  readonly label: string;
  readonly keyPlace: Place;
  /** The block without its resources. */
  readonly settings: WrittenMap;
};

/** One resource as it was written. */
export type WrittenResource = {
  readonly kind: Kind;
  readonly address: Address;
  readonly keyPlace: Place;
  readonly body: WrittenMap;
  readonly block?: WrittenBlock;
};

export type WrittenResources = {
  readonly resources: readonly WrittenResource[];
  readonly blocks: readonly WrittenBlock[];
  /** By name. */
  readonly bases: ReadonlyMap<string, Base>;
  /** Values of the members that every file may have beside resources, by their key. */
  readonly shared: { readonly moved: readonly Written[]; readonly forget: readonly Written[] };
  /** Every address that is given, also where what stands there cannot be used. */
  readonly addresses: ReadonlySet<Address>;
};

type Collection = {
  readonly bases: Map<string, Base>;
  readonly shared: { readonly moved: Written[]; readonly forget: Written[] };
  readonly resources: WrittenResource[];
  readonly places: Map<Address, Place>;
  readonly blocks: WrittenBlock[];
  readonly report: Report;
};

/** A node that must be a map, or undefined after saying that it is none. */
export function asMap(
  node: Written,
  subject: string,
  what: string,
  report: Report,
): WrittenMap | undefined {
  if (node.type === 'map') return node;
  const empty = node.type === 'scalar' && node.empty;
  report.add({
    rule: empty ? 'schema/empty' : 'schema/type',
    message: empty
      ? `${subject} has no value`
      : `${subject} must be ${what}, not ${describe(node)}`,
    hint: empty ? `Give it ${what}, or remove the line` : undefined,
    place: node.place,
  });
  return undefined;
}

function checkName({ key, keyPlace }: Member, subject: string, report: Report): boolean {
  if (isResourceName(key)) return true;
  report.add({
    rule: 'address/name',
    message: `${subject} has ${JSON.stringify(key)}, which cannot name a resource`,
    hint: 'Use letters, digits, _ and -, and begin with a letter',
    place: keyPlace,
  });
  return false;
}

function addResource(
  kind: Kind,
  names: readonly string[],
  member: Member,
  block: WrittenBlock | undefined,
  into: Collection,
): void {
  const address = formatAddress(kind.name, names);
  const body = asMap(member.value, address, 'a map of fields', into.report);
  const first = into.places.get(address);
  if (first !== undefined) {
    into.report.add({
      rule: 'address/duplicate',
      message: `${address} is defined twice, first at ${formatPosition(positionOf(first))}`,
      hint: 'Rename one of them or remove it',
      address,
      place: member.keyPlace,
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
  const map = asMap(member.value, label, 'a map of fields', into.report);
  if (map === undefined) return;
  const rest = [...map.members].filter(([name]) => name !== key);
  const settings: WrittenMap = { ...map, members: new Map(rest) };
  const block: WrittenBlock = { kind, label, keyPlace: member.keyPlace, settings };
  into.blocks.push(block);
  const nested = memberOf(map, key)?.value;
  if (nested === undefined) return;
  const resources = asMap(nested, `${label}.${key}`, 'a map of names', into.report);
  for (const inner of resources?.members.values() ?? []) {
    if (!checkName(inner, `${label}.${key}`, into.report)) continue;
    addResource(kind, [member.key, inner.key], inner, block, into);
  }
}

function addSection(kind: Kind, section: Written, into: Collection): void {
  const map = asMap(section, kind.section, 'a map of names', into.report);
  for (const member of map?.members.values() ?? []) {
    if (!checkName(member, kind.section, into.report)) continue;
    if (kind.nested === undefined) addResource(kind, [member.key], member, undefined, into);
    else addBlock(kind, member, into);
  }
}

function addBases(section: Written, into: Collection): void {
  const map = asMap(section, 'bases', 'a map of names', into.report);
  for (const member of map?.members.values() ?? []) {
    const { key: name, keyPlace } = member;
    if (!checkName(member, 'bases', into.report)) continue;
    const body = asMap(member.value, `base ${name}`, 'a map of fields', into.report);
    const first = into.bases.get(name);
    if (first !== undefined) {
      into.report.add({
        rule: 'base/duplicate',
        message: `the base ${name} is defined twice, first at ${formatPosition(positionOf(first.keyPlace))}`,
        hint: 'Rename one of them or remove it',
        place: keyPlace,
      });
    } else if (body !== undefined) into.bases.set(name, { name, keyPlace, body: unpack(body) });
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
  const { key, keyPlace: place } = member;
  const settings = Object.keys(settingsSchema.properties ?? {});
  if (!main && settings.includes(key)) {
    const message = `${key} belongs in ${STACK_FILE}`;
    report.add({ rule: 'stack/misplaced', message, hint: 'Move it there', place });
  } else {
    const shared = [...sections, ...SHARED_MEMBERS];
    const known = main ? [...shared, ...settings] : shared;
    if (nearest(key, secrets) !== undefined) report.mask(member.value.place);
    const close = nearest(key, known);
    const other = main
      ? `The keys are ${known.join(', ')}`
      : `Resources stand under ${sections.join(', ')}; a file that is not Callsheet's can be left out with include in ${STACK_FILE}`;
    report.add({
      rule: 'schema/unknown-key',
      message: `${JSON.stringify(key)} is no section that Callsheet knows`,
      hint: close === undefined ? other : `Did you mean ${close}?`,
      place,
    });
  }
}

/**
 * Finds the resources in the files of a stack. `files` are their roots; the first is `callsheet.yaml`,
 * whose settings are read elsewhere. Where `include` could not be read, any of the others may be none of
 * Callsheet's, so what they hold beside resources is let be.
 */
export function collectResources(
  files: readonly { readonly root: Written; readonly main: boolean }[],
  kinds: readonly Kind[],
  report: Report,
  included: 'known' | 'unknown',
): WrittenResources {
  const into: Collection = {
    bases: new Map(),
    shared: { moved: [], forget: [] },
    resources: [],
    places: new Map(),
    blocks: [],
    report,
  };
  const sections = kinds.map(({ section }) => section);
  const secrets = secretNames(kinds);
  for (const { root, main } of files) {
    if (root.type === 'scalar' && root.empty) continue;
    const file = root.place.source.file;
    const map = asMap(root, file, 'a map of sections', report);
    for (const member of map?.members.values() ?? []) {
      const kind = kinds.find(({ section }) => section === member.key);
      if (kind !== undefined) addSection(kind, member.value, into);
      else if (addShared(member, into)) continue;
      else if (main ? namedField(settingsSchema, member.key) === undefined : included === 'known') {
        reportKey(member, main, sections, secrets, report);
      }
    }
  }
  return {
    resources: into.resources,
    blocks: into.blocks,
    bases: into.bases,
    shared: into.shared,
    addresses: new Set(into.places.keys()),
  };
}
