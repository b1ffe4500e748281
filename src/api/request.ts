import { CallsheetError } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { OpenFile } from './files.ts';
import { encodeForm } from './multipart.ts';
import type { Operation } from './operation.ts';

/** The path of a call, with its parameters filled in. */
export function pathOf(operation: Operation, { path = {} }: Pick<Call, 'path'>): string {
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
export function queryOf({ query }: Pick<Call, 'query'>): string {
  if (query === undefined) return '';
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

/** What a call sends, and the headers that describe it. */
export type Content = {
  readonly body?: string | AsyncIterable<Uint8Array>;
  readonly headers: { readonly [name: string]: string };
};

/** The body of a call. Throws where a file of it changed. */
export async function contentOf(wanted: Call, openFile: OpenFile): Promise<Content> {
  if (wanted.form !== undefined) {
    const { body, type, length } = await encodeForm(wanted.form, openFile);
    return { body, headers: { 'content-type': type, 'content-length': String(length) } };
  }
  if (wanted.body === undefined) return { headers: {} };
  return {
    body: JSON.stringify(wanted.body),
    headers: { 'content-type': 'application/json' },
  };
}

/** What a call's body says, for whoever writes it down: a file is only named. */
export function statedBody({ body, form }: Call): Json | undefined {
  if (form === undefined) return body;
  const files = Object.entries(form.files).map(([name, { path, size, mime }]) => [
    name,
    `(${path}, ${mime}, ${size} bytes)`,
  ]);
  return { ...form.fields, ...Object.fromEntries(files) };
}
