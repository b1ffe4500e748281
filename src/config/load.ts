import { resolve as resolvePath } from 'node:path';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Diagnostic } from '../core/diagnostics.ts';
import type { Guards } from '../core/guards.ts';
import type { Path } from '../core/path.ts';
import type { PlanRules } from '../core/plan-rules.ts';
import type { StatePlace } from '../core/state-place.ts';
import { kinds as allKinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { toDesired } from './desired.ts';
import { digestStack } from './digest.ts';
import { STACK_FILE } from './discover.ts';
import { type Origin, originOf } from './explain.ts';
import { openFolder } from './folder.ts';
import { reportLint } from './lint.ts';
import { secretNames } from './masks.ts';
import type { Moves } from './moves.ts';
import { readParts } from './parts.ts';
import { openReport } from './problems.ts';
import { refuseFolder } from './refuse-folder.ts';
import type { ResolvedResource } from './resource.ts';
import { checkSecrets, secretPlaces } from './secret-places.ts';
import type { SecretPlace } from './secrets.ts';
import type { Platform } from './settings.ts';
import { readStackFile } from './stack-file.ts';
import { openRules } from './team-rules.ts';
import type { Variables } from './variables.ts';

export type LoadOptions = {
  /** The stack folder. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--var`, by name. */
  readonly vars?: Readonly<Record<string, string>>;
  /** `--var-file`: absolute, or relative to the working directory. Later ones win. */
  readonly varFiles?: readonly string[];
  /** `--allow-env`: variables of the process's environment that the stack may read beside those named for it. */
  readonly allowEnv?: readonly string[];
  /** `--env`: the environment of `callsheet.yaml` that is laid over the stack. */
  readonly environment?: string | undefined;
  /** Texts that are read in the place of what files hold, or of files that are not there, by absolute path. */
  readonly instead?: ReadonlyMap<string, string>;
  /** Whether it is an error that a secret cannot be had now. */
  readonly secrets: 'check' | 'skip';
  /** Told how many resources were found, before they are resolved. */
  readonly onCounted?: (resources: number) => void;
};

/** A stack as the configuration wants it. */
export type Stack = {
  /** Absolute path of its folder. */
  readonly dir: string;
  /** The environment that was chosen. */
  readonly environment: string | undefined;
  readonly platform: Platform;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** The id of the organization of resources that name none. */
  readonly organization: string | undefined;
  /** Where the state is; of a file the absolute path. */
  readonly state: StatePlace;
  readonly guards: Guards;
  /** Addresses that resources had before, and those that are let go of without a delete. */
  readonly moves: Moves;
  /** The team's own rules over plans. */
  readonly rules: PlanRules;
  /** By order of kinds, then by address. */
  readonly resources: readonly DesiredResource[];
  /** Every place that uses a secret; put together at each look. */
  readonly secrets: readonly SecretPlace[];
  /** Follows a value back to everything that had a part in it; undefined for no resource of the stack. */
  readonly originOf: (address: Address, path: Path) => Origin | undefined;
  /** How everything is written, for those who write in it. */
  readonly written: () => WrittenStack;
  /** `sha256:…` over everything that decides the outcome; see `digest.ts`. */
  readonly digest: string;
};

/** A stack before it became data: every value with the place where it stands. */
export type WrittenStack = {
  readonly resources: readonly ResolvedResource[];
  readonly variables: Variables;
  /** Its YAML files, relative to its folder. */
  readonly files: readonly string[];
  /** The organization of resources that name none. */
  readonly organization: string | undefined;
};

export type Loaded = {
  /** Undefined when there are errors. */
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
  const folder = openFolder(dir, options.instead);
  const main = readStackFile(folder, STACK_FILE, secretNames(kinds), report);
  const parts = readParts(main, folder, { ...options, dir }, kinds, report);
  const resources = inOrder(parts.resources, kinds);
  const { settings } = parts;
  const files = parts.files.map(({ file }) => file);
  const rules = await openRules(settings?.rules ?? [], kinds, report);
  const isSound = !report.hasErrors();
  checkSecrets(resources, folder, options, report);
  if (settings === undefined || !isSound) {
    return { stack: undefined, diagnostics: report.diagnostics(), files };
  }
  const desired = resources.map(toDesired);
  // What a stack says is only looked at once it is sound, be its secrets at hand or not.
  reportLint({
    resources: desired,
    kinds,
    settings: settings.lint,
    folder,
    files: parts.files,
    report,
    rules: settings.rules,
    found: rules.judge(desired, settings.organizations),
  });
  const diagnostics = report.diagnostics();
  if (report.hasErrors()) return { stack: undefined, diagnostics, files };
  let digest: string | undefined;
  let byAddress: ReadonlyMap<Address, ResolvedResource> | undefined;
  const stack: Stack = {
    dir,
    environment: options.environment,
    platform: settings.platform,
    organizations: settings.organizations,
    organization: settings.organization,
    state: settings.state,
    guards: settings.guards,
    moves: parts.moves,
    rules: rules.plan,
    resources: desired,
    get secrets() {
      return secretPlaces(resources);
    },
    originOf: (address, path) => {
      byAddress ??= new Map(resources.map((one) => [one.address, one]));
      const resource = byAddress.get(address);
      return resource && originOf(resource, path, parts);
    },
    written: () => ({
      resources,
      variables: parts.variables,
      files,
      organization: settings.organization,
    }),
    // Most commands that load a stack never ask for it, and it reads every text there is.
    get digest() {
      digest ??= digestStack(settings, desired, parts.moves);
      return digest;
    },
  };
  return { stack, diagnostics, files };
}
