import { resolve as resolvePath } from 'node:path';
import { type Address, byAddress } from '../core/address.ts';
import type { DesiredResource, TextPart } from '../core/desired.ts';
import type { Diagnostic } from '../core/diagnostics.ts';
import { computeDigest } from '../core/digest.ts';
import { formatPath, type Path } from '../core/path.ts';
import type { Guards, PlanRules } from '../core/plan-document.ts';
import { namesField } from '../core/schema.ts';
import type { ValueObject } from '../core/value.ts';
import { kinds as allKinds, kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import {
  type Collector,
  type Inherited,
  listEnvironments,
  openCollector,
  type ParentBlock,
  resolveBlock,
  type WrittenPart,
} from './collect.ts';
import {
  type ComposedResource,
  compose,
  openBases,
  openPatches,
  type Patch,
  patchBodiesIn,
} from './compose.ts';
import { notingErrors, openReport, type Problem, type Report } from './diagnostics.ts';
import { discover } from './discover.ts';
import { type Origin, readTextParts, traceOrigin } from './editor/origin.ts';
import { type Folder, isUnreadable, openFolder, refuseFolder, STACK_FILE } from './folder.ts';
import { type Moves, readMoves } from './moves.ts';
import { checkContents, checkNames, checkReferences } from './references.ts';
import { followPath, openMergedBases, type Surroundings } from './resolved.ts';
import { type ResolvedResource, resolveResource } from './resource.ts';
import { openRowFiles } from './rows.ts';
import { secretNames } from './schema.ts';
import { ABSENT, checkSecret, type SecretPlace } from './secrets.ts';
import type { SettingsSection } from './settings.ts';
import {
  isOfRollback,
  lookupOrganization,
  openSettings,
  type Settings,
  type SettingsOptions,
  type StackSettings,
} from './settings.ts';
import { type MapNode, type Source, type SyntaxNode, toPosition } from './source.ts';
import { unreadableVariables, type Variables } from './variables.ts';
import { readStackFile, type StackFile } from './yaml.ts';

export type LoadOptions = SettingsOptions & {
  /** `check`: a secret that is not available now is an error. */
  readonly secrets: 'check' | 'skip';
  /**
   * True if a stack is returned without resources, for commands that go by the record, where `callsheet.yaml` gives
   * platform, state and rules and something else is wrong.
   */
  readonly evenBroken?: boolean;
  /** Features whose sections of `callsheet.yaml` are read, and which judge; none unless given. */
  readonly features?: readonly {
    readonly settings?: SettingsSection;
    readonly judge?: () => Promise<OpenJudge>;
  }[];
  /**
   * Gets how many resources there may be, before they are made: the number of names or files, the lines of a table,
   * and the resources found so far after each file.
   */
  readonly onCounted?: (resources: number, from: 'names' | 'files') => void;
  /** Gets the characters of each text that the stack will hold: a file, or a template as it is filled in. */
  readonly onText?: (characters: number, from: 'file' | 'template') => void;
};

/** A feature judges what the schemas do not. */
export type Judge = {
  /** Reports what it finds in resources. They are only judged once nothing else is wrong, secrets of this machine aside. */
  readonly check: (found: JudgedStack) => void;
  readonly plan: PlanRules;
};

/** Opens a judge by the settings, which are sound as far as their schema tells. Reports what is wrong with them. */
export type OpenJudge = (
  settings: Pick<Settings, 'root' | 'organizations'>,
  around: Pick<Opened, 'folder' | 'kinds'> & { readonly report: Report },
) => Promise<Judge>;

export type JudgedStack = Pick<Opened, 'variables'> & {
  readonly resources: readonly DesiredResource[];
  /** How a resource is written. */
  readonly resolvedAt: (address: Address) => ResolvedResource | undefined;
  /** The YAML files of the stack. */
  readonly files: readonly SourceFile[];
  readonly report: Report;
};

/** A stack as the configuration wants it. */
export type Stack = StackSettings & {
  readonly guards: Guards;
  /** Addresses that resources had before, and those that are let go of without a delete. */
  readonly moves: Moves;
  /** The team's own rules over plans. */
  readonly rules: PlanRules;
  /** Sections of features by their keys, as those read them; absent if they are not written. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** By order of kinds, then by address. */
  readonly resources: readonly DesiredResource[];
  /** Every place that uses a secret; put together each time it is asked for. */
  readonly secrets: readonly SecretPlace[];
  /** Follows a value back to everything that had a part in it; undefined for no resource of the stack. */
  readonly traceOrigin: (address: Address, path: Path) => Origin | undefined;
  /** The text that a field has, in pieces; undefined for no resource of the stack, and for what is no text. */
  readonly readTextParts: (address: Address, path: Path) => readonly TextPart[] | undefined;
  /** How everything is written, for those who write in it. */
  readonly written: () => WrittenStack;
  /** `sha256:…` over everything that decides the outcome; see `digest.ts`. */
  readonly digest: string;
};

/** A stack before it became data: every value with the place where it stands. */
type WrittenStack = {
  readonly resources: readonly ResolvedResource[];
  readonly variables: Variables;
  /** Its YAML files, relative to its folder. */
  readonly files: readonly string[];
  /** The organization of resources that name none. */
  readonly organization: string | undefined;
  /** The stretches of a file that hold secrets, once its resources were read. */
  readonly masked: Report['masked'];
};

export type Loaded = {
  /** Undefined when there are errors, but for `evenBroken`. */
  readonly stack: Stack | undefined;
  /** By file, line and column. */
  readonly diagnostics: readonly Diagnostic[];
  /** The YAML files of the stack that were looked at, relative to its folder. */
  readonly files: readonly string[];
};

function inOrder(resources: readonly ResolvedResource[], kinds: readonly Kind[]) {
  const order = new Map(kinds.map(({ name }, index) => [name, index]));
  return resources.toSorted(
    (a, b) =>
      (order.get(a.kind.name) ?? 0) - (order.get(b.kind.name) ?? 0) ||
      byAddress(a.address, b.address),
  );
}

/**
 * Loads the stack of a folder. A user's mistake never throws: it is a diagnostic, and every one is
 * found in one go. `kinds` is for tests of kinds that do not exist.
 */
export async function loadStack(
  options: LoadOptions,
  kinds: readonly Kind[] = allKinds,
): Promise<Loaded> {
  const dir = resolvePath(options.dir);
  const refused = refuseFolder(dir);
  if (refused !== undefined) {
    return { stack: undefined, diagnostics: [{ severity: 'error', ...refused }], files: [] };
  }
  const report = openReport();
  const opened = openParts(
    openFolder(dir, options.instead, (read) => options.onText?.(read, 'file')),
    { ...options, dir },
    kinds,
    report,
  );
  options.onCounted?.(opened.others.length, 'names');
  return loadWhole(opened, report);
}

/** Resolves and checks everything. */
async function loadWhole(opened: Opened, report: Report): Promise<Loaded> {
  const { folder, options, kinds, settings } = opened;
  const parts = readParts(opened, report);
  const resources = inOrder(parts.resources, kinds);
  const files = listFiles(opened);
  const ruled = notingErrors(report);
  const judges = await openJudges(opened, ruled.report);
  const rules = allRules(judges);
  const isSound = !report.hasErrors();
  checkSecrets(resources, folder, options, report);
  const broken = () => {
    const isUsable = options.evenBroken === true && opened.isUsable && !ruled.hasErrors();
    const stack =
      isUsable && settings && makeStack(opened, settings, rules, makeNothing(settings, resources));
    return { stack: stack || undefined, diagnostics: report.diagnostics(), files };
  };
  const sections = await readSections(opened, isSound ? resources : null, report);
  if (settings === undefined || !isSound) return broken();
  const desired = resources.map(toDesired);
  let byAddress: ReadonlyMap<Address, ResolvedResource> | undefined;
  const resolvedAt = (address: Address) => {
    byAddress ??= byAddressIn(resources);
    return byAddress.get(address);
  };
  const judged = { resources: desired, resolvedAt, files: parts.files, report };
  for (const { check } of judges) check({ ...judged, variables: opened.variables });
  const diagnostics = report.diagnostics();
  if (report.hasErrors()) return broken();
  let digest: string | undefined;
  let secrets: Stack['secrets'] | undefined;
  const stack = makeStack(opened, settings, rules, {
    resources: desired,
    moves: parts.moves,
    sections,
    get secrets() {
      secrets ??= secretPlaces(resources);
      return secrets;
    },
    // Most commands that load a stack never ask for it, and it reads every text there is.
    get digest() {
      digest ??= digestStack(settings, desired, parts.moves);
      return digest;
    },
    resolved: () => resources,
    resolvedAt,
    masked: report.masked,
  });
  return { stack, diagnostics, files };
}

async function openJudges(
  { settings, folder, kinds, options: { features = [] } }: Opened,
  report: Report,
): Promise<readonly Judge[]> {
  if (settings === undefined) return [];
  const judges: Judge[] = [];
  for (const { judge } of features) {
    if (judge !== undefined)
      judges.push(await (await judge())(settings, { folder, kinds, report }));
  }
  return judges;
}

/** The rules of all judges over plans as one function. */
function allRules(judges: readonly Judge[]): PlanRules {
  const all = judges.map(({ plan }) => plan);
  const judge: PlanRules = (plan, now) => {
    const found = all.map((rules) => rules(plan, now));
    return {
      refusals: found.flatMap(({ refusals }) => refusals),
      notes: found.flatMap(({ notes }) => notes),
    };
  };
  return Object.assign(judge, { readsCalls: all.some(({ readsCalls }) => readsCalls) });
}

/** Has features read their sections, of those that are written. */
async function readSections(
  { settings, options: { features = [] } }: Opened,
  resources: readonly ResolvedResource[] | null,
  report: Report,
): Promise<Stack['sections']> {
  const sections: Record<string, unknown> = {};
  if (settings === undefined) return sections;
  for (const { settings: section } of features) {
    if (section === undefined || followPath(settings.root, [section.key]) === undefined) continue;
    sections[section.key] = (await section.load())(settings.root, resources, report);
  }
  return sections;
}

/** The parts of a stack beside the settings of `callsheet.yaml`. */
type Made = Pick<Stack, 'resources' | 'moves' | 'secrets' | 'digest' | 'sections'> & {
  readonly resolved: () => readonly ResolvedResource[];
  readonly resolvedAt: (address: Address) => ResolvedResource | undefined;
  readonly masked: Report['masked'];
};

/** Makes a stack without resources, as some are wrong. The places of secrets are those that were understood. */
function makeNothing(settings: Settings, resources: readonly ResolvedResource[]): Made {
  const moves: Moves = { moved: NONE, forget: NONE };
  return {
    resources: NONE,
    moves,
    sections: {},
    secrets: secretPlaces(resources),
    digest: digestStack(settings, NONE, moves),
    resolved: () => NONE,
    resolvedAt: () => undefined,
    masked: () => NONE,
  };
}

function makeStack(opened: Opened, settings: Settings, rules: PlanRules, made: Made): Stack {
  const { environment } = opened.options;
  const { dir } = opened.folder;
  const { platform, organizations, organization, state, id, guards } = settings;
  return {
    dir,
    environment,
    platform,
    organizations,
    organization,
    state,
    id,
    guards,
    moves: made.moves,
    rules,
    sections: made.sections,
    resources: made.resources,
    get secrets() {
      return made.secrets;
    },
    traceOrigin: (address, path) => {
      const resource = made.resolvedAt(address);
      return resource && traceOrigin(resource, path, { ...opened, masked: made.masked });
    },
    readTextParts: (address, path) => {
      const resource = made.resolvedAt(address);
      return resource && readTextParts(resource, path, opened);
    },
    written: () => ({
      resources: made.resolved(),
      variables: opened.variables,
      files: listFiles(opened),
      organization,
      masked: made.masked,
    }),
    get digest() {
      return made.digest;
    },
  };
}

function byAddressIn(resources: readonly ResolvedResource[]) {
  return new Map(resources.map((one) => [one.address, one]));
}

const NONE: readonly never[] = [];

/** A resource without holes, as the rest of Callsheet knows it. Only called once nothing is wrong. */
function toDesired(resource: ResolvedResource): DesiredResource {
  const { kind, address, document, lifecycle, refs, inClear, ownPlace, findRange } = resource;
  const position = toPosition(ownPlace);
  return {
    address,
    kind: kind.name,
    // Without errors there is no `Failed` in it.
    document: document as ValueObject,
    lifecycle,
    isPartial: false,
    inClear,
    references: refs.length === 0 ? NONE : [...new Set(refs.map((ref) => ref.address))],
    position,
    locate: (path) => {
      const range = findRange(path);
      return range === undefined ? position : toPosition(range);
    },
  };
}

/**
 * `sha256:…` over everything of a stack that decides what a plan does, and nothing else: comments, file
 * names of the YAML and the order of keys do not change it. Files enter by their content, secrets by
 * where they are read from. Freeze windows say when a plan may run, not what it does: they are asked when it
 * is applied, and one that is added later neither makes a plan stale nor lifts a hold. Sections of features say
 * how a plan is carried out: each plan does the same, whatever they say.
 */
function digestStack(
  { platform, organizations, guards }: Pick<Settings, 'platform' | 'organizations' | 'guards'>,
  resources: readonly DesiredResource[],
  moves: Moves,
): string {
  const { base_url, endpoints, assume } = platform;
  const { freeze: _, ...limits } = guards;
  return computeDigest({
    platform: { base_url, endpoints, assume },
    organizations,
    guards: limits,
    ...(moves.moved.length > 0 ? { moved: moves.moved } : {}),
    ...(moves.forget.length > 0 ? { forget: moves.forget } : {}),
    resources: resources.map(({ address, kind, document, lifecycle }) => ({
      address,
      kind,
      ...apart(kind, document),
      lifecycle,
    })),
  });
}

/** Fields newer than the schema enter apart: a schema that comes to know one makes another digest. */
function apart(kind: string, document: ValueObject) {
  const { schema } = kindNamed(kind);
  const entries = Object.entries(document);
  const isNamed = ([field]: (typeof entries)[number]) => namesField(schema, field);
  if (entries.every(isNamed)) return { document, unchecked: {} };
  return {
    document: Object.fromEntries(entries.filter(isNamed)),
    unchecked: Object.fromEntries(entries.filter((entry) => !isNamed(entry))),
  };
}

/**
 * Reports every place that uses a secret which no stack may have; with `check`, also those which cannot be had now.
 */
function checkSecrets(
  resources: readonly ResolvedResource[],
  folder: Folder,
  options: LoadOptions,
  report: Report,
) {
  for (const { address, secrets } of resources) {
    for (const { source, path, range } of secrets) {
      const words = secretProblem(source, folder, options);
      if (words === undefined) continue;
      const field = formatPath(path);
      report.add({
        ...words,
        message: `${address}: ${field} ${words.message}`,
        address,
        path: field,
        range,
      });
    }
  }
}

function secretProblem(
  source: string,
  folder: Folder,
  { env, secrets: wanted }: Pick<LoadOptions, 'env' | 'secrets'>,
) {
  const words = checkSecret(source, env, folder);
  return words !== undefined && wanted === 'skip' && ABSENT.has(words.rule) ? undefined : words;
}

/** Every place of the stack that uses a secret. */
function secretPlaces(resources: readonly ResolvedResource[]): readonly SecretPlace[] {
  return resources.flatMap(({ address, secrets }) =>
    secrets.map(({ source, path, range }) => ({
      source,
      address,
      path: formatPath(path),
      position: toPosition(range),
    })),
  );
}

/** The contents of a stack's files, before wrong parts are left out. */
type Parts = {
  readonly resources: readonly ResolvedResource[];
  readonly moves: Moves;
  readonly files: readonly SourceFile[];
};

/** A file of the stack, with its text where that could be read. */
type SourceFile = Pick<StackFile, 'file' | 'source'>;

/** The map of `callsheet.yaml`; an empty file is an empty map, in which everything is missing. */
function settingsRoot(root: SyntaxNode | undefined): MapNode | undefined {
  if (root?.type === 'scalar' && root.empty) {
    return { type: 'map', range: root.range, members: new Map() };
  }
  return root?.type === 'map' ? root : undefined;
}

/** The contents of a `callsheet.yaml` that could not be read. */
const UNREADABLE = {
  root: undefined,
  patches: [],
  variables: unreadableVariables,
  settings: undefined,
};

/** `callsheet.yaml`, what it says, and which other files there are. */
type Opened = {
  readonly main: StackFile;
  /** With its environment. */
  readonly root: MapNode | undefined;
  readonly patches: readonly Patch[];
  readonly variables: Variables;
  readonly settings: Settings | undefined;
  /** True if the settings are good enough to use where something else is wrong. */
  readonly isUsable: boolean;
  /** The YAML files beside it. */
  readonly others: readonly string[];
  /** Those of them that may hold bases, which are read before the resources that stand on them. */
  readonly withBases: () => ReadonlySet<string>;
  readonly folder: Folder;
  readonly options: LoadOptions;
  readonly kinds: readonly Kind[];
};

function openParts(
  folder: Folder,
  options: LoadOptions,
  kinds: readonly Kind[],
  report: Report,
): Opened {
  const names = secretNames(kinds);
  const noted = notingErrors(report, isOfRollback);
  const main = readStackFile(folder, STACK_FILE, names, noted.report);
  const written = settingsRoot(main.root);
  const read =
    written === undefined
      ? UNREADABLE
      : openSettings(written, folder, options, names, noted.report);
  const isUsable = written !== undefined && !noted.hasErrors();
  const others = otherFiles(read.settings, folder, options, report);
  let found: ReadonlySet<string> | undefined;
  const withBases = () => {
    found ??= new Set(others.filter((file) => mayHoldBases(folder, file)));
    return found;
  };
  return { ...read, isUsable, main, others, withBases, folder, options, kinds };
}

/** The files of a stack as they are named to people, `callsheet.yaml` first. */
function listFiles({ others, withBases }: Opened): readonly string[] {
  const first = withBases();
  return [STACK_FILE, ...first, ...others.filter((file) => !first.has(file))];
}

/** Resolves every resource of the files, and what their blocks hand down. */
function readParts(opened: Opened, report: Report): Parts {
  const { main, root, patches, variables, settings, folder, options, kinds } = opened;
  const { environment } = options;
  const names = secretNames(kinds);
  const rowFiles = openRowFiles(kinds, variables, report);
  const collector = openCollector(kinds, report, settings === undefined ? 'unknown' : 'known');
  const broken: Broken[] = [];
  const sure = suppressUncertain(report, broken);
  const kindNames = new Set(kinds.map(({ name }) => name));
  const surroundings: Surroundings = {
    report: sure,
    variables,
    folder,
    isResourceFile: rowFiles.isResourceFile,
    isKind: (name) => kindNames.has(name),
    secretNames: names,
    onLines: (lines) => options.onCounted?.(lines, 'files'),
    onText: (characters) => options.onText?.(characters, 'template'),
    unchosen: environment === undefined ? listEnvironments(root).map(({ key }) => key) : [],
    organization:
      settings === undefined ? () => 'unreadable' : lookupOrganization(settings.organizations),
    defaultOrganization: settings === undefined ? 'failed' : settings.organization,
  };
  const files: SourceFile[] = [];
  const collect = ({ file, source, root: read, broken: isBroken }: StackFile): WrittenPart => {
    const isMain = file === STACK_FILE;
    files.push({ file, source });
    if (isBroken) broken.push(source ?? 'unknown');
    if (read === undefined || !rowFiles.add({ root: read, main: isMain })) return NOTHING;
    return collector.add(read, isMain);
  };
  const withBases = opened.withBases();
  const read = (file: string) => collect(readStackFile(folder, file, names, report));
  const first = [collect(main), ...[...withBases].map(read)];
  const resolver = openResolver(collector, patches, options, surroundings);
  for (let part = first.shift(); part !== undefined; part = first.shift()) resolver.add(part);
  // From here on one file at a time is held: its resources are resolved before the next is read.
  for (const file of opened.others)
    if (!withBases.has(file) && file !== STACK_FILE) resolver.add(read(file));
  for (const left of rowFiles.settle()) resolver.add(collector.add(left.root, left.main));
  const { resources, addresses } = resolver.finish(patchBodiesIn(root));
  checkReferences(resources, addresses, sure);
  checkNames(resources, report);
  checkContents(resources, report);
  const moves = readMoves(collector.shared, addresses, surroundings.isKind, sure);
  return { files, resources, moves };
}

const NOTHING: WrittenPart = { resources: [], blocks: [] };

/**
 * Returns true if a file may hold bases, which are read before the resources that stand on them. A key can also be
 * written with escapes.
 */
function mayHoldBases(folder: Folder, file: string): boolean {
  const read = folder.text(file);
  return !isUnreadable(read) && /\bbases\b|"[^"]*\\/.test(read.source.text);
}

/** The YAML files beside `callsheet.yaml`. */
function otherFiles(
  settings: Settings | undefined,
  folder: Folder,
  { dir, varFiles }: LoadOptions,
  report: Report,
): readonly string[] {
  const { files, problems } = discover(dir, settings?.include, varFiles ?? [], folder);
  for (const problem of problems) report.add(problem);
  return files;
}

/** Lays resources over their bases and under the environment's patches, and resolves what that gives. */
function openResolver(
  written: Collector,
  environmentPatches: readonly Patch[],
  { environment, onCounted }: LoadOptions,
  surroundings: Surroundings,
) {
  const bases = openBases(written.bases, surroundings);
  const patches = openPatches(environmentPatches, environment ?? '', surroundings.report);
  const composing = { bases, mergedBases: openMergedBases(), patches, surroundings };
  const blocks = new Map<ParentBlock, Inherited>();
  const resources: ResolvedResource[] = [];
  const loops = new Map<Address, () => readonly ComposedResource[]>();
  const resolve = (composed: ComposedResource) => {
    const inherited = composed.block && blocks.get(composed.block);
    resources.push(resolveResource(composed, inherited, surroundings));
  };
  return {
    add: (part: WrittenPart): void => {
      for (const block of part.blocks) blocks.set(block, resolveBlock(block, surroundings));
      for (const resource of part.resources) {
        const composed = compose(resource, composing);
        if (typeof composed === 'function') loops.set(resource.address, composed);
        else resolve(composed);
      }
      onCounted?.(resources.length, 'files');
    },
    /** Called once every file was added. `allPatches` are those of all environments. */
    finish: (allPatches: readonly MapNode[]) => {
      const rows = [...loops.values()].flatMap((read) => read());
      onCounted?.(resources.length + rows.length, 'files');
      for (const row of rows) resolve(row);
      const single = [...written.addresses.keys()].filter((address) => !loops.has(address));
      const addresses = new Set([...single, ...rows.map(({ address }) => address)]);
      // A base that another environment uses, or this one uses no longer, is not in vain.
      bases.noteNamed(allPatches);
      bases.reportUnused();
      patches.reportUnmet(addresses);
      return { resources, addresses };
    },
  };
}

/** A file that could not be read: its text, where that much is known of it. */
type Broken = Source | 'unknown';

/** Rules about names that are not found, or that nothing uses: a broken file may have them. */
const ABOUT_OTHERS: readonly string[] = [
  'base/unknown',
  'base/unused',
  'environment/patch',
  'moved/unknown',
  'ref/unknown',
];

/** The name that a problem is about, as it stands at its place: `desk` of `agent.desk["a"]`. */
function nameAt({ range }: Problem): string {
  const text = range?.source.text.slice(range.start, range.end) ?? '';
  const plain = text.replace(/^["']|["']$/g, '').replace(/\[.*$/s, '');
  return plain.split('.').at(-1) ?? '';
}

function holdsName(broken: Broken, name: string): boolean {
  if (broken === 'unknown' || !/^[\w-]+$/.test(name)) return true;
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(broken.text);
}

/** A report that leaves out what one broken file may be the only reason for. Files are added as they are read. */
function suppressUncertain(report: Report, broken: readonly Broken[]): Report {
  return {
    ...report,
    add: (problem) => {
      const isUncertain =
        ABOUT_OTHERS.includes(problem.rule) &&
        broken.some((file) => holdsName(file, nameAt(problem)));
      if (!isUncertain) report.add(problem);
    },
  };
}
