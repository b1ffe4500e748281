import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { nearest } from '../../config/nearest.ts';
import { readSource } from '../../config/secrets.ts';
import { type Address, matchesAddress } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kinds } from '../../kinds/index.ts';

/** A line of the file that `--secrets` names: where a secret of some addresses comes from. */
type Given = { readonly pattern: Address; readonly path: string; readonly source: string };

/** Whether a pattern of the file means an address. */
export function names(pattern: string, address: Address): boolean {
  return pattern === '*' || matchesAddress(pattern, address);
}

/** Reads the file. Throws `CallsheetError('usage')` where it is not what it should be. */
export async function readGiven(file: string): Promise<readonly Given[]> {
  const wrong = (why: string) =>
    new CallsheetError('usage', `--secrets ${file} ${why}`, {
      hint: 'It is YAML: an address (or a kind, or *), below it paths with env:NAME, file:PATH or exec:COMMAND.',
    });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CallsheetError('usage', `--secrets ${file} cannot be read`, { cause });
  });
  let document: unknown;
  try {
    document = parse(text);
  } catch {
    // What a parser says of it may quote a secret that was put there by mistake.
    throw wrong('is not YAML');
  }
  const isTable = (one: unknown): one is Record<string, unknown> =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!isTable(document)) throw wrong('holds no addresses');
  return Object.entries(document).flatMap(([pattern, paths]) => {
    if (!isTable(paths)) throw wrong(`has no paths below ${pattern}`);
    return Object.entries(paths).map(([path, source]) => {
      const read = typeof source === 'string' ? readSource(source) : undefined;
      if (typeof source !== 'string' || read === undefined || 'words' in read)
        throw wrong(`says of ${pattern} ${path} neither env:NAME, file:PATH nor exec:COMMAND`);
      const whole = read.from === 'file' ? resolve(dirname(file), read.path) : undefined;
      return {
        pattern,
        path,
        source: whole === undefined ? source : `file:${whole}`,
      };
    });
  });
}

/** A secret for an address that is not there was meant for another one, which would go without. */
export function refuseLost(
  given: readonly Given[],
  known: readonly Address[],
  { secrets: file }: { readonly secrets?: string },
): void {
  const kindNames = kinds.map(({ name }) => name);
  const lost = [...new Set(given.map(({ pattern }) => pattern))].filter(
    (pattern) => !kindNames.includes(pattern) && !known.some((address) => names(pattern, address)),
  );
  const [first] = lost;
  if (first === undefined) return;
  const near = nearest(first, known);
  throw new CallsheetError(
    'usage',
    `--secrets ${file} names what the snapshot does not hold: ${lost.join(', ')}`,
    {
      hint:
        near === undefined
          ? 'callsheet snapshot show lists the addresses in it. Nothing was sent.'
          : `Did you mean ${near}? callsheet snapshot show lists the addresses in it. Nothing was sent.`,
    },
  );
}

/** What a person named for a secret must be there: to go on without it would be a surprise. */
export function refuseUnread(
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
    `--secrets ${file} names what cannot be read:\n${lines.join('\n')}`,
    { hint: 'Set the variable, or put the file there. Nothing was sent.' },
  );
}
