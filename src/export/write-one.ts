import {
  type Unwritable,
  type Writable,
  type WriteOptions,
  type WrittenResources,
  writeResources,
} from '../config/write.ts';
import type { LiveResource } from '../plan/reader.ts';
import { type Exported, exportResource, type Remark, type ResourceContext } from './resource.ts';
import type { SecretUse } from './secret-names.ts';

/** A live resource as a file of a stack. */
type WrittenOne = {
  readonly writable: Writable;
  readonly written: WrittenResources;
  readonly secrets: readonly SecretUse[];
};

/** What came of it; nothing is written where the configuration cannot say it, and a remark says why. */
type Attempt = { readonly one: WrittenOne | undefined; readonly remarks: readonly Remark[] };

/**
 * What `export` and `pull --new` write of a live resource, as a file of its own. Fields that the language has no
 * words for are left out, and told.
 */
export function writeOne(
  live: LiveResource,
  context: ResourceContext,
  options: WriteOptions,
): Attempt {
  const { writable, secrets, remarks }: Exported = exportResource(live, context);
  if (writable === undefined) return { one: undefined, remarks };
  const first = writeFile([writable], options);
  if (first.unwritable.length === 0) {
    return { one: { writable, written: first, secrets }, remarks };
  }
  const sayable = withoutFields(writable, first.unwritable);
  const left = first.unwritable.map(
    (one): Remark => ({
      ...one,
      reason: `${one.reason}; it is left out`,
    }),
  );
  return {
    one: { writable: sayable, written: writeFile([sayable], options), secrets },
    remarks: [...remarks, ...left],
  };
}

/** Writes resources as one file, and their long texts as files of their own. */
export function writeFile(resources: readonly Writable[], options: WriteOptions): WrittenResources {
  return withFinalNewlines(writeResources(resources, options));
}

/** Files of prose end with a line feed, which is not compared. */
export function withFinalNewlines({ files, ...written }: WrittenResources): WrittenResources {
  const ended = [...files].map(([path, text]): [string, string] => [
    path,
    text.endsWith('\n') ? text : `${text}\n`,
  ]);
  return { ...written, files: new Map(ended) };
}

function withoutFields(writable: Writable, unwritable: readonly Unwritable[]): Writable {
  const paths = unwritable.map(({ path }) => path.replace(/^unchecked\./, ''));
  const isSaid = (field: string) =>
    !paths.some(
      (path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`),
    );
  const document = Object.entries(writable.document).filter(([field]) => isSaid(field));
  return { ...writable, document: Object.fromEntries(document) };
}
