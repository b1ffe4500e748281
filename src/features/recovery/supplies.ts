import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type Address, getKind, matchesAddress } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { CallsheetError, explainSystemError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { toPath } from '../../core/path.ts';
import { Blob, getOwn, isObject, type Json, Secret, type Value } from '../../core/value.ts';
import { isElementName } from '../../core/walk.ts';
import { listLeaves } from '../../diff/leaves.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import { fileMissing, fileName } from '../../kinds/kind.ts';
import type { SnapshotSummary } from '../../snapshot/format.ts';
import { openFolder } from '../../stack/folder.ts';
import { type RunCommand, readSecrets, type Stack } from '../../stack/index.ts';
import { readSource } from '../../stack/secrets.ts';
import { assignAddresses, inOrder } from './addresses.ts';
import type { Held, Holding, Target } from './held.ts';
import { neededSecrets } from './overview.ts';
import { rebuild } from './rebuild.ts';
import { heldSecrets, nameVariables } from './secrets.ts';

export type SupplyFlags = {
  /** A YAML file: address → path → `env:NAME` or `file:PATH`. */
  readonly secrets?: string;
  /** A folder with clips and documents, by name. */
  readonly media?: string;
};

type SupplySources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs a command in a folder, where that is allowed. */
  readonly runSecret?: ((dir: string) => RunCommand) | undefined;
};

/** The secrets and files that a restoration needs and a snapshot may lack. */
export type Supplies = Pick<Target, 'secretAt' | 'variableAt' | 'fileFor' | 'sharedFile'> & {
  readonly findSecret: (source: string) => string | undefined;
  readonly secretValues: readonly string[];
};

/**
 * Gathers secrets from the file that was named, from variables of the environment, and from what the stack says of an
 * address, a `$secret` or the value itself; files from the snapshot, from the folder that was named, and from the stack. All are read before
 * anything is sent.
 *
 * @param all what the snapshot has, also what is not restored
 */
export async function gatherSupplies(
  addresses: ReadonlyMap<Held, Address>,
  all: ReadonlyMap<Held, Address>,
  flags: SupplyFlags,
  stack: Stack | undefined,
  { media, organizations }: Pick<Holding, 'media' | 'organizations'>,
  { env, runSecret }: SupplySources,
): Promise<Supplies> {
  const given = flags.secrets === undefined ? [] : await readGiven(flags.secrets);
  refuseLost(given, [...all.values()], flags);
  const configured = new Map((stack?.resources ?? []).map((one) => [one.address, one]));
  const isOfStack = new Set((stack?.secrets ?? []).map(({ source }) => source));
  const named = nameVariables(addresses, organizations, (name) => isOfStack.has(`env:${name}`));
  const variableAt = (address: Address, path: string): string => {
    const own = sourceIn(configured.get(address), path);
    return own?.startsWith(ENV) ? own.slice(ENV.length) : (named.get(address)?.get(path) ?? '');
  };
  const sources = new Map<string, string>();
  /** Values that stand in the files of the stack themselves, by a source of their own. */
  const plain = new Map<string, string>();
  for (const [address, paths] of named) {
    for (const path of paths.keys()) {
      const place = `${address} ${path}`;
      const variable = variableAt(address, path);
      const own = valueIn(configured.get(address), path);
      const source =
        given.findLast((one) => one.path === path && matchesAddress(one.pattern, address))
          ?.source ??
        (env[variable] ? `${ENV}${variable}` : sourceIn(configured.get(address), path)) ??
        (typeof own === 'string' ? `stack:${place}` : undefined);
      if (source === undefined) continue;
      sources.set(place, source);
      if (typeof own === 'string' && source === `stack:${place}`) plain.set(source, own);
    }
  }
  const place = { dir: stack?.dir ?? process.cwd(), secrets: [] };
  const read = await readSecrets(
    place,
    [...new Set(sources.values())].flatMap((source) =>
      plain.has(source) ? [] : new Secret(source),
    ),
    env,
    runSecret?.(place.dir),
  );
  const values = new Map([...read.values, ...plain]);
  for (const [held, address] of addresses)
    for (const { source, value } of heldSecrets(held, address)) values.set(source, value);
  refuseUnread(given, new Set(sources.values()), values, flags);
  const found = new Map<Held, Blob | undefined>();
  const files = matchFiles(all, media, flags.media === undefined ? [] : filesIn(flags.media));
  return {
    findSecret: (source) => values.get(source),
    secretValues: [...new Set(values.values())],
    variableAt,
    secretAt(address, path) {
      const source = sources.get(`${address} ${path}`);
      const value = source === undefined ? undefined : values.get(source);
      if (source === undefined || value === undefined) return undefined;
      return isElementName(kindNamed(getKind(address)).schema, toPath(path))
        ? value
        : new Secret(source);
    },
    fileFor(held, address, field) {
      const kept = keptFile(held, field, media);
      if (kept !== undefined) return kept;
      if (!found.has(held)) found.set(held, readFound(held, field, files.findOwn(held)));
      const own = configured.get(address)?.document[field];
      return found.get(held) ?? (own instanceof Blob ? own : undefined);
    },
    sharedFile: files.sharedWith,
  };
}

/**
 * Lists what a restore of all of a snapshot asks for once everything is gone, without asking the platform: the secrets,
 * and what cannot come back by itself, decided by the functions that a restore goes by. Variables of the environment do
 * not count: they are what is asked for. The stack's names and files do, where there is one.
 */
export async function listAsked(
  held: Pick<Holding, 'all' | 'organizations' | 'media'>,
  stack: Stack | undefined,
): Promise<SnapshotSummary['restore']> {
  const all = assignAddresses(held.all);
  const places = new Map<string, string>();
  const ordered = inOrder(held.all, places);
  const addresses = new Map(ordered.map((one) => [one, all.get(one) ?? one.id]));
  const supplies = await gatherSupplies(addresses, addresses, {}, stack, held, { env: {} });
  const { needs, exceptions } = rebuild(addresses, {
    ...supplies,
    places,
    isSameAccount: false,
    obstacleAt: () => undefined,
    exists: () => false,
    isOriginal: () => false,
    isMade: () => false,
    isPlaceGone: () => false,
    recorded: () => undefined,
    leftOut: () => undefined,
    hasStack: stack !== undefined,
    rewritesTexts: false,
  });
  return {
    secrets: neededSecrets(needs),
    exceptions: exceptions.filter(({ what }) => what !== 'secret'),
  };
}

/** How a source begins that is a variable. */
const ENV = 'env:';

function sourceIn(resource: DesiredResource | undefined, path: string): string | undefined {
  const value = valueIn(resource, path);
  return value instanceof Secret ? value.source : undefined;
}

function valueIn(resource: DesiredResource | undefined, path: string): Value | undefined {
  if (resource === undefined) return undefined;
  const { schema } = kindNamed(resource.kind);
  return listLeaves(schema, resource.document).leaves.get(path)?.value;
}

/** The file that the snapshot keeps of a resource. */
function keptFile(
  { kind, document, files }: Held,
  field: string,
  { find }: Holding['media'],
): Blob | undefined {
  return find(files[field], fileName(kindNamed(kind).schema, document()));
}

type FoundFile = { readonly dir: string; readonly name: string; readonly group: string };

/** The files of a folder and of the folders in it. */
function filesIn(dir: string): readonly FoundFile[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry): readonly FoundFile[] => {
      if (entry.isFile()) return [{ dir: resolve(dir), name: entry.name, group: '' }];
      if (!entry.isDirectory()) return [];
      const inner = join(dir, entry.name);
      return readdirSync(inner, { withFileTypes: true })
        .filter((one) => one.isFile())
        .map(({ name }) => ({ dir: resolve(inner), name, group: entry.name }));
    });
  } catch (error) {
    throw explainSystemError(error, `--media ${dir} cannot be read`, {
      hint: 'Set it to a folder of clips and documents with their names on the platform.',
    });
  }
}

/** Files by the resource that they belong to. */
type Matched = {
  readonly findOwn: (held: Held) => FoundFile | undefined;
  readonly sharedWith: Target['sharedFile'];
};

/**
 * Matches files of a folder to resources. A file in a folder named after the place of a resource, or named after its
 * id, belongs to that resource. Otherwise a name decides only if a single resource has it.
 */
function matchFiles(
  addresses: ReadonlyMap<Held, Address>,
  media: Holding['media'],
  files: readonly FoundFile[],
): Matched {
  const stems = Map.groupBy(files, ({ name }) => getStem(name));
  const names = Map.groupBy(files, ({ name }) => name.normalize('NFC'));
  const own = new Map<Held, FoundFile>();
  const claims = new Map<FoundFile, Held[]>();
  for (const held of addresses.keys()) {
    const field = fileMissing(kindNamed(held.kind).schema, held.document);
    if (field === undefined || keptFile(held, field, media) !== undefined) continue;
    const name = held.name.normalize('NFC');
    const places = Object.values(held.scope);
    const byName = [...(names.get(name) ?? []), ...(stems.get(name) ?? [])];
    const byId = stems.get(held.id) ?? [];
    const ownFile =
      [...byId, ...byName].find(({ group }) => places.includes(group)) ??
      byId.find(({ group }) => group === '');
    const claimed = byName.find(({ group }) => group === '');
    if (ownFile !== undefined) own.set(held, ownFile);
    else if (claimed !== undefined) claims.set(claimed, [...(claims.get(claimed) ?? []), held]);
  }
  const shared = new Map<Held, Shared>();
  for (const [file, claimants] of claims) {
    const [only] = claimants;
    if (only !== undefined && claimants.length === 1) own.set(only, file);
    else
      for (const one of claimants) {
        const wanted = claimants.map((claimant) => addresses.get(claimant) ?? claimant.name);
        shared.set(one, { file: file.name, wantedBy: wanted, place: Object.values(one.scope)[0] });
      }
  }
  return { findOwn: (held) => own.get(held), sharedWith: (held) => shared.get(held) };
}

type Shared = NonNullable<ReturnType<Target['sharedFile']>>;

function getStem(name: string): string {
  const own = name.normalize('NFC');
  return own.slice(0, own.length - extname(own).length);
}

/** Reads the file that was found for a resource. */
function readFound(held: Held, field: string, file: FoundFile | undefined): Blob | undefined {
  if (file === undefined) return undefined;
  const use = getOwn(kindNamed(held.kind).schema.properties, field)?.['x-file'] ?? '';
  const read = openFolder(file.dir).local(file.name, use);
  if ('blob' in read) {
    const { sha256, size, mime } = read.blob;
    return new Blob(join(file.dir, file.name), sha256, size, mime);
  }
  const { message, hint } = read.words;
  throw new CallsheetError(
    'usage',
    `--media: ${held.kind} ${held.name.normalize('NFC')} ${message}`,
    hint ? { hint } : {},
  );
}

/** A line of the file that `--secrets` names: where a secret of some addresses comes from. */
type Given = { readonly pattern: Address; readonly path: string; readonly source: string };

/** Reads the file. Throws `CallsheetError('usage')` where it is not what it should be. */
async function readGiven(file: string): Promise<readonly Given[]> {
  const wrong = (why: string) =>
    new CallsheetError('usage', `--secrets ${file} ${why}`, {
      hint: 'It is YAML: an address (or a kind, or *), below it paths with env:NAME, file:PATH or exec:COMMAND.',
    });
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw explainSystemError(error, `--secrets ${file} cannot be read`);
  });
  let document: Json;
  try {
    document = parse(text);
  } catch {
    // The message of the parser may quote a secret that was put there by mistake.
    throw wrong('is not YAML');
  }
  if (!isObject(document)) throw wrong('holds no addresses');
  return Object.entries(document).flatMap(([pattern, paths]) => {
    if (!isObject(paths)) throw wrong(`has no paths below ${pattern}`);
    return Object.entries(paths).map(([path, source]) => {
      const read = typeof source === 'string' ? readSource(source) : undefined;
      if (typeof source !== 'string' || read === undefined || 'words' in read)
        throw wrong(`says of ${pattern} ${path} neither env:NAME, file:PATH nor exec:COMMAND`);
      const whole = read.from === 'file' ? resolve(dirname(file), read.path) : undefined;
      return { pattern, path, source: whole === undefined ? source : `file:${whole}` };
    });
  });
}

/** A secret for an address that is not there was meant for another one, which would go without. */
function refuseLost(
  given: readonly Given[],
  known: readonly Address[],
  { secrets: file }: { readonly secrets?: string },
): void {
  const kindNames = kinds.map(({ name }) => name);
  const lost = [...new Set(given.map(({ pattern }) => pattern))].filter(
    (pattern) =>
      !kindNames.includes(pattern) && !known.some((address) => matchesAddress(pattern, address)),
  );
  const [first] = lost;
  if (first === undefined) return;
  throw new CallsheetError(
    'usage',
    `--secrets ${file} names resources that the snapshot does not contain: ${lost.join(', ')}`,
    {
      hint: `${didYouMean(first, known, '`callsheet snapshot show` lists the addresses in it.')} Nothing was sent.`,
    },
  );
}

/** Refuses named sources that cannot be read: a person who names one expects it to be used. */
function refuseUnread(
  given: readonly Given[],
  used: ReadonlySet<string>,
  values: ReadonlyMap<string, string>,
  { secrets: file }: { readonly secrets?: string },
): void {
  const missing = given.filter(({ source }) => used.has(source) && !values.has(source));
  if (missing.length === 0) return;
  const lines = missing.map(({ pattern, path, source }) => `  ${pattern} ${path}: ${source}`);
  throw new CallsheetError(
    'usage',
    `--secrets ${file} names sources that cannot be read:\n${lines.join('\n')}`,
    { hint: 'Set the variable, or add the file. Nothing was sent.' },
  );
}
