import { type Address, byAddress } from '../core/address.ts';
import {
  type Change,
  type ChangeGroup,
  type FieldChange,
  isEdited,
  isWritten,
} from '../core/plan-document.ts';
import { commonEnds, countEach, type Json } from '../core/value.ts';

/** Fewer resources than this are read one by one. */
const FEWEST = 3;

/** One field of one resource. */
type Site = { readonly address: Address; readonly path: string };

/** Where a field's value comes from: a line of a file, or a file as a whole, as a template is. */
export type SourceOf = (
  site: Site,
) => { readonly file: string; readonly line?: number } | undefined;

/** The same change in several places. `edit` tells lines that differ around the changed words from each other. */
type Alike = {
  readonly kind: string;
  readonly action: ChangeGroup['action'];
  readonly path: string;
  readonly sites: (Site & { readonly edit: string })[];
};

/**
 * Finds the fields that change alike in several resources, so that what one edit of a base, a template or a table does
 * to sixty agents is read once. What somebody else changed is left out: that is read resource by resource.
 */
export function groupAlike(changes: readonly Change[], sourceOf: SourceOf): readonly ChangeGroup[] {
  const alike = new Map<string, Alike>();
  for (const change of changes) {
    const { kind, action } = change;
    if (action !== 'update' && action !== 'create') continue;
    for (const field of change.fields) {
      if (isEdited(field) || !isWritten(field)) continue;
      const { words, lines } = toEdit(field);
      const key = getGroupKey(change, field, words);
      const known = alike.get(key);
      const { path } = field;
      const site = { address: change.address, path, edit: JSON.stringify(lines) };
      if (known === undefined) alike.set(key, { kind, action, path, sites: [site] });
      else known.sites.push(site);
    }
  }
  // The fields that change together: in the same resources, and by the same file, or each by its own.
  const groups = new Map<string, { -readonly [key in keyof ChangeGroup]: ChangeGroup[key] }>();
  for (const found of alike.values()) {
    const { kind, action, path } = found;
    for (const { sites, file, source } of settled(found.sites, sourceOf)) {
      const addresses = sites.map(({ address }) => address).sort(byAddress);
      const field = { path, source };
      const key = JSON.stringify([action, addresses, file]);
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { kind, action, addresses, fields: [field] });
      else known.fields = [...known.fields, field];
    }
  }
  return [...groups.values()].sort((a, b) => b.addresses.length - a.addresses.length);
}

/**
 * The same words in lines that differ around them are one edit only where one place says so, as a template or a line
 * of a base does. In texts of their own the words around them may turn the sense, and each is read.
 */
function settled(
  sites: Alike['sites'],
  sourceOf: SourceOf,
): readonly (CommonSource & Pick<Alike, 'sites'>)[] {
  if (sites.length < FEWEST) return [];
  const edits = Map.groupBy(sites, ({ edit }) => edit);
  const isOneEdit = edits.size === 1;
  const from = commonSource(isOneEdit ? sites.slice(0, MOST_ASKED) : sites, sourceOf);
  if (isOneEdit || from.isOne) return [{ sites, ...from }];
  return [...edits.values()].flatMap((own) => settled(own, sourceOf));
}

/** What is the same of all fields that change in the same way. */
function getGroupKey(change: Change, field: FieldChange, words: Json): string {
  const { kind, action, undoing, verdict, reason } = change;
  const { path, cause, secret, refused } = field;
  // A limit stops all of a plan for one reason. What is refused by itself is read by itself.
  const judged = verdict === 'ok' ? null : [verdict, reason];
  return JSON.stringify([kind, action, judged, undoing?.way, path, cause, refused, secret, words]);
}

/**
 * What an edit does to a text: the lines that go and those that come, with the section that they stand in, and of
 * lines in pairs the words that differ. Of any other value it is the value before and after.
 */
function toEdit({ before, after, secret }: FieldChange): {
  readonly words: Json;
  readonly lines: Json;
} {
  const whole = { words: [before, after], lines: null };
  if (typeof before !== 'string' || typeof after !== 'string' || secret) return whole;
  const [old, fresh] = [listLines(before), listLines(after)];
  const gone = without(old, fresh);
  const come = without(fresh, old);
  // Only the order of lines differs, so the whole text is the edit.
  if (gone.length + come.length === 0) return whole;
  const lines = [gone, come].map((some) => some.map(({ text, section }) => [section, text]));
  if (gone.length !== come.length) return { words: lines, lines: null };
  const words = gone.map((old, at) => {
    const fresh = come[at] ?? old;
    return [old.section, fresh.section, wordEdit(old.text, fresh.text)];
  });
  return { words, lines };
}

/** A line, and how many headings stand above it. A text without headings has its lines counted. */
type TextLine = { readonly text: string; readonly section: number };

function listLines(text: string): readonly TextLine[] {
  const lines = text.split('\n');
  const hasHeadings = lines.some(isHeading);
  let section = 0;
  return lines.map((line) => {
    if (!hasHeadings || isHeading(line)) section += 1;
    return { text: line, section };
  });
}

function isHeading(line: string): boolean {
  return line.startsWith('#');
}

/** The lines that another text does not have, or not as often. */
function without(lines: readonly TextLine[], other: readonly TextLine[]): readonly TextLine[] {
  const left = countEach(other.map(({ text }) => text));
  return lines.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count === 0;
  });
}

/** The words between those that two lines begin and end with. */
function wordEdit(before: string, after: string): Json {
  const [old, fresh] = [before.split(' '), after.split(' ')];
  const [head, tail] = commonEnds(old, fresh);
  return [old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)];
}

/** Equal edits are asked where they come from as long as it takes little time. */
const MOST_ASKED = 100;

/** The source of all of some fields, or its file where only that is the same; null where they have several. */
type CommonSource = {
  readonly file: string | null;
  readonly source: string | null;
  readonly isOne: boolean;
};

const SEVERAL: CommonSource = { file: null, source: null, isOne: false };

function commonSource(sites: readonly Site[], sourceOf: SourceOf): CommonSource {
  const lines = new Set<number | undefined>();
  let file: string | undefined;
  for (const [index, site] of sites.entries()) {
    const found = sourceOf(site);
    if (index > 0 && found?.file !== file) return SEVERAL;
    file = found?.file;
    lines.add(found?.line);
  }
  if (file === undefined) return SEVERAL;
  const [line] = lines;
  const isOne = lines.size === 1;
  return { file, source: isOne && line !== undefined ? `${file}:${line}` : file, isOne };
}

/** Names with each changed text the file that it is read from, where that is a file of its own. */
export function withTextSources(changes: readonly Change[], sourceOf: SourceOf): readonly Change[] {
  return changes.map((change) => {
    if (change.action !== 'update' && change.action !== 'replace') return change;
    const fields = change.fields.map((field) => {
      const { path, after, secret } = field;
      if (typeof after !== 'string' || secret) return field;
      const found = sourceOf({ address: change.address, path });
      return found === undefined || found.line !== undefined
        ? field
        : { ...field, source: found.file };
    });
    return { ...change, fields };
  });
}
