import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Diagnostic } from '../../src/core/diagnostics.ts';
import { features } from '../../src/features/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { type Loaded, type LoadOptions, loadStack, type Stack } from '../../src/stack/index.ts';
import { temporaryFolder } from '../temporary.ts';

/** Contents by path. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const BAY = '9c24e74f-4564-4836-a0d8-0691bfe720fe';
/** A `callsheet.yaml` with nothing wrong; rows add to it by appending. */
export const MAIN = `callsheet: 1
organizations: { harbor: ${HARBOR}, bay: ${BAY} }
organization: harbor
`;

export const WAV = Buffer.from('RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');
export const PDF = Buffer.from('%PDF-1.4\n', 'latin1');

/** A temporary folder with these files; it is removed after the test. */
export function folderOf(files: Files): string {
  const dir = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

type Options = Partial<Omit<LoadOptions, 'dir'>> & { readonly kinds?: readonly Kind[] };

/** Loads a stack of these files. `callsheet.yaml` is `MAIN` unless given. */
export function load(files: Files, { kinds, ...options }: Options = {}): Promise<Loaded> {
  const dir = folderOf({ 'callsheet.yaml': MAIN, ...files });
  return loadStack({ dir, env: {}, secrets: 'skip', features, ...options }, kinds);
}

/** Loads a stack in which nothing may be wrong. */
export async function loadGood(files: Files, options: Options = {}): Promise<Stack> {
  const { stack, diagnostics } = await load(files, options);
  expect(diagnostics).toEqual([]);
  if (stack === undefined) throw new Error('the stack was not loaded');
  return stack;
}

/** `agents.yaml:3:5 warning schema/enum agent.a: status is "on", which the specification does not have`; a warning says so. */
export function said({ severity, rule, message, position }: Diagnostic): string {
  const place = position ? `${position.file}:${position.line}:${position.column} ` : '';
  return `${place}${severity === 'warning' ? 'warning ' : ''}${rule} ${message}`;
}

export type Row = {
  readonly title: string;
  readonly files: Files;
  readonly options?: Options;
  /** Everything that must be said, and nothing else. */
  readonly says: readonly string[];
  /** Text that one of the hints must hold. */
  readonly hint?: string;
  /** Every hint, in the order of what is said. */
  readonly hints?: readonly string[];
};

/** One test per broken stack: all that is said of it, in order. */
export function broken(rows: readonly Row[]): void {
  test.each(rows)('$title', async ({ files, options, says, hint, hints }) => {
    const { stack, diagnostics } = await load(files, options);
    expect(diagnostics.map(said)).toEqual(says);
    expect(stack === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
    if (hints !== undefined) expect(diagnostics.map((one) => one.hint)).toEqual(hints);
    if (hint !== undefined) {
      expect(diagnostics.map((diagnostic) => diagnostic.hint).join('\n')).toContain(hint);
    }
  });
}

/** `agents.yaml` with one agent that has these lines, each indented below its name. */
export function agent(...lines: readonly string[]): Files {
  const body = lines.map((line) => `    ${line}\n`).join('');
  return { 'agents.yaml': `agents:\n  a:\n    name: A\n${body}` };
}
