import { writeFile } from 'node:fs/promises';
import { editorSchema } from '../../config/index.ts';
import { kinds } from '../../kinds/index.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withNamedFile } from '../named-file.ts';

export type SchemaFlags = CommonFlags & { readonly out?: string };

/** `callsheet schema`: the JSON Schema for editors, of this version, where nothing is installed beside it. */
export async function schema({ out }: SchemaFlags, { terminal }: Context): Promise<ExitCode> {
  const text = `${JSON.stringify(editorSchema(kinds), null, 2)}\n`;
  if (out === undefined) {
    terminal.out(text);
    return EXIT.done;
  }
  await withNamedFile('--out', out, () => writeFile(out, text));
  terminal.err(`The schema is in ${out}. Begin the files of the stack with its path from each:`);
  terminal.err(`# yaml-language-server: $schema=${out}`);
  return EXIT.done;
}
