import { createHash } from 'node:crypto';
import type { Json } from '../../../src/core/value.ts';
import { isRecord } from '../../../src/state/model.ts';

/**
 * What somebody may write who can write to a store and has no key: each member of the documents there exchanged, removed,
 * or invented beside the others. The forger makes checksums that fit, and keeps the seal that was there or leaves it out.
 */

type Place = readonly (string | number)[];

/** One change of a document. Undefined: it cannot be made there. */
export type Change = {
  readonly name: string;
  readonly make: (document: unknown) => unknown;
};

/** Every change of a document that is like a sample. */
export function changesOf(sample: unknown): readonly Change[] {
  return placesIn(sample).flatMap((place): Change[] => {
    const name = place.join('.');
    const value = valueAt(sample, place);
    const parent = valueAt(sample, place.slice(0, -1));
    const isElement = Array.isArray(parent);
    return [
      { name: `${name} exchanged`, make: (document) => edit(document, place, exchanged) },
      ...(isElement || isRecord(parent)
        ? [{ name: `${name} removed`, make: (document: unknown) => removed(document, place) }]
        : []),
      ...(isRecord(value) || Array.isArray(value)
        ? [{ name: `${name} with one more`, make: (one: unknown) => edit(one, place, enlarged) }]
        : []),
    ];
  });
}

function placesIn(value: unknown, place: Place = []): readonly Place[] {
  const below: readonly Place[] = Array.isArray(value)
    ? value.map((_, at) => [...place, at])
    : isRecord(value)
      ? Object.keys(value).map((key) => [...place, key])
      : [];
  const own = place.length === 0 ? [] : [place];
  return [...own, ...below.flatMap((one) => placesIn(valueAt(value, one.slice(-1)), one))];
}

function valueAt(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((at, key) => Object(at)[key], value);
}

function edit(document: unknown, place: Place, change: (value: unknown) => unknown): unknown {
  const copy = structuredClone(document);
  const parent = Object(valueAt(copy, place.slice(0, -1)));
  const key = place.at(-1) ?? '';
  parent[key] = change(parent[key]);
  return copy;
}

function removed(document: unknown, place: Place): unknown {
  const copy = structuredClone(document);
  const parent = valueAt(copy, place.slice(0, -1));
  const key = place.at(-1) ?? '';
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else Reflect.deleteProperty(Object(parent), key);
  return copy;
}

function exchanged(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/.$/, (end) => (end === '1' ? '2' : '1'));
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (value === null) return 'b9';
  return Array.isArray(value) ? [] : {};
}

function enlarged(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, value[0] ?? 'b9'];
  const [[key = 'x', first = 1] = []] = Object.entries(Object(value));
  return { ...Object(value), [`${key}_b9`]: first };
}

/** How a forger leaves the seal. */
export const SEALS = ['kept', 'left out'] as const;
type Seal = (typeof SEALS)[number];

/** The text of a state as a forger writes it: as it lies in every store. */
export function forgedState(text: string, change: Change['make'], seal: Seal): string {
  const { checksum: _, seal: old, ...document } = JSON.parse(text);
  const { resources, ...facts } = Object(change(document));
  const lines = isRecord(resources)
    ? Object.entries(resources).map(([address, one]) => `${quoted(address)}:${quoted(one)}`)
    : [];
  const head = quoted(facts).slice(1, -1);
  const compact = `{${head},"resources":{${lines.sort().join(',')}}}`;
  const checksum = `sha256:${createHash('sha256').update(compact).digest('hex')}`;
  const kept = seal === 'kept' && old !== undefined ? `"seal":"${old}",` : '';
  return `{"checksum":"${checksum}",${kept}\n${head},"resources":{\n${lines.join(',\n')}\n}}\n`;
}

/** The text of a journal with one of its lines changed. */
export function forgedJournal(
  text: string,
  line: number,
  change: Change['make'],
  seal: Seal,
): string {
  const lines = text.split('\n');
  const { entry, number, seal: old } = JSON.parse(lines[line] ?? '');
  lines[line] = forgedLine(change(entry), seal === 'kept' ? { number, seal: old } : {});
  return lines.join('\n');
}

export function forgedLine(
  entry: unknown,
  { number, seal }: { readonly number?: number; readonly seal?: string } = {},
): string {
  const text = quoted(entry);
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const kept = seal === undefined ? '' : `"number":${number},"seal":"${seal}",`;
  return `{"sum":"${sum}",${kept}"entry":${text}}`;
}

function quoted(value: unknown): string {
  return JSON.stringify(value as Json) ?? 'null';
}

/** Changes of the lines of a journal as a whole, each of which leaves its lines as they are. */
export const OF_LINES: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
  'its first entry removed': ([header = '', , ...rest]) => [header, ...rest],
  'an entry removed': ([header = '', first = '', , ...rest]) => [header, first, ...rest],
  'entries exchanged': ([header = '', first = '', a = '', b = '', ...rest]) => [
    header,
    first,
    b,
    a,
    ...rest,
  ],
  'an entry twice': ([header = '', first = '', second = '', ...rest]) => [
    header,
    first,
    second,
    second,
    ...rest,
  ],
  'an entry invented': (lines) => [
    ...lines,
    forgedLine({ type: 'resource', address: 'agent.desk', resource: null }),
  ],
};
