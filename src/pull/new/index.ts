/**
 * `pull/new/` proposes files for live resources that a stack does not have. What they say, and how it is written,
 * is the export's; here they find addresses, files and variables that the stack does not use. It computes texts;
 * the command line writes them.
 *
 * ```
 * live resources → addresses (names.ts) → one file each, and its texts (files.ts)
 * ```
 */
export { type Proposed, proposeFiles } from './files.ts';
export { type Foreign, nameResources } from './names.ts';
