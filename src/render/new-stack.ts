import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/** What `init` did. */
type NewStack = {
  /** As it was given with `--dir`. */
  readonly dir: string;
  /** Paths from the folder of the stack. */
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly lacking: readonly { readonly path: string; readonly lines: readonly string[] }[];
  readonly hasBaseUrl: boolean;
  /** Paths from where the command was typed, and the folder of this Callsheet. */
  readonly pipeline:
    | {
        /** The file whose head says what to set up at the service. */
        readonly guide: string;
        /** The folder that has no lockfile yet; undefined where it has. */
        readonly unlocked: string | undefined;
        readonly callsheet: string;
      }
    | undefined;
};

/** Files of one folder that are listed one by one. */
const MOST_LISTED = 5;

/** What was written, what was left alone, and what to type next. */
export function renderNewStackText(stack: NewStack, { width, color }: RenderOptions): string {
  const { dir, written, kept, lacking, hasBaseUrl, pipeline } = stack;
  const flag = dir === '.' ? '' : ` --dir ${word(dir)}`;
  const needed = `${hasBaseUrl ? '' : 'CALLSHEET_BASE_URL, '}CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET`;
  const lines: Line[] = [
    ...folded(written).map((path) => [span('  + ', 'added'), span(sanitiseLine(path))]),
    ...folded(kept).map((path) => [
      span('  = ', 'dim'),
      span(`${sanitiseLine(path)} (was there)`, 'dim'),
    ]),
    ...lacking.flatMap(({ path, lines: missing }): Line[] => [
      [span('  ! ', 'warning'), span(`${sanitiseLine(path)} is yours; add to it:`)],
      ...missing.map((line) => [span(`      ${sanitiseLine(line)}`)]),
    ]),
    [],
    [span('Next:', 'strong')],
    [span(`  callsheet validate${flag}`)],
    [span(`  callsheet plan${flag}`)],
    [span(`  callsheet apply${flag}`)],
    [],
    ...wrap([span(`plan and apply read ${needed} from the environment.`, 'dim')], width, 0),
    ...(pipeline === undefined ? [] : [[], ...setUpLines(pipeline, width)]),
  ];
  return paint(lines, color);
}

function setUpLines(
  { guide, unlocked, callsheet }: NonNullable<NewStack['pipeline']>,
  width: number,
): readonly Line[] {
  const say = (text: string) => wrap([span(text)], width, 0);
  return [
    ...(unlocked === undefined
      ? []
      : [
          ...say(
            'The pipeline installs Callsheet from a tarball and a lockfile with its checksum. Make both, and commit them:',
          ),
          [span(`  npm pack --ignore-scripts --pack-destination ${word(unlocked)} \\`)],
          [span(`    ${word(callsheet)}`)],
          [span(`  npm install --package-lock-only --prefix ${word(unlocked)}`)],
          [],
        ]),
    ...say('The variables, credentials and approvals that it needs are listed at the top of'),
    [span(`  ${sanitiseLine(guide)}`)],
  ];
}

/** A path as it is typed. */
function word(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}

/** Folders in the place of their files, where these are many. */
function folded(paths: readonly string[]): readonly string[] {
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  const shown = paths.map((path) => {
    const count = counts.get(folderOf(path)) ?? 0;
    return count > MOST_LISTED ? `${folderOf(path)} (${count} files)` : path;
  });
  return [...new Set(shown)];
}
