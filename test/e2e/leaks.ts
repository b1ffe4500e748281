import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Something that was said, and by what. */
export type Said = { readonly by: string; readonly text: string };

/** Every secret of a test begins so; its value can come from nowhere else. */
const CANARY = /canary-[\w-]+/g;

/**
 * Where a secret shows up: in what was printed, or in a file below the folder. `hidden` are further
 * values to look for, such as tokens; they are looked for in Base64 too, as headers carry them.
 */
export function findLeaks(
  hidden: readonly string[],
  said: readonly Said[],
  folder: string,
): readonly string[] {
  const forms = hidden.flatMap((value) => [value, Buffer.from(value).toString('base64')]);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const written = files.map(({ parentPath, name }): Said => {
    const path = join(parentPath, name);
    return { by: relative(folder, path), text: readFileSync(path, 'latin1') };
  });
  return [...said, ...written].flatMap(({ by, text }) =>
    [...forms.filter((form) => text.includes(form)), ...(text.match(CANARY) ?? [])].map(
      (leak) => `${leak} in ${by}`,
    ),
  );
}
