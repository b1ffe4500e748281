import { resolve as resolvePath } from 'node:path';
import type { Diagnostic } from '../core/diagnostics.ts';
import { checkEndpoints, type EndpointProblem, type WrittenEndpoint } from '../core/endpoints.ts';
import { didYouMean } from '../core/nearest.ts';
import { baseUrlFault, type NamedBy, readHttpAddress } from '../core/origin.ts';
import { DRIFT_POLICIES, type FreezeWindow, type Guards } from '../core/plan-document.ts';
import { memberSchema } from '../core/schema.ts';
import type { StatePlace } from '../core/stores.ts';
import { findText, getOwn, isUuid } from '../core/value.ts';
import { kinds } from '../kinds/index.ts';
import { operations } from '../platform/operations.generated.ts';
import { enterEnvironment } from './compose.ts';
import { notingErrors, openReport, type Problem, type Report } from './diagnostics.ts';
import { type Pattern, patternsIn } from './discover.ts';
import { type Folder, openFolder, refuseFolder, STACK_FILE } from './folder.ts';
import { readDates, readTimes } from './formats.ts';
import { mergeLayers } from './merge.ts';
import { resolve } from './resolve.ts';
import type { LocatedValue } from './resolved.ts';
import {
  type Context,
  isResolvedList,
  locateRoot,
  memberField,
  type OrganizationLookup,
  type Resolved,
  type ResolvedObject,
  rootField,
  textMembers,
  textsAmong,
  toObject,
} from './resolved.ts';
import type { ResolvedResource } from './resource.ts';
import { namedField, secretNames } from './schema.ts';
import { FEATURE_SECTIONS, METHODS, settingsSchema, UNNEEDED_SECTIONS } from './settings-schema.ts';
import {
  findMember,
  type MapNode,
  type Member,
  membersIn,
  type SourceRange,
  type SyntaxNode,
  toPosition,
  withKeys,
} from './source.ts';
import { refuseState, reportStateAddresses, reportStateFile, statePlace } from './state-place.ts';
import { validate } from './validate.ts';
import {
  readVariables,
  unreadableVariables,
  type VariableInputs,
  type Variables,
} from './variables.ts';
import { readStackFile } from './yaml.ts';

/** Which stack is meant, and what the caller gives it. */
export type SettingsOptions = VariableInputs & {
  /** The stack folder. */
  readonly dir: string;
  /** `--env`: the environment of `callsheet.yaml` that is laid over the stack. */
  readonly environment?: string | undefined;
};

/** Which platform the stack is applied to, and how far its specification may be filled in. */
type Platform = {
  /** Undefined where `callsheet.yaml` says nothing. */
  readonly base_url: string | undefined;
  /** By name of operation. */
  readonly endpoints: Readonly<Record<string, WrittenEndpoint>>;
  /** True if operations that the specification does not show may be used. */
  readonly assume: boolean;
  /** Who names the base address. */
  readonly by: NamedBy;
};

/** A section of `callsheet.yaml` that a feature reads; its schema is the feature's `settings.schema.json`. */
export type SettingsSection = {
  readonly key: string;
  /** Loads what reads it; asked only where the section is written. What it reads is `stack.sections[key]`. */
  readonly load: () => Promise<ReadSection>;
};

/** `root`: all settings. `resources`: null where something else is wrong, so that they are not all known. */
export type ReadSection = (
  root: LocatedValue,
  resources: readonly ResolvedResource[] | null,
  report: Report,
) => unknown;

/** The settings of `callsheet.yaml`, without the resources it may hold. */
export type Settings = Pick<StackSettings, 'platform' | 'organizations' | 'state' | 'id'> & {
  /** The id of the default organization; `failed` where it is named but unknown, which was reported. */
  readonly organization: string | 'failed' | undefined;
  readonly include: readonly Pattern[] | undefined;
  readonly guards: Guards;
  /** All of it, as it was written and became. */
  readonly root: LocatedValue;
};

function onlyStackMembers(root: MapNode): MapNode {
  const known = Object.keys(settingsSchema.properties ?? {});
  return withKeys(root, (key) => known.includes(key) && !APART.includes(key));
}

/**
 * Finds who names the base address. A variable that is all of the address stands for the source of its value: the
 * command line, or the stack with a default. A file of variables may lie in the repository, and which variable of
 * the environment is meant is the stack's word.
 */
function whoNames(node: SyntaxNode, variables: Variables): NamedBy {
  const [, name] = (node.type === 'scalar' && /^\$\{var\.([\w-]+)\}$/.exec(node.text)) || [];
  const origin = name === undefined ? undefined : variables.findOrigin(name);
  return origin?.by === '--var' ? 'operator' : toPosition(origin?.range ?? node.range);
}

function readPlatform(
  value: Resolved | undefined,
  written: SyntaxNode | undefined,
  variables: Variables,
): Platform {
  const platform = toObject(value);
  const address = findMember(written, 'base_url')?.value;
  const endpoints = Object.entries(toObject(platform.endpoints)).map(
    ([operation, given]): [string, WrittenEndpoint] => [operation, textMembers(given)],
  );
  return {
    base_url: findText(platform.base_url),
    endpoints: Object.fromEntries(endpoints),
    assume: platform.assume !== false,
    by: address === undefined ? 'operator' : whoNames(address, variables),
  };
}

/** Looks a name up among those of `callsheet.yaml`. */
export function lookupOrganization(organizations: Readonly<Record<string, string>>) {
  return (name: string): OrganizationLookup => {
    const id = getOwn(organizations, name);
    return id === undefined ? { others: Object.keys(organizations) } : { id };
  };
}

/** Names of organizations as they are known before their ids are checked. */
function namedOrganizations(value: Resolved | undefined): Readonly<Record<string, string>> {
  const named = Object.entries(toObject(value)).map(([name, id]): [string, string] => [
    name,
    findText(id) ?? '',
  ]);
  return Object.fromEntries(named);
}

type StackDeps = {
  readonly folder: Folder;
  readonly variables: Variables;
  readonly report: Report;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of the environment that is chosen. */
  readonly environment?: string | undefined;
  /** See `Surroundings`. */
  readonly secretNames: readonly string[];
};

/**
 * A stack can be checked without knowing which platform it is for: what needs a base address says so
 * when it finds none.
 */
function lenient(problem: Problem): Problem {
  const unneeded = problem.rule === 'variable/missing' && problem.path === 'platform.base_url';
  return unneeded ? { ...problem, severity: 'warning' } : problem;
}

/** `callsheet.yaml` with its environment laid over it, and what it says. */
export function openSettings(
  written: MapNode,
  folder: Folder,
  options: SettingsOptions,
  secretNames: readonly string[],
  report: Report,
) {
  const { env, environment } = options;
  const { root, patches } = enterEnvironment(written, environment, folder.dir, report);
  const variables = readVariables(findMember(root, 'variables')?.value, options, report);
  const deps = { folder, variables, report, env, environment, secretNames };
  return { root, patches, variables, settings: readSettings(root, deps) };
}

/** Reads the settings of `callsheet.yaml`. What is wrong is reported, and its default stands in. */
function readSettings(root: MapNode, deps: StackDeps): Settings {
  const { folder, variables, report } = deps;
  const written = onlyStackMembers(root);
  const state = findMember(written, 'state')?.value;
  const refused = refuseState(state, report);
  const organizations = findMember(written, 'organizations')?.value;
  const context: Context = {
    subject: STACK_FILE,
    address: undefined,
    report: { ...report, add: (problem) => report.add(lenient(problem)) },
    variables,
    organization: (name) => lookupOrganization(known)(name),
    defaultOrganization: undefined,
    folder,
    isResourceFile: () => false,
    isKind: () => false,
    secretNames: deps.secretNames,
    unchosen: [],
    refs: [],
    secrets: [],
  };
  // Names come first: the default organization may be one of them.
  const silent: Context = { ...context, report: { ...report, add: () => {} } };
  const known =
    organizations === undefined
      ? {}
      : namedOrganizations(resolve(organizations, settingsField('organizations'), silent));
  const readable = withKeys(written, (key) => !(refused && key === 'state'));
  const resolved = toObject(resolve(readable, rootField(settingsSchema), context));
  const document = { ...resolved, ...resolveApart(root, context) };
  const located = locateRoot(settingsSchema, document, root, {
    ...root.range,
    end: root.range.start,
  });
  validate({ subject: STACK_FILE, address: undefined, root: located }, report);
  const { organization, guards } = resolved;
  const patterns = patternsIn(written, variables);
  const writtenPlatform = findMember(written, 'platform')?.value;
  const platform = readPlatform(resolved.platform, writtenPlatform, variables);
  reportBaseUrl(platform.base_url, root, report);
  reportEndpoints(platform.endpoints, findMember(writtenPlatform, 'endpoints')?.value, report);
  reportStateAddresses(resolved.state, state, report);
  const place = statePlace(resolved.state, {
    ...deps,
    dir: folder.dir,
    environment: deps.environment,
    written: state,
    id: findText(resolved.stack),
  });
  reportStateFile(place, { ...deps, written: state });
  return {
    platform,
    organizations: Object.fromEntries(Object.entries(known).filter(([, value]) => isUuid(value))),
    organization: organization === undefined ? undefined : (findText(organization) ?? 'failed'),
    // Without a usable pattern everything is read, so that the problems of other files are found.
    include: patterns?.length === 0 ? undefined : patterns,
    state: place,
    id: findText(resolved.stack),
    guards: readGuards(guards, findMember(written, 'guards')?.value),
    root: located,
  };
}

/**
 * Reports a base address that no command would use: one with credentials in it, or that would send them
 * in clear. That it is an address at all is in the schema of the settings.
 */
function reportBaseUrl(text: string | undefined, root: SyntaxNode, report: Report): void {
  if (text === undefined || readHttpAddress(text) === undefined) return;
  const fault = baseUrlFault(text);
  if (fault === undefined) return;
  redactCredentials(root, report);
  const range = findMember(findMember(root, 'platform')?.value, 'base_url')?.value.range;
  report.add({
    rule: 'platform/base-url',
    message: `${STACK_FILE}: platform.${fault.message}`,
    hint: fault.hint,
    path: 'platform.base_url',
    range,
  });
}

/** Keeps addresses with credentials out of frames, in the platform and in the defaults of variables. */
function redactCredentials(root: SyntaxNode, report: Report): void {
  const defaults = membersIn(findMember(root, 'variables')?.value).map(
    ({ value }) => findMember(value, 'default')?.value,
  );
  const address = findMember(findMember(root, 'platform')?.value, 'base_url')?.value;
  for (const node of [address, ...defaults]) {
    if (node?.type === 'scalar' && /^https?:.*[@?#]/.test(node.text)) report.mask(node.range);
  }
}

/**
 * Reports overrides of operations that there are not, and paths that could not be called. The rest of
 * their form is in the schema of the settings.
 */
function reportEndpoints(
  endpoints: { readonly [operation: string]: WrittenEndpoint },
  written: SyntaxNode | undefined,
  report: Report,
): void {
  for (const problem of checkEndpoints(endpoints, operations)) {
    if (isInSchema(problem, endpoints)) continue;
    const { operation, member, message, candidates } = problem;
    const override = findMember(written, operation);
    const field = member === undefined ? undefined : findMember(override?.value, member);
    report.add({
      rule: member === undefined ? 'platform/operation' : `platform/${member}`,
      message: `${STACK_FILE}: platform.endpoints: ${message}`,
      hint:
        member !== undefined
          ? undefined
          : didYouMean(
              operation,
              candidates,
              '`callsheet explain assumptions --verbose` lists the operations that a platform can have at another path',
            ),
      path: ['platform', 'endpoints', operation, ...(member === undefined ? [] : [member])].join(
        '.',
      ),
      range: field?.value.range ?? override?.keyPlace,
    });
  }
}

/** The schema says which methods there are and that a path begins with a slash. */
function isInSchema(
  { operation, member }: EndpointProblem,
  endpoints: { readonly [operation: string]: WrittenEndpoint },
): boolean {
  const { method = '', path = '' } = endpoints[operation] ?? {};
  if (member === 'method') return !METHODS.includes(method);
  return member === 'path' && !path.startsWith('/');
}

/** The `guards:` of a stack. What is wrong was reported by its schema, and is left out here. */
function readGuards(value: Resolved | undefined, written: SyntaxNode | undefined): Guards {
  const { max_delete, max_change_percent, min_resources, drift, freeze } = toObject(value);
  const limits = Object.entries({ max_delete, max_change_percent, min_resources });
  const policy = DRIFT_POLICIES.find((one) => one === drift);
  const list = findMember(written, 'freeze')?.value;
  const nodes = list?.type === 'list' ? list.items : [];
  const windows = isResolvedList(freeze) ? freeze : [];
  const frozen = windows.flatMap((one, index) => {
    const range = nodes[index]?.range ?? list?.range;
    return range === undefined ? [] : (readWindow(one, range) ?? []);
  });
  return {
    ...Object.fromEntries(limits.filter(([, limit]) => typeof limit === 'number')),
    ...(policy === undefined ? {} : { drift: policy }),
    ...(frozen.length === 0 ? {} : { freeze: frozen }),
  };
}

function readWindow(value: Resolved, range: SourceRange): FreezeWindow | undefined {
  const { zone, weekdays, hours, dates, reason } = toObject(value);
  if (typeof zone !== 'string') return undefined;
  const spans = textsAmong(dates).map(readDates);
  const { file, line } = toPosition(range);
  return {
    zone,
    ...readTimes(hours, weekdays === undefined ? undefined : textsAmong(weekdays)),
    ...(dates === undefined
      ? {}
      : { dates: spans.flatMap((span) => ('value' in span ? [span.value] : [])) }),
    ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
    source: `${file}:${line}`,
  };
}

/** Members that are read by themselves: variables come from there, or another environment has them. */
const APART: readonly string[] = ['variables', 'environments'];

function settingsField(name: string) {
  return memberField(rootField(settingsSchema), name);
}

/** Resolves the declarations of variables and what environments say, with nothing filled in. */
function resolveApart(root: MapNode, context: Context): ResolvedObject {
  const unfilled: Context = {
    ...context,
    variables: unreadableVariables,
    organization: () => 'unreadable',
  };
  const members = APART.flatMap((name): [string, Resolved][] => {
    const written = findMember(root, name)?.value;
    return written === undefined
      ? []
      : [
          [
            name,
            resolve(
              name === 'environments' ? withoutPatches(written) : written,
              settingsField(name),
              unfilled,
            ),
          ],
        ];
  });
  return Object.fromEntries(members);
}

/**
 * Environments as they are by themselves: what one takes away from the settings or replaces there is no value. Patches
 * are checked with the resources that they are laid over.
 */
function withoutPatches(environments: SyntaxNode): SyntaxNode {
  if (environments.type !== 'map') return environments;
  const all = namedField(settingsSchema, 'environments') ?? {};
  const members = membersIn(environments).map((member): [string, Member] => {
    const { key, value } = member;
    if (value.type !== 'map') return [key, member];
    const own = withKeys(value, (name) => name !== 'patches');
    const nothing = { ...value, members: new Map() };
    const schema = memberSchema(settingsSchema, all, key);
    const over = mergeLayers(nothing, own, schema, { root: settingsSchema, add: () => {} });
    return [key, { ...member, value: over }];
  });
  return { ...environments, members: new Map(members) };
}

/** The settings of `callsheet.yaml` that every command may need. */
export type StackSettings = {
  /** Absolute path of the stack folder. */
  readonly dir: string;
  readonly platform: Platform;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the default organization: that of resources that name none. */
  readonly organization: string | undefined;
  /** For a state in a file, the absolute path. */
  readonly state: StatePlace;
  /** The value of `stack:`; undefined where it is not set. */
  readonly id: string | undefined;
  /** The environment that was chosen. */
  readonly environment: string | undefined;
};

/**
 * Returns true if a problem concerns a rollback: it is about the platform, the state, organizations, guards or rules.
 */
export function isOfRollback(problem: Problem): boolean {
  return !UNNEEDED_SECTIONS.includes(getMember(problem));
}

/** The member of `callsheet.yaml` that a problem is about. */
function getMember({ path = '' }: Problem): string {
  return path.split(/[.[]/)[0] ?? '';
}

/** Returns true if a problem is about places, the only settings that matter to commands other than runs. */
function isOfPlaces(problem: Problem): boolean {
  return isOfRollback(problem) && !['guards', ...FEATURE_SECTIONS].includes(getMember(problem));
}

/**
 * Reads `callsheet.yaml` alone, for commands that need to know where the platform is and not what should
 * be there. A resource that is wrong does not stand in their way. `settings` is undefined where
 * `callsheet.yaml` itself is wrong.
 */
export function loadSettings(options: SettingsOptions): {
  readonly settings: StackSettings | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const dir = resolvePath(options.dir);
  const refused = refuseFolder(dir);
  if (refused !== undefined) {
    return { settings: undefined, diagnostics: [{ severity: 'error', ...refused }] };
  }
  const { report, hasErrors } = notingErrors(openReport(), isOfPlaces);
  const folder = openFolder(dir);
  const names = secretNames(kinds);
  const { root: written } = readStackFile(folder, STACK_FILE, names, report);
  if (written?.type !== 'map') {
    if (hasErrors()) return { settings: undefined, diagnostics: report.diagnostics() };
    const hint = 'To see its errors: `callsheet validate`.';
    report.add({ rule: 'stack/settings', message: `${STACK_FILE} has no valid settings`, hint });
    return { settings: undefined, diagnostics: report.diagnostics() };
  }
  const { settings } = openSettings(written, folder, options, names, report);
  const { platform, organizations, organization, state, id } = settings;
  const diagnostics = report.diagnostics();
  if (hasErrors()) return { settings: undefined, diagnostics };
  return {
    settings: {
      dir,
      platform,
      organizations,
      organization: organization === 'failed' ? undefined : organization,
      state,
      id,
      environment: options.environment,
    },
    diagnostics,
  };
}
