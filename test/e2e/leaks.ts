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
  const written = filesBelow(folder).map(
    (path): Said => ({ by: relative(folder, path), text: readFileSync(path, 'latin1') }),
  );
  return [...said, ...written].flatMap(({ by, text }) =>
    [...forms.filter((form) => text.includes(form)), ...(text.match(CANARY) ?? [])].map(
      (leak) => `${leak} in ${by}`,
    ),
  );
}

/** Links are not followed: what they lead to is not the test's. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}
