import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Every watched value begins so; it can come from nowhere else. */
const MARK = 'canary-';

/** The mark as it is, in hexadecimal, and in Base64 at each of the three offsets it may begin at. */
const MARKS = new RegExp(
  [MARK, Buffer.from(MARK).toString('hex'), ...base64Of(MARK)]
    .map((form) => form.replace(/[+/]/g, '\\$&'))
    .join('|'),
  'gi',
);

/** The characters of a text in Base64 that do not depend on what stands around it. */
function base64Of(text: string): readonly string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(`${'\0'.repeat(offset)}${text}`).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + text.length) * 8) / 6);
    return encoded.slice(first, last);
  });
}

const forms = new Map<string, readonly string[]>();

/** Forms of a value that has no mark, such as a token that the platform made. */
function formsOf(value: string): readonly string[] {
  const known = forms.get(value);
  if (known !== undefined) return known;
  const found = [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString('hex'),
    ...base64Of(value),
  ];
  forms.set(value, found);
  return found;
}

const AROUND = 60;

/** Where a watched value shows in a text, each with what stands around it. */
export function leaksIn(text: string, unmarked: readonly string[]): readonly string[] {
  const found = [...text.matchAll(MARKS)].map(({ index }) => index);
  const others = new Set(unmarked.flatMap(formsOf));
  for (const form of others) {
    const at = text.indexOf(form);
    if (at >= 0) found.push(at);
  }
  return found.map((at) => text.slice(Math.max(0, at - AROUND), at + AROUND));
}

/** Bytes as text; what is compressed, as what it was before. */
function textOf(bytes: Buffer): string {
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isCompressed ? gunzipSync(bytes) : bytes).toString('latin1');
}

/** Every file below a folder but the ones that are named, with its bytes as text. */
export async function filesBelow(
  folder: string,
  but: ReadonlySet<string>,
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((name) => !but.has(name));
  return Promise.all(
    names.map(async (name) => ({ name, text: textOf(await readFile(join(folder, name))) })),
  );
}
