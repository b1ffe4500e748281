import type { Kind } from '../kinds/kind.ts';
import { openBases } from './bases.ts';
import { type Inherited, resolveBlock } from './block.ts';
import { compose } from './compose.ts';
import { discover } from './discover.ts';
import { withoutDoubts } from './doubts.ts';
import { checkNames } from './duplicates.ts';
import { enterEnvironment } from './environment.ts';
import { patchBodiesIn } from './environments.ts';
import type { Folder } from './folder.ts';
import { openFoundations } from './foundation.ts';
import type { LoadOptions } from './load.ts';
import { openLooks } from './look.ts';
import { secretNames } from './masks.ts';
import { type Moves, readMoves } from './moves.ts';
import { openPatches, type Patch } from './patches.ts';
import type { Report } from './problems.ts';
import { checkReferences } from './references.ts';
import type { Surroundings } from './resolved.ts';
import { type ResolvedResource, resolveResource } from './resource.ts';
import { collectResources, type WrittenBlock, type WrittenResources } from './resources.ts';
import { withoutRows } from './row-files.ts';
import { lookupOrganization, readSettings, type Settings } from './settings.ts';
import { readStackFile, type StackFile } from './stack-file.ts';
import { readVariables, unreadableVariables, type Variables } from './variables.ts';
import { memberOf, type Written, type WrittenMap } from './written.ts';

/** The files of a stack, and what they come to before anything is left out that is wrong. */
export type Parts = {
  readonly settings: Settings | undefined;
  readonly resources: readonly ResolvedResource[];
  readonly moves: Moves;
  readonly variables: Variables;
  /** `callsheet.yaml`, with its environment. */
  readonly root: WrittenMap | undefined;
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
export function readParts(
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
      : enterEnvironment(written, environment, folder.dir, report);
  const names = secretNames(kinds);
  const variables =
    root === undefined
      ? unreadableVariables
      : readVariables(memberOf(root, 'variables')?.value, options, report);
  const deps = { folder, variables, report, env, environment, secretNames: names };
  const settings = root === undefined ? undefined : readSettings(root, deps);
  const files = [main, ...readOthers(settings, folder, options, names, report)];
  const { roots, isResourceFile } = withoutRows(files, kinds, variables, report);
  const collected = collectResources(
    roots,
    kinds,
    report,
    settings === undefined ? 'unknown' : 'known',
  );
  const broken = files.filter((file) => file.broken).map(({ source }) => source ?? 'unknown');
  const sure = withoutDoubts(report, broken);
  const kindNames = new Set(kinds.map(({ name }) => name));
  const surroundings: Surroundings = {
    report: sure,
    variables,
    folder,
    isResourceFile,
    isKind: (name) => kindNames.has(name),
    secretNames: names,
    unchosen: environment === undefined ? environmentsIn(root) : [],
    organization:
      settings === undefined ? () => 'unreadable' : lookupOrganization(settings.organizations),
    defaultOrganization: settings === undefined ? 'failed' : settings.organization,
  };
  const { resources, addresses } = resolveAll(
    collected,
    patches,
    patchBodiesIn(root),
    options,
    surroundings,
  );
  checkReferences(resources, addresses, broken, report);
  checkNames(resources, report);
  const moves = readMoves(collected.shared, addresses, surroundings.isKind, sure);
  return { files, settings, resources, moves, variables, root };
}

function environmentsIn(root: WrittenMap | undefined): readonly string[] {
  const environments = memberOf(root, 'environments')?.value;
  return environments?.type === 'map' ? [...environments.members.keys()] : [];
}

/** The YAML files beside `callsheet.yaml`. */
function readOthers(
  settings: Settings | undefined,
  folder: Folder,
  { dir, varFiles }: LoadOptions,
  secrets: readonly string[],
  report: Report,
): readonly StackFile[] {
  const added = folder.added();
  const { files, problems } = discover(dir, settings?.include, varFiles ?? [], added);
  for (const problem of problems) report.add(problem);
  return files.map((file) => readStackFile(folder, file, secrets, report));
}

/** Lays the resources over their bases and under the environment's patches, and resolves what that gives. */
function resolveAll(
  written: WrittenResources,
  environmentPatches: readonly Patch[],
  allPatches: readonly WrittenMap[],
  { environment, onCounted }: LoadOptions,
  surroundings: Surroundings,
) {
  const { report } = surroundings;
  const bases = openBases(written.bases, surroundings);
  const foundations = openFoundations();
  const patches = openPatches(environmentPatches, environment ?? '', report);
  const addresses = new Set(written.addresses);
  const composed = written.resources.flatMap((resource) => {
    const { hasRows, resources } = compose(resource, { bases, foundations, patches, surroundings });
    if (hasRows) addresses.delete(resource.address);
    for (const { address } of resources) addresses.add(address);
    return resources;
  });
  // A base that another environment uses, or this one uses no longer, is not in vain.
  const bodies = [...written.resources.map(({ body }) => body), ...allPatches];
  bases.reportUnused(bodies.flatMap(({ members }) => members.get('base')?.value ?? []));
  patches.reportUnmet(addresses);
  const blocks = new Map<WrittenBlock, Inherited>(
    written.blocks.map((block) => [block, resolveBlock(block, surroundings)]),
  );
  onCounted?.(composed.length);
  const looks = openLooks(surroundings);
  const resources = composed.map((resource) =>
    resolveResource(resource, resource.block && blocks.get(resource.block), surroundings, looks),
  );
  return { resources, addresses };
}
