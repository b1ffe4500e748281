import { FormData } from 'undici';
import { CallsheetError } from '../core/errors.ts';
import type { Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.generated.ts';

/** Opens a file of the stack. */
export type OpenFile = (file: StackFile) => Promise<Blob>;

const operationsByName: Readonly<Record<string, Operation>> = operations;

/** The operation of that name. Kinds name only those that exist, so an unknown one is a bug. */
export function operationNamed(name: string): Operation {
  const operation = operationsByName[name];
  if (operation === undefined) throw new Error(`unknown operation: ${name}`);
  return operation;
}

/** The path of a call, with its parameters filled in. */
export function pathOf(operation: Operation, { path = {} }: Call): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new Error(`${operation.path} needs ${name}`);
    // Dots survive encoding, and the URL parser would climb up a level for them.
    if (/^\.\.?$/.test(value)) {
      throw new CallsheetError('api', `${JSON.stringify(value)} is no ${name}`);
    }
    return encodeURIComponent(value);
  });
}

/** The query of a call with its question mark; empty where there is none. */
export function queryOf({ query = {} }: Call): string {
  const text = new URLSearchParams(Object.entries(query).flatMap(pairsOf)).toString();
  return text === '' ? '' : `?${text}`;
}

function pairsOf([name, value]: readonly [string, string | readonly string[]]): readonly [
  string,
  string,
][] {
  if (typeof value === 'string') return [[name, value]];
  return name.endsWith('[]')
    ? value.map((one): [string, string] => [name, one])
    : [[name, value.join(',')]];
}

/** The body of a call and its content type. A form brings its own, with the boundary. */
export async function bodyOf(
  wanted: Call,
  openFile: OpenFile,
): Promise<{ readonly body?: string | FormData; readonly type?: string }> {
  if (wanted.form === undefined) {
    return wanted.body === undefined
      ? {}
      : { body: JSON.stringify(wanted.body), type: 'application/json' };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(wanted.form.fields)) form.set(name, value);
  for (const [name, file] of Object.entries(wanted.form.files)) {
    form.set(name, await openUnchanged(file, openFile), file.path.split('/').at(-1));
  }
  return { body: form };
}

/** Opens a file whose size was announced. Throws where it has another one by now. */
export async function openUnchanged(file: StackFile, openFile: OpenFile): Promise<Blob> {
  const content = await openFile(file);
  if (content.size === file.size) return content;
  throw new CallsheetError(
    'stale',
    `${file.path} changed while it was used: ${file.size} bytes before, ${content.size} now`,
    { hint: 'Plan again, review, and apply the new plan.' },
  );
}
