import { type Address, getKind, isResourceName, matchesAddress, withKey } from '../core/address.ts';
import { credentialSpans } from '../core/credentials.ts';
import { formatFirst, formatNumber } from '../core/errors.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  asMap,
  type Base,
  COMPOSING,
  dropComposing,
  listEnvironments,
  type WrittenResource,
} from './collect.ts';
import { checkName, NAME_HINT, type Problem, type Report, SILENT } from './diagnostics.ts';
import {
  eachPath,
  fillParts,
  fillRow,
  interpolate,
  type Part,
  type Row,
  usesRow,
  wholeExpression,
} from './expressions.ts';
import { type Folder, isUnreadable, STACK_FILE } from './folder.ts';
import { splitTexts } from './forms.ts';
import { type Layer, mergeLayers } from './merge.ts';
import { secretParts } from './plain-secrets.ts';
import {
  type Context,
  fail,
  type MergedBase,
  type MergedBases,
  rootField,
  type Surroundings,
} from './resolved.ts';
import { type Loop, readLoop, reportRows } from './rows.ts';
import { resourceSchema } from './schema.ts';
import { ENVIRONMENT_MEMBERS, settingsSchema } from './settings-schema.ts';
import {
  describe,
  findMember,
  listChildren,
  type MapNode,
  type Member,
  membersIn,
  type SourceRange,
  type SyntaxNode,
  textIn,
  withKeys,
} from './source.ts';
import { checkStates } from './state-place.ts';
import type { Variables } from './variables.ts';

/** A resource that was found, before its layers are laid over each other. */
export type ComposedResource = Omit<WrittenResource, 'body'> & {
  /** The row that makes the resource, or the resource itself. */
  readonly ownPlace: SourceRange;
  /** True if all bases that it names exist; a missing base may hold what the resource lacks. */
  readonly isComplete: boolean;
  /** The row that `${each.…}` reads from. */
  readonly row: Row | undefined;
  /** The lowest of its layers, where others have the same. */
  readonly mergedBase: MergedBase | undefined;
  /** Lays its layers over each other, and reports what does not fit. */
  readonly make: (report: Report) => Composed;
};

/** A resource with everything laid over each other that it is made of. */
export type Composed = {
  readonly body: MapNode;
  /** The lowest first, before the row was put in. */
  readonly layers: readonly Layer[];
};

/** A resource with rows has no address of its own: its rows are read once it is known which files are tables. */
type Composition = ComposedResource | (() => readonly ComposedResource[]);

type Composing = {
  readonly bases: Bases;
  readonly mergedBases: MergedBases;
  readonly patches: Patches;
  readonly surroundings: Surroundings;
};

/**
 * Makes the resources of one that was written: one, or one a row.
 *
 * ```
 * bases, in the order of `base:`  <  the resource  <  the environment's patches, the widest first
 * ```
 *
 * Each layer gets its row before it is laid over the others, so that an empty cell gives way to a base.
 */
export function compose(written: WrittenResource, composing: Composing): Composition {
  const { address } = written;
  const { bases, patches, surroundings } = composing;
  const above = patches.over(address);
  const own = [written.body, ...above.map((layer) => layer.body)];
  const base = findLast(own, 'base');
  bases.noteNamed(own);
  const { layers: beneath, isComplete } =
    base === undefined ? NO_BASES : bases.findLayers(base.value);
  const context = buildContext(address, surroundings);
  const forEach = findLast(own, 'for_each');
  const stacked = { written, beneath, isComplete, above };
  if (forEach === undefined) {
    refuseStray(own, context);
    return composeOne(stacked, composing);
  }
  const key = findLast(own, 'key');
  const loop = { forEach, key, allowEmpty: isEmptyAllowed(own, context) };
  return () => composeRows(stacked, loop, composing, context);
}

/** A written resource with what lies beneath and above it. */
type Stacked = {
  readonly written: WrittenResource;
  readonly beneath: readonly Layer[];
  readonly isComplete: boolean;
  readonly above: readonly Layer[];
};

function listLayers({ written, beneath, above }: Omit<Stacked, 'isComplete'>): readonly Layer[] {
  return [
    ...beneath,
    { label: written.address, body: dropComposing(written.body) },
    ...above.map((layer) => ({ ...layer, body: dropComposing(layer.body) })),
  ];
}

function composeOne(stacked: Stacked, { mergedBases }: Composing): ComposedResource {
  const { written, beneath, isComplete } = stacked;
  const { body: _, ...own } = written;
  const mergedBase = mergedBases(beneath, resourceSchema(own.kind));
  const make = (report: Report): Composed => {
    const layers = listLayers(stacked);
    const rest = mergedBase === undefined ? layers : layers.slice(beneath.length);
    const body = merge(mergedBase, rest, written, own.address, report);
    return { body, layers };
  };
  return { ...own, ownPlace: own.keyPlace, isComplete, row: undefined, mergedBase, make };
}

function composeRows(
  stacked: Stacked,
  loop: Omit<Loop, 'hidden'>,
  { mergedBases, patches }: Composing,
  context: Context,
): readonly ComposedResource[] {
  const { written, isComplete } = stacked;
  const { body: _, ...own } = written;
  const layers = listLayers(stacked);
  const root = resourceSchema(written.kind);
  const rows = readLoop({ ...loop, hidden: redactedColumns(layers, root, context) }, context);
  const problem = tooMuch(
    rows.length,
    layers.map(({ body }) => body),
    context.folder,
  );
  if (problem !== undefined) {
    reportRows(context, loop.forEach.keyPlace, problem);
    return [];
  }
  // Layers that no row has a part in are the same for all rows.
  const first = layers.findIndex((layer) => usesRow(layer.body));
  const common = first < 0 ? layers : layers.slice(0, first);
  const mergedBase = mergedBases(common, root);
  const differing = mergedBase === undefined ? layers : layers.slice(common.length);
  return rows.map(({ key, row }): ComposedResource => {
    const address = withKey(written.address, key);
    const over = patches.overRow(address);
    const make = (report: Report): Composed => {
      const rest = [...differing, ...over].map(({ label, body }) => ({
        label,
        body: fillRow(body, row),
      }));
      const body = merge(mergedBase, rest, written, address, report);
      const all = over.length === 0 ? layers : [...layers, ...over];
      return { body, layers: all };
    };
    return { ...own, address, ownPlace: row.cells.range, isComplete, row, mergedBase, make };
  });
}

/** Columns that secrets are filled in from, so that no frame shows them, whatever becomes of a row. */
function redactedColumns(
  layers: readonly Layer[],
  root: FieldSchema,
  context: Context,
): ReadonlySet<string> {
  const fill = (expression: string): readonly Part[] => {
    const column = eachPath(expression)?.[0];
    return column === undefined
      ? fillParts(expression, context)
      : [{ text: ANY_CREDENTIAL, column, findRange: undefined }];
  };
  const texts = layers.flatMap(({ body }) => splitTexts(body, rootField(root), fill, context));
  const secret = texts.flatMap(({ parts, field }) => {
    const text = parts.map((part) => part.text).join('');
    return secretParts(parts, credentialSpans(text), field);
  });
  return new Set(secret.flatMap(({ part }) => part.column ?? []));
}

/** A text that is a credential wherever one belongs. */
const ANY_CREDENTIAL = 'a0a0a0a0a0a0a0a0';

function buildContext(address: Address, surroundings: Surroundings): Context {
  return { ...surroundings, subject: address, address, refs: [], secrets: [] };
}

/** Layers over what is laid already, as one body. It stands where the resource itself does. */
function merge(
  mergedBase: MergedBase | undefined,
  layers: readonly Layer[],
  { kind, body: { range } }: WrittenResource,
  address: Address,
  report: Report,
): MapNode {
  const schema = resourceSchema(kind);
  const add = (problem: Problem) =>
    report.add({ ...problem, message: `${address} ${problem.message}`, address });
  const merged = layers.reduce<MapNode>(
    (below, { body }) => mergeLayers(below, body, schema, { root: schema, add }),
    mergedBase?.body ?? { type: 'map', range, members: new Map() },
  );
  return { ...merged, range };
}

function findLast(bodies: readonly MapNode[], key: string): Member | undefined {
  return bodies.map(({ members }) => members.get(key)).findLast((member) => member !== undefined);
}

function isEmptyAllowed(bodies: readonly MapNode[], context: Context): boolean {
  const member = findLast(bodies, 'allow_empty');
  if (member === undefined) return false;
  const { value } = member;
  if (value.type === 'scalar' && typeof value.value === 'boolean') return value.value;
  const message = `must be true or false, not ${describe(value)}`;
  fail(context, { path: ['allow_empty'] }, value.range, { rule: 'schema/type', message });
  return false;
}

/** `key` and `allow_empty` say something about rows, and there are none. */
function refuseStray(bodies: readonly MapNode[], { report, subject, address }: Context): void {
  for (const key of ['key', 'allow_empty']) {
    const member = findLast(bodies, key);
    if (member === undefined) continue;
    report.add({
      rule: 'for-each/missing',
      message: `${subject} has ${key} and no for_each`,
      hint: 'Add for_each: { $file: rows.csv }, or remove it',
      address,
      path: key,
      range: member.keyPlace,
    });
  }
}

/**
 * Limits of rows. Files, nesting and aliases have limits of their own, where they are read (`MAX_TEXT_BYTES`,
 * `MAX_DEPTH`, `MAX_ALIASED_NODES`, `MOST_ALTERNATIVES`); rows multiply what stands once.
 */

/** Rows of one resource: a single stack holds some hundred thousand agents in memory. */
const MOST_ROWS = 250_000;
/** Characters that all rows of a resource fill in together: 100,000 prompts of 10,000. */
const MOST_FILLED_CHARACTERS = 1_000_000_000;

/** Returns the message for too many rows, to stand after `for_each`. */
function tooMuch(rows: number, bodies: readonly SyntaxNode[], folder: Folder): Problem | undefined {
  const count = formatNumber(rows);
  if (rows > MOST_ROWS) {
    return {
      rule: 'for-each/too-much',
      message: `has ${count} rows; a resource may have ${formatNumber(MOST_ROWS)}`,
      hint: 'Split the table and the stack, for example by organization or region',
    };
  }
  const each = bodies.reduce((sum, body) => sum + charactersIn(body, folder), 0);
  if (rows * each <= MOST_FILLED_CHARACTERS) return undefined;
  return {
    rule: 'for-each/too-much',
    message: `has ${count} rows and fills in ${formatNumber(each)} characters for each, ${formatNumber(rows * each)} together; all rows of a resource may fill in ${formatNumber(MOST_FILLED_CHARACTERS)}`,
    hint: 'Make the template smaller, or split the table and the stack with it',
  };
}

/** Characters of the texts that are filled in for each row: those with expressions, and templates. */
function charactersIn(node: SyntaxNode, folder: Folder): number {
  if (node.type === 'scalar') {
    const text = textIn(node) ?? '';
    return text.includes('${') && wholeExpression(text) === undefined ? text.length : 0;
  }
  const template = textIn(findMember(node, '$template')?.value);
  const read = template === undefined ? undefined : folder.text(template);
  let sum = read === undefined || isUnreadable(read) ? 0 : read.source.text.length;
  for (const child of listChildren(node)) sum += charactersIn(child, folder);
  return sum;
}

/** The bases of a stack, as resources ask for them. */
type Bases = {
  /** The layers that a `base` member names, the lowest first. What is wrong with it is reported. */
  readonly findLayers: (base: SyntaxNode) => BaseLayers;
  /** Takes note of bases that bodies name, be they asked for or not. */
  readonly noteNamed: (bodies: readonly MapNode[]) => void;
  /** Reports every base that was neither asked for nor named. */
  readonly reportUnused: () => void;
};

/** `isComplete`: whether there are all bases that are named, by the resource or by another base. */
type BaseLayers = { readonly layers: readonly Layer[]; readonly isComplete: boolean };

const NO_BASES: BaseLayers = { layers: [], isComplete: true };

type Deps = { readonly report: Report; readonly variables: Variables };

export function openBases(bases: ReadonlyMap<string, Base>, deps: Deps): Bases {
  const used = new Set<string>();
  const others = new Map<string, Named>();
  const beneath = new Map<string, readonly Named[]>();
  const circles = new Set<string>();
  const incomplete = new Set<string>();

  /** Those of the names that there are; `onUnknown` where there is one that is not. */
  const known = (node: SyntaxNode | undefined, onUnknown: () => void): readonly Named[] =>
    (node === undefined ? [] : namesIn(node, deps)).filter(({ name, range }) => {
      if (bases.has(name)) return true;
      reportUnknownBase(name, range, bases, deps.report);
      // That the one which was meant is unused follows from the slip.
      const meant = nearest(name, bases.keys());
      if (meant !== undefined) others.set(meant, { name: meant, range });
      onUnknown();
      return false;
    });

  const findBases = (name: string): readonly Named[] => {
    const found =
      beneath.get(name) ??
      known(bases.get(name)?.body.members.get('base')?.value, () => incomplete.add(name));
    beneath.set(name, found);
    return found;
  };

  const onCircle = (way: readonly string[], { range }: Named): void => {
    // The start of the walk decides how a circle reads; each circle is reported once.
    const circle = way.toSorted().join();
    if (!circles.has(circle)) reportCircle([...way, ...way.slice(0, 1)], range, deps.report);
    circles.add(circle);
  };

  const layers = new Map(
    [...bases.values()].map(({ name, body }): [string, Layer] => [
      name,
      { label: `base ${name}`, body: dropComposing(body) },
    ]),
  );
  for (const base of bases.values()) reportLoops(base, deps.report);
  return {
    findLayers: (node) => {
      let isComplete = true;
      const named = known(node, () => {
        isComplete = false;
      });
      const names = lowestFirst(named, findBases, onCircle);
      for (const name of names) used.add(name);
      return {
        layers: names.flatMap((name) => layers.get(name) ?? []),
        isComplete: isComplete && !names.some((name) => incomplete.has(name)),
      };
    },
    noteNamed: (bodies) => {
      for (const { members } of bodies) {
        const base = members.get('base')?.value;
        const named = base === undefined ? [] : namesIn(base, { ...deps, report: SILENT });
        for (const one of named) if (!others.has(one.name)) others.set(one.name, one);
      }
    },
    reportUnused: () => {
      const also = lowestFirst([...others.values()], findBases, onCircle);
      const all = new Set([...used, ...also]);
      for (const { name, keyPlace } of bases.values()) {
        if (!all.has(name)) reportUnused(name, keyPlace, deps.report);
      }
    },
  };
}

/**
 * Every base that the names lead to, once: after all that it stands on, and otherwise in the order in which they are
 * named. References are followed in the same way. One that several stand on is so laid beneath all of them, and takes back nothing that one of them overrides.
 */
export function lowestFirst<T extends { readonly name: string }>(
  names: readonly T[],
  findBases: (name: string) => readonly T[],
  onCircle: (way: readonly string[], closing: T) => void,
): readonly string[] {
  const done = new Set<string>();
  // A walk with its own stack: a chain may be longer than calls can be nested.
  const way: { readonly name: string; readonly rest: Iterator<T> }[] = [];
  const open = new Set<string>();
  const enter = (entered: T): void => {
    const { name } = entered;
    if (done.has(name)) return;
    if (open.has(name)) {
      const at = way.findIndex((step) => step.name === name);
      const circle = way.slice(at).map((step) => step.name);
      onCircle(circle, entered);
      return;
    }
    open.add(name);
    way.push({ name, rest: findBases(name).values() });
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

type Named = { readonly name: string; readonly range: SourceRange };

function namesIn(node: SyntaxNode, { report, variables }: Deps): readonly Named[] {
  const nodes = node.type === 'list' ? node.items : [node];
  return nodes.flatMap((item): readonly Named[] => {
    const { range } = item;
    const written = textIn(item);
    if (written === undefined) {
      const message = `base must be the name of a base or a list of names, not ${describe(item)}`;
      report.add({ rule: 'schema/type', message, range });
      return [];
    }
    const { text, problems } = interpolate(written, { variables });
    for (const { problem } of problems) {
      report.add({ ...problem, message: `base ${problem.message}`, range });
    }
    return text === undefined ? [] : [{ name: text, range }];
  });
}

function reportUnknownBase(
  name: string,
  range: SourceRange,
  bases: ReadonlyMap<string, Base>,
  report: Report,
) {
  report.add({
    rule: 'base/unknown',
    message: `the base ${JSON.stringify(name)} does not exist`,
    hint: didYouMean(
      name,
      bases.keys(),
      bases.size === 0
        ? 'Write bases under bases: in any file of the stack'
        : `The bases are ${formatFirst([...bases.keys()], 10)}`,
    ),
    range,
  });
}

function reportCircle(way: readonly string[], range: SourceRange, report: Report): void {
  report.add({
    rule: 'base/cycle',
    message: `the base ${way[0]} refers to itself: ${way.join(' → ')}`,
    hint: 'Take one of them out of base:',
    range,
  });
}

function reportUnused(name: string, range: SourceRange, report: Report): void {
  report.add({
    severity: 'warning',
    rule: 'base/unused',
    message: `no resource uses the base ${name}, so nothing in it is checked`,
    hint: `Write base: ${name} in a resource, or remove it`,
    range,
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
      hint: 'Write it in the resource. The base can still use ${each.…}',
      range: member.keyPlace,
    });
  }
}

/** `callsheet.yaml` as one environment has it. */
type Environment = {
  readonly root: MapNode;
  readonly patches: readonly Patch[];
};

/**
 * Lays an environment of `callsheet.yaml` over its settings. Without a name the file is what it is. What is
 * wrong with the others is reported as well. `dir` is the stack folder.
 */
export function enterEnvironment(
  root: MapNode,
  name: string | undefined,
  dir: string,
  report: Report,
): Environment {
  checkEnvironments(root, dir, report);
  if (name === undefined) return { root, patches: [] };
  // It becomes part of a path, whatever the file says.
  if (!isResourceName(name)) {
    reportName(name, report);
    return { root, patches: [] };
  }
  const environments = findMember(root, 'environments')?.value;
  const chosen = findMember(environments, name)?.value;
  if (chosen?.type !== 'map') {
    const empty = chosen?.type === 'scalar' && chosen.value === null;
    if (!empty) reportUnknownEnvironment(name, root, report);
    return { root, patches: [] };
  }
  const settings = withKeys(chosen, (key) => ENVIRONMENT_MEMBERS.includes(key));
  const add: Report['add'] = (problem) =>
    report.add({ ...problem, message: `${STACK_FILE}: environment ${name} ${problem.message}` });
  const schema: FieldSchema = settingsSchema;
  const over = mergeLayers(root, settings, schema, { root: schema, add });
  return { root: withoutChosen({ ...over, range: root.range }, name), patches: patchesIn(chosen) };
}

/** Leaves out the environment's settings: they are checked in the settings that they override. */
function withoutChosen(root: MapNode, name: string): MapNode {
  const environments = findMember(root, 'environments');
  if (environments?.value.type !== 'map') return root;
  const chosen = environments.value.members.get(name);
  if (chosen?.value.type !== 'map') return root;
  const kept = withKeys(chosen.value, (key) => !ENVIRONMENT_MEMBERS.includes(key));
  const left = new Map(environments.value.members).set(name, { ...chosen, value: kept });
  const value = { ...environments.value, members: left };
  return {
    ...root,
    members: new Map(root.members).set('environments', { ...environments, value }),
  };
}

function patchesIn(environment: MapNode): readonly Patch[] {
  return membersIn(findMember(environment, 'patches')?.value).flatMap(({ key, keyPlace, value }) =>
    value.type === 'map' ? [{ pattern: key, range: keyPlace, body: value }] : [],
  );
}

function reportName(name: string, report: Report): void {
  report.add({
    rule: 'environment/name',
    message: `--env ${name}: this is not a valid name for an environment`,
    hint: NAME_HINT,
  });
}

function reportUnknownEnvironment(name: string, root: MapNode, report: Report): void {
  const member = findMember(root, 'environments');
  const names = membersIn(member?.value).map(({ key }) => key);
  report.add({
    rule: 'environment/unknown',
    message: `--env ${name}: ${STACK_FILE} has no such environment`,
    hint: didYouMean(
      name,
      names,
      names.length === 0
        ? 'Declare environments there under environments:'
        : `It has ${names.join(', ')}`,
    ),
    range: member?.keyPlace,
  });
}

/** Fields laid over one resource, all rows of one, or all resources of a kind. */
export type Patch = {
  readonly pattern: string;
  readonly range: SourceRange;
  readonly body: MapNode;
};

/** The patches of the environment at hand. */
type Patches = {
  /** Those for all rows of a resource, the widest first. */
  readonly over: (address: Address) => readonly Layer[];
  /** Those for one row alone. */
  readonly overRow: (address: Address) => readonly Layer[];
  /** Reports every patch that met no resource. */
  readonly reportUnmet: (addresses: Iterable<Address>) => void;
};

export function openPatches(
  patches: readonly Patch[],
  environment: string,
  report: Report,
): Patches {
  const met = new Set<Patch>();
  const patterns = new Set(patches.map(({ pattern }) => pattern));
  const label = `environment ${environment}`;
  const pick = (isMeant: (patch: Patch) => boolean): readonly Layer[] => {
    const chosen = patches.filter(isMeant).toSorted((a, b) => a.pattern.length - b.pattern.length);
    for (const patch of chosen) met.add(patch);
    return chosen.map(({ body }) => ({ label, body }));
  };
  return {
    over: (address) => pick(({ pattern }) => matchesAddress(pattern, address)),
    // Asked for every row, of which only a few have one.
    overRow: (address) => {
      if (!patterns.has(address)) return [];
      const layers = pick(({ pattern }) => pattern === address);
      // A single row cannot say how rows are made; that is reported where environments are checked.
      return layers.map((layer) => ({ ...layer, body: dropComposing(layer.body) }));
    },
    reportUnmet: (addresses) => {
      const known = [...addresses];
      for (const patch of patches) if (!met.has(patch)) reportUnmet(patch, known, label, report);
    },
  };
}

function reportUnmet(
  { pattern, range }: Patch,
  addresses: readonly Address[],
  label: string,
  report: Report,
): void {
  const others = addresses.filter((address) => getKind(address) === getKind(pattern));
  report.add({
    rule: 'environment/patch',
    message: `${label} patches ${pattern}, which is not a resource of the stack`,
    hint: didYouMean(
      pattern,
      addresses,
      others.length === 0
        ? 'Name an address such as agent.reception, or a kind such as agent'
        : `There are ${formatFirst(others, 10)}`,
    ),
    range,
  });
}

/**
 * Checks what every environment says, be it chosen or not, and only fits together here: their names, which are part
 * of paths, where they keep their states, and the shape of their patches. `dir` is the stack folder.
 */
function checkEnvironments(root: MapNode, dir: string, report: Report): void {
  const environments = listEnvironments(root);
  const holder = `${STACK_FILE}: environments`;
  const naming = { rule: 'environment/name', holder, what: 'an environment' };
  const named = environments.filter((environment) => checkName(environment, naming, report));
  for (const environment of environments) checkPatches(environment, report);
  checkStates(root, dir, named, report);
}

export function patchBodiesIn(root: SyntaxNode | undefined): readonly MapNode[] {
  return listEnvironments(root).flatMap(({ value }) => {
    const bodies = membersIn(findMember(value, 'patches')?.value);
    return bodies.flatMap((body) => (body.value.type === 'map' ? [body.value] : []));
  });
}

function checkPatches({ key, value }: Member, report: Report): void {
  const subject = `${STACK_FILE}: environments.${key}`;
  const patches = findMember(value, 'patches')?.value;
  const map = patches && asMap(patches, `${subject}.patches`, 'a map of addresses', report);
  for (const patch of map?.members.values() ?? []) {
    const body = asMap(patch.value, `${subject}.patches.${patch.key}`, 'a map of fields', report);
    if (body !== undefined) checkRowPatch(subject, patch.key, body, report);
  }
}

/** How rows are made is the same for all of them. */
function checkRowPatch(subject: string, pattern: string, body: MapNode, report: Report): void {
  const row = pattern.indexOf('[');
  if (row < 0) return;
  for (const key of COMPOSING) {
    const member = body.members.get(key);
    if (member === undefined) continue;
    report.add({
      rule: 'environment/patch',
      message: `${subject} patches ${pattern} with ${key}, which one row cannot have`,
      hint: `Write it in the resource, or in a patch for all rows: ${pattern.slice(0, row)}`,
      range: member.keyPlace,
    });
  }
}
