import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/** What `init` did. */
export type NewStack = {
  /** As it was given with `--dir`. */
  readonly dir: string;
  /** Paths from the folder of the stack. */
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly lacking: readonly { readonly path: string; readonly lines: readonly string[] }[];
  readonly hasBaseUrl: boolean;
};

/** What was written, what was left alone, and what to type next. */
export function renderNewStackText(stack: NewStack, { width, color }: RenderOptions): string {
  const { dir, written, kept, lacking, hasBaseUrl } = stack;
  const flag = dir === '.' ? '' : ` --dir ${/^[\w./-]+$/.test(dir) ? dir : JSON.stringify(dir)}`;
  const needed = `${hasBaseUrl ? '' : 'CALLSHEET_BASE_URL, '}CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET`;
  const lines: Line[] = [
    ...written.map((path) => [span('  + ', 'added'), span(sanitiseLine(path))]),
    ...kept.map((path) => [span('  = ', 'dim'), span(`${sanitiseLine(path)} (was there)`, 'dim')]),
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
  ];
  return paint(lines, color);
}
