import { dirname, join, normalize } from 'node:path';

/** A folder of `src/`, and the folders that its files import. */
type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const WIDTH = 820;
const ROW = 46;
const BOX = 28;
const GAP = 12;
/** About the width of a letter at the size below. */
const LETTER = 7.4;

/**
 * A picture of the folders of `src/` in rows, from what their files import: a folder imports from rows below its own
 * alone. `sources`: files below `src/` with their texts. Throws `Error` where folders import each other.
 */
export function drawArchitecture(sources: ReadonlyMap<string, string>): string {
  const imports = importsBetween(sources);
  const level = new Map<string, number>();
  const levelOf = (folder: string, above: readonly string[] = []): number => {
    if (above.includes(folder)) throw new Error(`folders import each other: ${above.join(', ')}`);
    const known = level.get(folder);
    if (known !== undefined) return known;
    const below = [...(imports.get(folder) ?? [])].map((one) => levelOf(one, [...above, folder]));
    const found = 1 + Math.max(-1, ...below);
    level.set(folder, found);
    return found;
  };
  for (const folder of imports.keys()) levelOf(folder);
  const rows = [...Map.groupBy(imports.keys(), (folder) => level.get(folder) ?? 0)]
    .sort(([a], [b]) => b - a)
    .map(([, folders]) => folders.sort());
  const boxes = rows.flatMap((folders, row) => drawRow(folders, 16 + row * ROW));
  const height = 16 + rows.length * ROW + 22;
  const note = 'Each folder of src/ imports from rows below its own alone.';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${note}">`,
    '<style>text{font:13px ui-monospace,monospace;fill:#1f2328}rect{fill:#eef1f4;stroke:#8b949e}.out rect{fill:#fff4d6}</style>',
    `<rect width="${WIDTH}" height="${height}" style="fill:#fff;stroke:none"/>`,
    ...boxes,
    `<text x="16" y="${height - 12}">${note}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function drawRow(folders: readonly string[], top: number): readonly string[] {
  const widths = folders.map((folder) => folder.length * LETTER + 20);
  let left = (WIDTH - widths.reduce((sum, one) => sum + one + GAP, -GAP)) / 2;
  return folders.map((folder, at) => {
    const width = widths[at] ?? 0;
    const x = left;
    left += width + GAP;
    const kind = folder === 'features' || folder === 'simulator' ? ' class="out"' : '';
    return `<g${kind}><rect x="${x.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${BOX}" rx="5"/><text x="${(x + width / 2).toFixed(1)}" y="${top + 18.5}" text-anchor="middle">${folder}</text></g>`;
  });
}

/** The folder that a file belongs to; undefined for files of `src/` itself. */
function folderOf(file: string): string | undefined {
  const [, folder, inner] = file.split('/');
  return inner === undefined ? undefined : folder;
}

function importsBetween(sources: ReadonlyMap<string, string>): Imports {
  const found = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    const from = folderOf(file);
    if (from === undefined) continue;
    const own = found.get(from) ?? new Set();
    found.set(from, own);
    for (const [, target = ''] of text.matchAll(
      /^(?:import|export)\s[^'";]*?\bfrom\s+'(\.[^']+)'/gm,
    )) {
      const to = folderOf(normalize(join(dirname(file), target)));
      if (to !== undefined && to !== from) own.add(to);
    }
  }
  return found;
}
