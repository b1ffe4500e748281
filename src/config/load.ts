import { resolve as resolvePath } from 'node:path';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { type Diagnostic, hasErrors } from '../core/diagnostics.ts';
import type { Guards } from '../core/guards.ts';
import type { Path } from '../core/path.ts';
import { kinds as allKinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { openBases } from './bases.ts';
import { type Inherited, resolveBlock } from './block.ts';
import { compose } from './compose.ts';
import { toDesired } from './desired.ts';
import { digestStack } from './digest.ts';
import { discover, STACK_FILE } from './discover.ts';
import { checkNames } from './duplicates.ts';
import { enterEnvironment } from './environment.ts';
import { type Origin, originOf } from './explain.ts';
import { type Folder, openFolder } from './folder.ts';
import { secretNames } from './masks.ts';
import { type Moves, readMoves } from './moves.ts';
import { openPatches, type Patch } from './patches.ts';
import { openReport, type Report } from './problems.ts';
import { checkReferences } from './references.ts';
import { refuseFolder } from './refuse-folder.ts';
import type { Surroundings } from './resolved.ts';
import { type ResolvedResource, resolveResource } from './resource.ts';
import { collectResources, type WrittenBlock, type WrittenResources } from './resources.ts';
import { withoutRows } from './row-files.ts';
import { checkSecrets, secretPlaces } from './secret-places.ts';
import type { SecretPlace } from './secrets.ts';
import { lookupOrganization, type Platform, readSettings, type Settings } from './settings.ts';
import { readStackFile, type StackFile } from './stack-file.ts';
import { readVariables, unreadableVariables, type Variables } from './variables.ts';
import { memberOf, type Written, type WrittenMap } from './written.ts';

export type LoadOptions = {
  /** The stack folder. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--var`, by name. */
  readonly vars?: Readonly<Record<string, string>>;
  /** `--var-file`: absolute, or relative to the working directory. Later ones win. */
  readonly varFiles?: readonly string[];
  /** `--env`: the environment of `callsheet.yaml` that is laid over the stack. */
  readonly environment?: string | undefined;
  /** Whether it is an error that a secret cannot be had now. */
  readonly secrets: 'check' | 'skip';
};

/** A stack as the configuration wants it. */
export type Stack = {
  /** Absolute path of its folder. */
  readonly dir: string;
  readonly platform: Platform;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Absolute path of the state file. */
  readonly state: { readonly file: string };
  readonly guards: Guards;
  /** Addresses that resources had before, and those that are let go of without a delete. */
  readonly moves: Moves;
  /** By order of kinds, then by address. */
  readonly resources: readonly DesiredResource[];
  /** Every place that uses a secret. */
  readonly secrets: readonly SecretPlace[];
  /** Follows a value back to everything that had a part in it; undefined for no resource of the stack. */
  readonly originOf: (address: Address, path: Path) => Origin | undefined;
  /** `sha256:…` over everything that decides the outcome; see `digest.ts`. */
  readonly digest: string;
};

export type Loaded = {
  /** Undefined when there are errors. */
  readonly stack: Stack | undefined;
  /** By file, line and column. */
  readonly diagnostics: readonly Diagnostic[];
  /** The YAML files of the stack that were looked at, relative to its folder. */
  readonly files: readonly string[];
};

type Parts = {
  readonly files: readonly string[];
  readonly settings: Settings | undefined;
  readonly resources: readonly ResolvedResource[];
  readonly moves: Moves;
  readonly variables: Variables;
  /** `callsheet.yaml`, with its environment. */
  readonly root: WrittenMap | undefined;
};

/** The map of `callsheet.yaml`; an empty file is an empty map, in which everything is missing. */
function settingsRoot(root: Written | undefined): WrittenMap | undefined {
  if (root?.type === 'scalar' && root.empty) {
    return { type: 'map', place: root.place, members: new Map() };
  }
  return root?.type === 'map' ? root : undefined;
}

/** Resolves every resource of the files, and what their blocks hand down. */
function resolveFiles(
  main: StackFile,
  folder: Folder,
  options: LoadOptions,
  kinds: readonly Kind[],
  report: Report,
): Parts {
  const { environment, env } = options;
  const written = settingsRoot(main.root);
  const { root, patches } =
    written === undefined
      ? { root: undefined, patches: [] }
      : enterEnvironment(written, environment, report);
  const names = secretNames(kinds);
  const variables =
    root === undefined
      ? unreadableVariables
      : readVariables(memberOf(root, 'variables')?.value, options, report);
  const deps = { folder, variables, report, env, environment, secretNames: names };
  const settings = root === undefined ? undefined : readSettings(root, deps);
  const files = [main, ...readOthers(settings, folder, options, names, report)];
  const collected = collectResources(
    withoutRows(files, kinds, variables),
    kinds,
    report,
    settings === undefined ? 'unknown' : 'known',
  );
  const kindNames = new Set(kinds.map(({ name }) => name));
  const surroundings: Surroundings = {
    report,
    variables,
    folder,
    isKind: (name) => kindNames.has(name),
    secretNames: names,
    organization:
      settings === undefined ? () => 'unreadable' : lookupOrganization(settings.organizations),
    defaultOrganization: settings === undefined ? 'failed' : settings.organization,
  };
  const { resources, addresses } = resolveAll(collected, patches, environment, surroundings);
  const broken = files.filter((file) => file.broken).map(({ source }) => source ?? 'unknown');
  checkReferences(resources, addresses, broken, report);
  checkNames(resources, report);
  const moves = readMoves(collected.shared, addresses, surroundings.isKind, report);
  return { files: files.map(({ file }) => file), settings, resources, moves, variables, root };
}

/** The YAML files beside `callsheet.yaml`. */
function readOthers(
  settings: Settings | undefined,
  folder: Folder,
  { dir, varFiles }: LoadOptions,
  secrets: readonly string[],
  report: Report,
): readonly StackFile[] {
  const { files, problems } = discover(dir, settings?.include, varFiles ?? []);
  for (const problem of problems) report.add(problem);
  return files.map((file) => readStackFile(folder, file, secrets, report));
}

/** Lays the resources over their bases and under the environment's patches, and resolves what that gives. */
function resolveAll(
  written: WrittenResources,
  environmentPatches: readonly Patch[],
  environment: string | undefined,
  surroundings: Surroundings,
) {
  const { report } = surroundings;
  const bases = openBases(written.bases, surroundings);
  const patches = openPatches(environmentPatches, environment ?? '', report);
  const addresses = new Set(written.addresses);
  const composed = written.resources.flatMap((resource) => {
    const { hasRows, resources } = compose(resource, { bases, patches, surroundings });
    if (hasRows) addresses.delete(resource.address);
    for (const { address } of resources) addresses.add(address);
    return resources;
  });
  bases.reportUnused();
  patches.reportUnmet(addresses);
  const blocks = new Map<WrittenBlock, Inherited>(
    written.blocks.map((block) => [block, resolveBlock(block, surroundings)]),
  );
  const resources = composed.map((resource) =>
    resolveResource(resource, resource.block && blocks.get(resource.block), surroundings),
  );
  return { resources, addresses };
}

function inOrder(resources: readonly ResolvedResource[], kinds: readonly Kind[]) {
  const order = new Map(kinds.map(({ name }, index) => [name, index]));
  return resources.toSorted(
    (a, b) =>
      (order.get(a.kind.name) ?? 0) - (order.get(b.kind.name) ?? 0) ||
      (a.address < b.address ? -1 : 1),
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
  const folder = openFolder(dir);
  const main = readStackFile(folder, STACK_FILE, secretNames(kinds), report);
  const parts = resolveFiles(main, folder, { ...options, dir }, kinds, report);
  const resources = inOrder(parts.resources, kinds);
  if (options.secrets === 'check') checkSecrets(resources, folder, options.env, report);
  const diagnostics = report.diagnostics();
  const { settings, files } = parts;
  if (settings === undefined || hasErrors(diagnostics)) {
    return { stack: undefined, diagnostics, files };
  }
  const desired = resources.map(toDesired);
  const stack: Stack = {
    dir,
    platform: settings.platform,
    organizations: settings.organizations,
    state: { file: settings.stateFile },
    guards: settings.guards,
    moves: parts.moves,
    resources: desired,
    secrets: secretPlaces(resources),
    originOf: (address, path) => {
      const resource = resources.find((one) => one.address === address);
      return resource && originOf(resource, path, parts);
    },
    digest: digestStack(settings, desired, parts.moves),
  };
  return { stack, diagnostics, files };
}
