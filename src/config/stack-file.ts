import { fileWords } from './file-words.ts';
import { type Folder, isUnreadable } from './folder.ts';
import { maskSecretFields } from './masks.ts';
import { openPacker } from './packed.ts';
import type { Report } from './problems.ts';
import { type Source, startOf } from './source.ts';
import type { Written } from './written.ts';
import { parseYaml } from './yaml.ts';

/** A YAML file of the stack. */
export type StackFile = {
  /** Relative to the stack folder. */
  readonly file: string;
  /** Undefined where it could not be read. */
  readonly source: Source | undefined;
  /** Undefined where it could not be parsed. */
  readonly root: Written | undefined;
  /** What the file holds is not known, or not all of it. */
  readonly broken: boolean;
};

/**
 * Reads one YAML file and reports what is wrong with it as a file. `names` are the fields that hold
 * secrets: where a file is malformed, only they tell what its frames must not show.
 */
export function readStackFile(
  folder: Folder,
  file: string,
  names: readonly string[],
  report: Report,
): StackFile {
  const read = folder.text(file);
  if (isUnreadable(read)) {
    const words = fileWords(file, read);
    const place = startOf({ file, text: '' });
    report.add({ ...words, message: `the stack ${words.message}`, place });
    return { file, source: undefined, root: undefined, broken: true };
  }
  const { source, bom } = read;
  if (bom) {
    report.add({
      severity: 'warning',
      rule: 'yaml/bom',
      message: `${file} begins with a byte order mark`,
      hint: 'Save the file without one',
      place: startOf(source),
    });
  }
  const { root, problems } = parseYaml(source);
  for (const problem of problems) report.add(problem);
  if (problems.length > 0) maskSecretFields(source, names, report);
  return { file, source, root: root && packed(root, source), broken: root === undefined };
}

/** Files are all read before the first resource is made, so none of them is kept as a tree of objects. */
function packed(root: Written, source: Source): Written {
  if (root.type !== 'map') return root;
  const packer = openPacker(source);
  const map = packer.pack(root);
  packer.close();
  return map;
}
