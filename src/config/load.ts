import { resolve as resolvePath } from 'node:path';
import type { DesiredResource } from '../core/desired.ts';
import { type Diagnostic, hasErrors } from '../core/diagnostics.ts';
import type { Guards } from '../core/guards.ts';
import type { PlanRules } from '../core/plan-rules.ts';
import { kinds as allKinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Inherited, resolveBlock } from './block.ts';
import { toDesired } from './desired.ts';
import { digestStack } from './digest.ts';
import { discover, STACK_FILE } from './discover.ts';
import { checkNames } from './duplicates.ts';
import { type Folder, openFolder } from './folder.ts';
import { reportLint } from './lint.ts';
import { secretNames } from './masks.ts';
import { openReport, type Report } from './problems.ts';
import { checkReferences } from './references.ts';
import { refuseFolder } from './refuse-folder.ts';
import type { Surroundings } from './resolved.ts';
import { type ResolvedResource, resolveResource } from './resource.ts';
import { collectResources, type WrittenBlock } from './resources.ts';
import { checkSecrets, secretPlaces } from './secret-places.ts';
import type { SecretPlace } from './secrets.ts';
import { lookupOrganization, type Platform, readSettings, type Settings } from './settings.ts';
import { readStackFile, type StackFile } from './stack-file.ts';
import { openRules } from './team-rules.ts';
import { readVariables, unreadableVariables } from './variables.ts';
import { memberOf, type Written, type WrittenMap } from './written.ts';

export type LoadOptions = {
  /** The stack folder. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--var`, by name. */
  readonly vars?: Readonly<Record<string, string>>;
  /** `--var-file`: absolute, or relative to the working directory. Later ones win. */
  readonly varFiles?: readonly string[];
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
  /** The team's own rules over plans. */
  readonly rules: PlanRules;
  /** By order of kinds, then by address. */
  readonly resources: readonly DesiredResource[];
  /** Every place that uses a secret. */
  readonly secrets: readonly SecretPlace[];
  /** `sha256:…` over everything that decides the outcome; see `digest.ts`. */
  readonly digest: string;
};

export type Loaded = {
  /** Undefined when there are errors. */
  readonly stack: Stack | undefined;
  /** By file, line and column. */
  readonly diagnostics: readonly Diagnostic[];
};

type Parts = {
  readonly settings: Settings | undefined;
  readonly resources: readonly ResolvedResource[];
  readonly files: readonly StackFile[];
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
  const root = settingsRoot(main.root);
  const names = secretNames(kinds);
  const variables =
    root === undefined
      ? unreadableVariables
      : readVariables(memberOf(root, 'variables')?.value, options, report);
  const settings =
    root === undefined
      ? undefined
      : readSettings(root, { folder, variables, report, env: options.env, secretNames: names });
  const { files, problems } = discover(options.dir, settings?.include, options.varFiles ?? []);
  for (const problem of problems) report.add(problem);
  const others = files.map((file) => readStackFile(folder, file, names, report));
  const readable = [main, ...others].flatMap(({ root: node }, index) =>
    node === undefined ? [] : [{ root: node, main: index === 0 }],
  );
  const written = collectResources(
    readable,
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
  const blocks = new Map<WrittenBlock, Inherited>(
    written.blocks.map((block) => [block, resolveBlock(block, surroundings)]),
  );
  const resources = written.resources.map((resource) =>
    resolveResource(resource, resource.block && blocks.get(resource.block), surroundings),
  );
  const broken = [main, ...others]
    .filter((file) => file.broken)
    .map(({ source }) => source ?? 'unknown');
  checkReferences(resources, written.addresses, broken, report);
  checkNames(resources, report);
  return { settings, resources, files: [main, ...others] };
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
    return { stack: undefined, diagnostics: [{ severity: 'error', ...refused }] };
  }
  const report = openReport();
  const folder = openFolder(dir);
  const main = readStackFile(folder, STACK_FILE, secretNames(kinds), report);
  const parts = resolveFiles(main, folder, { ...options, dir }, kinds, report);
  const resources = inOrder(parts.resources, kinds);
  const { settings } = parts;
  const rules = await openRules(settings?.rules ?? [], kinds, report);
  const isSound = !hasErrors(report.diagnostics());
  if (options.secrets === 'check') checkSecrets(resources, folder, options.env, report);
  if (settings === undefined || !isSound) {
    return { stack: undefined, diagnostics: report.diagnostics() };
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
  if (hasErrors(diagnostics)) return { stack: undefined, diagnostics };
  const stack: Stack = {
    dir,
    platform: settings.platform,
    organizations: settings.organizations,
    state: { file: settings.stateFile },
    guards: settings.guards,
    rules: rules.plan,
    resources: desired,
    secrets: secretPlaces(resources),
    digest: digestStack(settings, desired),
  };
  return { stack, diagnostics };
}
