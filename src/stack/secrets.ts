import { realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, normalize } from 'node:path';
import pLimit from 'p-limit';
import type { Diagnostic, SourcePosition } from '../core/diagnostics.ts';
import { storeCredentials } from '../core/stores.ts';
import { getOwn, type Secret } from '../core/value.ts';
import type { ProblemMessage } from './diagnostics.ts';
import {
  type Folder,
  type Found,
  fileMessage,
  isUnreadable,
  openFolder,
  type Unreadable,
} from './folder.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A secret is a password, token or key; a larger file was named by mistake. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** Callsheet's own credentials, beside everything that begins with one of `OWN_PREFIXES`. */
const OWN_CREDENTIALS: ReadonlySet<string> = new Set(storeCredentials());

/** A collector's key stands among its headers, of all telemetry or of one kind. */
const OWN_PREFIXES = ['CALLSHEET_', 'OTEL_EXPORTER_OTLP_'];

/** Compares in upper case, as some systems do not tell cases apart. */
export function isOwnCredential(name: string): boolean {
  const upper = name.toUpperCase();
  return OWN_PREFIXES.some((prefix) => upper.startsWith(prefix)) || OWN_CREDENTIALS.has(upper);
}

/** Rules about secrets that are not available, which some commands do not need. */
export const ABSENT: ReadonlySet<string> = new Set(['secret/missing', 'secret/exec']);

type SecretSource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'exec'; readonly command: string };

/** Runs a command of the configuration and gives what it printed, or says why there is nothing; begins with a verb. */
export type RunCommand = (
  command: string,
) => Promise<{ readonly printed: string } | { readonly why: string }>;

/** A place where a secret is used, as the loaded stack keeps it. */
export type SecretPlace = {
  /** `env:NAME`, `file:PATH` or `exec:COMMAND`. */
  readonly source: string;
  readonly address: string;
  readonly path: string;
  readonly position: SourcePosition;
};

/**
 * Takes `env:NAME`, `file:PATH` or `exec:COMMAND` apart. Any other text may be the secret itself, given where its source
 * belongs. The message begins with a verb.
 */
export function readSource(text: string): SecretSource | { readonly words: ProblemMessage } {
  const [, scheme, rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (scheme === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return { from: 'env', name: rest };
  if (scheme === 'file' && rest !== '') return { from: 'file', path: rest };
  if (scheme === 'exec' && rest.trim() !== '') return { from: 'exec', command: rest.trim() };
  const message =
    scheme === 'env'
      ? 'names no environment variable after env:'
      : 'is not a source that a secret can be read from';
  const hint = 'Write { $secret: env:NAME }, { $secret: file:PATH } or { $secret: exec:COMMAND }';
  return { words: { rule: 'secret/source', message, hint } };
}

function missing(what: string, hint: string): { readonly words: ProblemMessage } {
  return { words: { rule: 'secret/missing', message: `reads its secret from ${what}`, hint } };
}

/**
 * Paths in there are the machine and its processes: `/proc/self/environ` is every secret at once. Files in `/dev/shm`
 * are files in memory, where secrets are often kept.
 */
const MACHINE = /^\/(proc|sys|dev(?!\/shm\/))(\/|$)/;

/** A secret's file: inside the stack folder, or anywhere but in the machine itself where the path is absolute. */
function findSecretFile(path: string, folder: Folder): Found | Unreadable {
  if (!isAbsolute(path)) return folder.find(path, { hidden: true });
  if (MACHINE.test(normalize(path))) return { reason: 'special' };
  try {
    // A link may lead there as well.
    if (MACHINE.test(realpathSync.native(path))) return { reason: 'special' };
    const stats = statSync(path);
    if (stats.isDirectory()) return { reason: 'directory' };
    return stats.isFile() ? { absolute: path, size: stats.size } : { reason: 'special' };
  } catch {
    return { reason: 'missing' };
  }
}

function readSecretFile(path: string, folder: Folder): Found | { readonly words: ProblemMessage } {
  const found = findSecretFile(path, folder);
  if (isUnreadable(found)) {
    const words = fileMessage(path, found);
    return { words: found.reason === 'missing' ? { ...words, rule: 'secret/missing' } : words };
  }
  if (found.size === 0) return missing(`${path}, which is empty`, 'Put the secret into the file');
  if (found.size > MAX_SECRET_BYTES) {
    return missing(`${path}, which is larger than a secret can be`, 'Check the path');
  }
  return found;
}

/** Checks that a secret is available, without reading a file or running a command. Undefined means yes. */
export function checkSecret(text: string, env: Env, folder: Folder): ProblemMessage | undefined {
  const source = readSource(text);
  if ('words' in source) return source.words;
  if (source.from === 'env') {
    const value = getOwn(env, source.name);
    if (value !== undefined && withoutLineBreak(value) !== '') return undefined;
    const state = value === undefined ? 'is not set' : 'is empty';
    return missing(`${source.name}, which ${state}`, `Set ${source.name} in the environment`).words;
  }
  if (source.from === 'exec') return undefined;
  const file = readSecretFile(source.path, folder);
  return 'words' in file ? file.words : undefined;
}

/**
 * Reads one secret. Its final line break, as a variable, a file or a command may have one, is not part of it. Without `run`
 * no command is run.
 */
async function readSecret(
  text: string,
  env: Env,
  folder: Folder,
  run: RunCommand | undefined,
): Promise<{ readonly value: string } | { readonly words: ProblemMessage }> {
  const wrong = checkSecret(text, env, folder);
  if (wrong !== undefined) return { words: wrong };
  const source = readSource(text);
  if ('words' in source) return { words: source.words };
  if (source.from === 'env') return { value: withoutLineBreak(getOwn(env, source.name) ?? '') };
  if (source.from === 'exec') return readFromCommand(source.command, run);
  const file = readSecretFile(source.path, folder);
  if ('words' in file) return file;
  try {
    const bytes = await readFile(file.absolute);
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value = withoutLineBreak(content);
    return value === ''
      ? missing(`${source.path}, which is empty`, 'Put the secret into the file')
      : { value };
  } catch (error) {
    const reason = error instanceof TypeError ? 'encoding' : 'unreadable';
    return { words: fileMessage(source.path, { reason }) };
  }
}

async function readFromCommand(
  command: string,
  run: RunCommand | undefined,
): Promise<{ readonly value: string } | { readonly words: ProblemMessage }> {
  if (run === undefined) {
    const message = 'reads its secret from a command, and commands are not allowed';
    const hint = 'Check the command, then pass --allow-exec';
    return { words: { rule: 'secret/exec', message, hint } };
  }
  const outcome = await run(command);
  if ('printed' in outcome) {
    const value = withoutLineBreak(outcome.printed);
    if (value !== '') return { value };
  }
  const why = 'why' in outcome ? outcome.why : 'printed nothing';
  const message = `reads its secret from a command, which ${why}`;
  return {
    words: { rule: 'secret/command', message, hint: 'Run the command by hand in the stack folder' },
  };
}

function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

type SecretValues = {
  /** By source. Holds only those that could be read. */
  readonly values: ReadonlyMap<string, string>;
  /** One for every place that uses a secret which could not be read. */
  readonly diagnostics: readonly Diagnostic[];
};

/** Commands that are run beside each other; a vault answers each in its own time. */
const AT_ONCE = 4;

/**
 * Reads secrets at the moment of need. `secrets` may come from the stack or from a plan that was made of
 * it earlier; a source that the stack no longer uses is reported without a place. Commands are run by `run`, each
 * once, and not at all without it.
 */
export async function readSecrets(
  stack: { readonly dir: string; readonly secrets: readonly SecretPlace[] },
  secrets: Iterable<Secret>,
  env: Readonly<Record<string, string | undefined>>,
  run?: RunCommand,
): Promise<SecretValues> {
  const folder = openFolder(stack.dir);
  const values = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  const sources = [...new Set([...secrets].map((secret) => secret.source))];
  const limit = pLimit(AT_ONCE);
  const reads = await limit.map(sources, async (source) => ({
    source,
    read: await readSecret(source, env, folder, run),
  }));
  const failed = reads.some(({ read }) => 'words' in read);
  const bySource = Map.groupBy(failed ? stack.secrets : [], (use) => use.source);
  for (const { source, read } of reads) {
    if ('value' in read) {
      values.set(source, read.value);
      continue;
    }
    const { rule, message, hint } = read.words;
    const fact = { severity: 'error', rule, ...(hint === undefined ? {} : { hint }) } as const;
    const uses = bySource.get(source) ?? [];
    for (const { address, path, position } of uses) {
      diagnostics.push({
        ...fact,
        message: `${address}: ${path} ${message}`,
        address,
        path,
        position,
      });
    }
    if (uses.length === 0) diagnostics.push({ ...fact, message: `the plan ${message}` });
  }
  return { values, diagnostics };
}
