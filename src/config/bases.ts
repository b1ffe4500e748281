import { interpolate } from './interpolate.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import type { Place } from './source.ts';
import type { Variables } from './variables.ts';
import { describe, type Written, type WrittenMap } from './written.ts';

/** A partial resource that others are laid over. */
export type Base = {
  readonly name: string;
  readonly keyPlace: Place;
  readonly body: WrittenMap;
};

/** One layer of a resource: who says it, and what. */
export type Layer = { readonly label: string; readonly body: WrittenMap };

/** The bases of a stack, as resources ask for them. */
export type Bases = {
  /** The layers that a `base` member names, the lowest first. What is wrong with it is reported. */
  readonly layersOf: (base: Written) => readonly Layer[];
  /** Reports every base that no resource asked for. */
  readonly reportUnused: () => void;
};

type Deps = { readonly report: Report; readonly variables: Variables };

/** Members that decide how a resource is put together. None of them is a field. */
export const COMPOSING = ['base', 'for_each', 'key', 'allow_empty'] as const;

/** A body without the members that say how it is put together. */
export function fieldsOf(body: WrittenMap): WrittenMap {
  const composing: readonly string[] = COMPOSING;
  const members = [...body.members].filter(([key]) => !composing.includes(key));
  return { ...body, members: new Map(members) };
}

export function openBases(bases: ReadonlyMap<string, Base>, deps: Deps): Bases {
  const used = new Set<string>();
  const known = new Map<string, readonly Layer[]>();

  const layersOf = (node: Written, way: readonly string[]): readonly Layer[] =>
    namesIn(node, deps).flatMap(({ name, place }) => layersOfBase(name, place, way));

  const layersOfBase = (name: string, place: Place, way: readonly string[]): readonly Layer[] => {
    const base = bases.get(name);
    if (base === undefined) {
      reportUnknown(name, place, bases, deps.report);
      return [];
    }
    used.add(name);
    if (way.includes(name)) {
      reportCircle([...way.slice(way.indexOf(name)), name], place, deps.report);
      return [];
    }
    const found = known.get(name);
    if (found !== undefined) return found;
    const beneath = base.body.members.get('base')?.value;
    const layers = [
      ...(beneath === undefined ? [] : layersOf(beneath, [...way, name])),
      { label: `base ${name}`, body: fieldsOf(base.body) },
    ];
    known.set(name, layers);
    return layers;
  };

  for (const base of bases.values()) reportLoops(base, deps.report);
  return {
    layersOf: (node) => layersOf(node, []),
    reportUnused: () => {
      for (const { name, keyPlace } of bases.values()) {
        if (!used.has(name)) reportUnused(name, keyPlace, deps.report);
      }
    },
  };
}

type Named = { readonly name: string; readonly place: Place };

function namesIn(node: Written, { report, variables }: Deps): readonly Named[] {
  const nodes = node.type === 'list' ? node.items : [node];
  return nodes.flatMap((item): readonly Named[] => {
    const { place } = item;
    if (item.type !== 'scalar' || typeof item.value !== 'string') {
      const message = `base must be the name of a base or a list of names, not ${describe(item)}`;
      report.add({ rule: 'schema/type', message, place });
      return [];
    }
    const { text, problems } = interpolate(item.value, { variables });
    for (const { problem } of problems) {
      report.add({ ...problem, message: `base ${problem.message}`, place });
    }
    return text === undefined ? [] : [{ name: text, place }];
  });
}

function reportUnknown(
  name: string,
  place: Place,
  bases: ReadonlyMap<string, Base>,
  report: Report,
) {
  const close = nearest(name, bases.keys());
  const all = [...bases.keys()].slice(0, 10).join(', ');
  report.add({
    rule: 'base/unknown',
    message: `there is no base called ${JSON.stringify(name)}`,
    hint:
      close !== undefined
        ? `Did you mean ${close}?`
        : bases.size === 0
          ? 'Bases stand under bases: in any file of the stack'
          : `The bases are ${all}`,
    place,
  });
}

function reportCircle(way: readonly string[], place: Place, report: Report): void {
  report.add({
    rule: 'base/cycle',
    message: `the base ${way[0]} stands on itself: ${way.join(' → ')}`,
    hint: 'Take one of them out of base:',
    place,
  });
}

function reportUnused(name: string, place: Place, report: Report): void {
  report.add({
    severity: 'warning',
    rule: 'base/unused',
    message: `no resource uses the base ${name}, so nothing in it is checked`,
    hint: `Write base: ${name} in a resource, or remove it`,
    place,
  });
}

/** A base is one document: rows belong to the resources that use it. */
function reportLoops({ name, body }: Base, report: Report): void {
  for (const key of COMPOSING) {
    const member = body.members.get(key);
    if (member === undefined || key === 'base') continue;
    report.add({
      rule: 'base/member',
      message: `the base ${name} has ${key}, which only a resource can have`,
      hint: 'Write it in the resource; the base may use ${each.…} all the same',
      place: member.keyPlace,
    });
  }
}
