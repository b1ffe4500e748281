/**
 * `export/` writes live resources as files of a stack, as a careful person would: names instead of ids, long
 * texts in files of their own, secrets as `$secret`. It computes texts; the command line writes them.
 *
 * ```
 * live resource → writable resource (document.ts) → one file each, and its texts (files.ts)
 * ```
 */
export { type Exported, exportResources } from './files.ts';
export { type Foreign, nameResources } from './names.ts';
