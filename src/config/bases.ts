import { interpolate } from './interpolate.ts';
import { nearest } from './nearest.ts';
import { type Report, SILENT } from './problems.ts';
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
  /** Reports every base that no resource asked for, and none of the `base` members of others. */
  readonly reportUnused: (others: readonly Written[]) => void;
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
  const beneath = new Map<string, readonly Named[]>();
  const circles = new Set<string>();

  /** Those of the names that there are. */
  const known = (node: Written | undefined): readonly Named[] =>
    (node === undefined ? [] : namesIn(node, deps)).filter(({ name, place }) => {
      if (bases.has(name)) return true;
      reportUnknown(name, place, bases, deps.report);
      return false;
    });

  const beneathOf = (name: string): readonly Named[] => {
    const found = beneath.get(name) ?? known(bases.get(name)?.body.members.get('base')?.value);
    beneath.set(name, found);
    return found;
  };

  const onCircle = (way: readonly string[], place: Place): void => {
    // Where a walk begins decides how a circle reads; it is told once.
    const circle = way.toSorted().join();
    if (!circles.has(circle)) reportCircle([...way, ...way.slice(0, 1)], place, deps.report);
    circles.add(circle);
  };

  const layers = new Map(
    [...bases.values()].map(({ name, body }): [string, Layer] => [
      name,
      { label: `base ${name}`, body: fieldsOf(body) },
    ]),
  );
  for (const base of bases.values()) reportLoops(base, deps.report);
  return {
    layersOf: (node) =>
      lowestFirst(known(node), beneathOf, onCircle).flatMap((name) => {
        used.add(name);
        return layers.get(name) ?? [];
      }),
    reportUnused: (others) => {
      const named = others.flatMap((node) => namesIn(node, { ...deps, report: SILENT }));
      const also = lowestFirst(named, beneathOf, onCircle);
      const all = new Set([...used, ...also]);
      for (const { name, keyPlace } of bases.values()) {
        if (!all.has(name)) reportUnused(name, keyPlace, deps.report);
      }
    },
  };
}

/**
 * Every base that the names lead to, once: after all that it stands on, and otherwise in the order in which they are
 * named. One that several stand on is so laid beneath all of them, and takes back nothing that one of them overrides.
 */
function lowestFirst(
  names: readonly Named[],
  beneathOf: (name: string) => readonly Named[],
  onCircle: (way: readonly string[], place: Place) => void,
): readonly string[] {
  const done = new Set<string>();
  // A walk with its own stack: a chain may be longer than calls can be nested.
  const way: { readonly name: string; readonly rest: Iterator<Named> }[] = [];
  const open = new Set<string>();
  const enter = ({ name, place }: Named): void => {
    if (done.has(name)) return;
    if (open.has(name)) {
      const at = way.findIndex((step) => step.name === name);
      onCircle(
        way.slice(at).map((step) => step.name),
        place,
      );
      return;
    }
    open.add(name);
    way.push({ name, rest: beneathOf(name).values() });
  };
  for (const named of names) {
    enter(named);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const next = top.rest.next();
      if (next.done !== true) {
        enter(next.value);
        continue;
      }
      way.pop();
      open.delete(top.name);
      done.add(top.name);
    }
  }
  return [...done];
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
