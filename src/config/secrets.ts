import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { SourcePosition } from '../core/diagnostics.ts';
import { ownOf } from '../core/own.ts';
import { fileWords } from './file-words.ts';
import { type Folder, type Found, isUnreadable, type Unreadable } from './folder.ts';
import type { Problem } from './problems.ts';

/** What is said of a secret that cannot be had. The message begins with a verb. */
type Words = Pick<Problem, 'rule' | 'message' | 'hint'>;
type Env = Readonly<Record<string, string | undefined>>;

/** A secret is a password, token or key; a larger file was named by mistake. */
const MAX_SECRET_BYTES = 64 * 1024;

/** Where a secret is read from. */
type SecretSource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string };

/** A place where a secret is used, as the loaded stack keeps it. */
export type SecretPlace = {
  /** `env:NAME` or `file:PATH`. */
  readonly source: string;
  readonly address: string;
  readonly path: string;
  readonly position: SourcePosition;
};

/**
 * Takes `env:NAME` or `file:PATH` apart. `hide` says that the text may be the secret itself, given
 * where its source belongs. Words begin with a verb.
 */
export function readSource(
  text: string,
): SecretSource | { readonly words: Words; readonly hide: boolean } {
  const [, scheme, rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (scheme === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return { from: 'env', name: rest };
  if (scheme === 'file' && rest !== '') return { from: 'file', path: rest };
  if (scheme === 'exec') {
    const message =
      'reads a secret from a command, which needs --allow-exec and is not supported yet';
    const words = { rule: 'config/not-supported', message, hint: 'Use env: or file:' };
    return { words, hide: false };
  }
  const message =
    scheme === 'env'
      ? 'names no environment variable after env:'
      : 'names no source that a secret can be read from';
  const hint = 'Write { $secret: env:NAME } or { $secret: file:PATH }';
  return { words: { rule: 'secret/source', message, hint }, hide: true };
}

function missing(what: string, hint: string): { readonly words: Words } {
  return { words: { rule: 'secret/missing', message: `reads its secret from ${what}`, hint } };
}

/** A secret's file: inside the stack folder, or anywhere where the path is absolute. */
function findSecretFile(path: string, folder: Folder): Found | Unreadable {
  if (!isAbsolute(path)) return folder.find(path, { hidden: true });
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return { reason: 'directory' };
    return stats.isFile() ? { absolute: path, size: stats.size } : { reason: 'special' };
  } catch {
    return { reason: 'missing', nearest: undefined };
  }
}

function fileOf(path: string, folder: Folder): Found | { readonly words: Words } {
  const found = findSecretFile(path, folder);
  if (isUnreadable(found)) {
    const words = fileWords(path, found);
    return { words: found.reason === 'missing' ? { ...words, rule: 'secret/missing' } : words };
  }
  if (found.size === 0) return missing(`${path}, which is empty`, 'Put the secret into the file');
  if (found.size > MAX_SECRET_BYTES) {
    return missing(`${path}, which is larger than a secret can be`, 'Check the path');
  }
  return found;
}

/** Whether a secret can be had, without reading a file. Undefined means yes. */
export function checkSecret(text: string, env: Env, folder: Folder): Words | undefined {
  const source = readSource(text);
  if ('words' in source) return source.words;
  if (source.from === 'env') {
    const value = ownOf(env, source.name);
    if (value !== undefined && value !== '') return undefined;
    const state = value === undefined ? 'is not set' : 'is empty';
    return missing(`${source.name}, which ${state}`, `Set ${source.name} in the environment`).words;
  }
  const file = fileOf(source.path, folder);
  return 'words' in file ? file.words : undefined;
}

/** Reads one secret. A file's final line break is not part of it. */
export async function readSecret(
  text: string,
  env: Env,
  folder: Folder,
): Promise<{ readonly value: string } | { readonly words: Words }> {
  const wrong = checkSecret(text, env, folder);
  if (wrong !== undefined) return { words: wrong };
  const source = readSource(text);
  if ('words' in source) return { words: source.words };
  if (source.from === 'env') return { value: ownOf(env, source.name) ?? '' };
  const file = fileOf(source.path, folder);
  if ('words' in file) return file;
  try {
    const bytes = await readFile(file.absolute);
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value = content.replace(/\r?\n$/, '');
    return value === ''
      ? missing(`${source.path}, which is empty`, 'Put the secret into the file')
      : { value };
  } catch (error) {
    const reason = error instanceof TypeError ? 'encoding' : 'unreadable';
    return { words: fileWords(source.path, { reason }) };
  }
}
