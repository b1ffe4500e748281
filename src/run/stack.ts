import { setFlagsFromString } from 'node:v8';
import { commandSpan } from '../core/command-line.ts';
import { type Diagnostic, isError } from '../core/diagnostics.ts';
import { CallsheetError } from '../core/errors.ts';
import { Secret } from '../core/value.ts';
import { formatCount, sharedMessage } from '../render/wording.ts';
import {
  ABSENT,
  type LoadOptions,
  loadSettings,
  loadStack,
  readSecrets,
  type SecretPlace,
  type Stack,
  type StackSettings,
} from '../stack/index.ts';
import { readCommits } from './commit.ts';
import type { RunContext, StackOptions } from './context.ts';

/** Bytes of a stack from which on documents that are made and dropped again would fill several times the memory in use. */
const LARGE_STACK = 32_000_000;

/** Bytes that a resource takes beside its long texts: a stack of 2,000 is large. */
const BYTES_PER_RESOURCE = 16_000;

export type LoadedStack = {
  readonly stack: Stack;
  readonly warnings: readonly Diagnostic[];
  readonly findSecret: (source: string) => string | undefined;
  /** Values of all secrets that are at hand. */
  readonly secretValues: readonly string[];
  /**
   * Has secrets at hand that are to be written. Throws `CallsheetError('config')` that names every place whose secret
   * is missing.
   */
  readonly needSecrets: (places: readonly SecretUse[]) => Promise<void>;
  /** The stack as commits have it, in their order and without secrets, where that is sound. Throws where Git cannot read them. */
  readonly loadAt: (
    commits: readonly string[],
  ) => AsyncIterable<{ readonly commit: string; readonly stack: Stack }>;
};

/** The place that a secret is written to: a field of a resource. */
type SecretUse = Pick<SecretPlace, 'address' | 'path' | 'source'>;

/** `skip` reads no secrets, and `try` takes those that are at hand. */
export type SecretsWanted = 'skip' | 'try';

/** Stands for a secret that is not at hand where a copy of the fleet is written to. */
const PLACEHOLDER = 'not the secret: it is not set where this is rehearsed';

/**
 * Loads the stack and the secrets that are wanted. Throws `CallsheetError('config')` that carries every problem there
 * is; nothing has been sent then. With `evenBroken` the stack has no resources where they are wrong, and the errors are
 * among the warnings: the way back goes by what was recorded, and must not wait for a file to be mended.
 */
export async function openStack(
  options: StackOptions,
  context: RunContext,
  wanted: SecretsWanted = 'try',
  evenBroken = false,
): Promise<LoadedStack> {
  const { stack, diagnostics } = await loadStack({
    ...loadOptions(options, context),
    secrets: 'skip',
    evenBroken,
    ...holdingMemory(collectEarly),
  });
  if (stack === undefined) throw broken(diagnostics);
  const values = new Map<string, string>();
  const read = async (places: readonly SecretUse[]) => {
    const unread = places.filter(({ source }) => !values.has(source));
    const secrets = unread.map(({ source }) => new Secret(source));
    const found = await readSecrets(stack, secrets, context.env, context.runSecret?.(stack.dir));
    for (const [source, value] of found.values) values.set(source, value);
    return found.diagnostics;
  };
  if (wanted === 'try') {
    const wrong = (await read(stack.secrets)).filter(({ rule }) => !ABSENT.has(rule));
    if (wrong.length > 0 && !evenBroken) throw broken([...diagnostics, ...wrong]);
  }
  return {
    stack,
    warnings: diagnostics,
    findSecret: (source) => values.get(source),
    get secretValues() {
      return [...new Set(values.values())];
    },
    async needSecrets(places) {
      const problems = await read(places);
      const missing = places.filter(({ source }) => !values.has(source));
      if (missing.length === 0) return;
      if (context.sandbox === undefined) throw unset(missing, problems, stack.secrets);
      // On a copy a placeholder is enough: the value is never read.
      for (const { source } of missing) values.set(source, PLACEHOLDER);
    },
    async *loadAt(commits) {
      for await (const { commit, instead } of readCommits(commits, options)) {
        const given = { ...loadOptions(options, context), secrets: 'skip', instead } as const;
        const found = instead.size === 0 ? stack : (await loadStack(given)).stack;
        if (found !== undefined) yield { commit, stack: found };
      }
    },
  };
}

/**
 * Reports secrets that a run is to write and that are not set. Other places may use the same sources; they are not
 * named.
 */
function unset(
  missing: readonly SecretUse[],
  problems: readonly Diagnostic[],
  places: Stack['secrets'],
): CallsheetError {
  const written = new Set(missing.map((use) => `${use.address} ${use.path}`));
  const isWritten = ({ address, path = '' }: Diagnostic) =>
    address === undefined || written.has(`${address} ${path}`);
  const readers = indexReaders(places);
  const diagnostics = problems.filter(isWritten).map((problem) => ({
    ...problem,
    hint: `${problem.hint ?? 'Check where the secret is read from'}.${othersMessage(problem, readers)} Nothing was written`,
  }));
  const count = formatCount(missing.length, 'secret');
  const message = `${count} that this run writes cannot be read: ${missing.map(({ address, path }) => `${address} ${path}`).join(', ')}`;
  return new CallsheetError('config', message, { diagnostics });
}

/** Gives the addresses that read the source of the secret at a place. One place may be among very many. */
function indexReaders(places: Stack['secrets']): (address: string, path: string) => Set<string> {
  const bySource = Map.groupBy(places, ({ source }) => source);
  const own = new Map(places.map((place) => [`${place.address} ${place.path}`, place.source]));
  return (address, path) => {
    const source = own.get(`${address} ${path}`);
    return new Set(source === undefined ? [] : bySource.get(source)?.map((use) => use.address));
  };
}

/** Says how many others read the source of a secret: its value is theirs, too. */
function othersMessage(
  { address = '', path = '' }: Diagnostic,
  readersAt: ReturnType<typeof indexReaders>,
): string {
  const readers = readersAt(address, path);
  readers.delete(address);
  return readers.size === 0 ? '' : ` ${sharedMessage(readers.size)}.`;
}

/** Reads `callsheet.yaml`; the rest may be broken. Throws `CallsheetError('config')` if that file is wrong itself. */
export function openSettings(options: StackOptions, context: RunContext): StackSettings {
  const { settings, diagnostics } = loadSettings(loadOptions(options, context));
  if (settings === undefined) throw broken(diagnostics);
  return settings;
}

/** Warns of what is wrong with a stack that was opened `evenBroken`, and that the command does not need it. */
export function announceBroken(
  { warnings }: Pick<LoadedStack, 'warnings'>,
  options: StackOptions,
  { emit }: Pick<RunContext, 'emit'>,
): void {
  const [first, ...more] = warnings.filter(isError);
  if (first === undefined) return;
  const { message, position } = first;
  const place = position === undefined ? '' : ` at ${position.file}:${position.line}`;
  const said = message.replace(/^\S+\.ya?ml: /, '');
  const count = more.length === 0 ? 'an error' : `${more.length + 1} errors, the first`;
  emit({
    type: 'notice',
    text: `The configuration has ${count}${place} (${said}), and is not needed: what was recorded is put back. To see what is wrong: ${commandSpan('validate', options)}`,
  });
}

/** Returns true if something is wrong with a stack that was opened `evenBroken`. */
export function isBroken({ warnings }: Pick<LoadedStack, 'warnings'>): boolean {
  return warnings.some(isError);
}

/** Throws what is wrong with it, for what does need its resources. */
export function refuseBroken(stack: Pick<LoadedStack, 'warnings'>): void {
  if (isBroken(stack)) throw broken(stack.warnings);
}

function broken(diagnostics: readonly Diagnostic[]): CallsheetError {
  return new CallsheetError('config', 'the configuration has errors', { diagnostics });
}

/** Returns the options with which every command loads a stack. */
export function loadOptions(
  { dir, env: environment, var: vars = [], varFile: varFiles = [], allowEnv = [] }: StackOptions,
  { env, features }: Pick<RunContext, 'env' | 'features'>,
): Omit<LoadOptions, 'secrets'> {
  const given = { dir, env, environment, vars: parseVars(vars), varFiles, allowEnv, features };
  return { ...given, ...holdingMemory() };
}

/** Holds the memory of one load of a stack by its bytes. `collect` gets the characters of the texts, once files are read. */
function holdingMemory(
  collect: (characters: number) => void = () => {},
): Required<Pick<LoadOptions, 'onCounted' | 'onText'>> {
  let [resources, inFiles, inRows, filled] = [0, 0, 0, 0];
  let isOfFiles = false;
  const hold = () => {
    // The first row tells of all of them, before the heap has grown.
    const expected = filled === 0 ? 0 : (inRows / filled) * resources;
    const characters = inFiles + Math.max(inRows, expected);
    const bytes = resources * BYTES_PER_RESOURCE + characters;
    if (bytes < LARGE_STACK) return;
    holdYoungGeneration();
    if (isOfFiles) collect(characters);
  };
  return {
    onCounted: (count, from) => {
      resources = Math.max(resources, count);
      isOfFiles ||= from === 'files';
      hold();
    },
    onText: (length, from) => {
      if (from === 'file') inFiles += length;
      else [inRows, filled] = [inRows + length, filled + 1];
      hold();
    },
  };
}

/** `--var name=value`, by name. */
export function parseVars(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CallsheetError('usage', `--var ${text} is not of the form name=value`);
    }),
  );
}

/**
 * A heap grows by as much before it is collected again. Left alone it would be several times as large as what is in use.
 * Of long texts it is less: what is in use twice grows by a share of it, and to look through a text takes no time.
 */
const GROWTH = { most: 30, least: 5, characters: 40_000_000 };

/**
 * Has garbage collected early, as a plan of a large fleet makes and drops documents by the gigabyte. Flags are asked
 * for at every collection, so that they count from now on.
 */
function collectEarly(characters = 0): void {
  const percent = Math.floor((100 * GROWTH.characters) / Math.max(characters, 1));
  const growth = Math.max(GROWTH.least, Math.min(GROWTH.most, percent));
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}

/**
 * The same for a restoration, which waits for the platform most of the time: what was just made is held in a megabyte,
 * too. A plan would look through that so often that it takes a quarter more processor time, and no less memory.
 */
export function spareMemory(): void {
  setFlagsFromString('--optimize-for-size');
  collectEarly();
}

/**
 * Keeps what was just made from being let grow before it is looked through. An export or a snapshot makes and
 * drops documents as fast as they are read: left alone this part of the heap gets larger than all the rest.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
