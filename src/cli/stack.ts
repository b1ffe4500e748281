import { ABSENT, type LoadOptions, loadStack, readSecrets, type Stack } from '../config/index.ts';
import type { Diagnostic } from '../core/diagnostics.ts';
import { CallsheetError } from '../core/errors.ts';
import { Secret } from '../core/value.ts';
import type { CommonFlags, Context } from './context.ts';
import { spareMemory } from './spare-memory.ts';

/** From this many resources on, documents that come and go would fill several times the memory that is in use. */
const LARGE_STACK = 20_000;

export type LoadedStack = {
  readonly stack: Stack;
  readonly warnings: readonly Diagnostic[];
  readonly secretOf: (source: string) => string | undefined;
  /** Values of all secrets that were read. */
  readonly secretValues: readonly string[];
};

/**
 * What is to become of the secrets: `check` needs all of them, `skip` none, and `try` takes those that are at hand, for
 * commands that write nothing to the platform.
 */
export type SecretsWanted = 'check' | 'skip' | 'try';

/**
 * Loads the stack and the secrets that are wanted. Throws `CallsheetError('config')` that carries every problem there
 * is; nothing has been sent then.
 */
export async function openStack(
  flags: CommonFlags,
  context: Context,
  wanted: SecretsWanted = 'check',
): Promise<LoadedStack> {
  const { stack, diagnostics } = await loadStack({
    ...loadOptions(flags, context),
    secrets: wanted === 'check' ? 'check' : 'skip',
    onCounted: (resources) => {
      if (resources >= LARGE_STACK) spareMemory();
    },
  });
  if (stack === undefined) throw broken(diagnostics);
  if (wanted === 'skip')
    return { stack, warnings: diagnostics, secretOf: () => undefined, secretValues: [] };
  const secrets = stack.secrets.map(({ source }) => new Secret(source));
  const run = context.runSecret?.(stack.dir);
  const read = await readSecrets(stack, secrets, context.env, run);
  const wrong = read.diagnostics.filter(({ rule }) => wanted === 'check' || !ABSENT.has(rule));
  if (wrong.length > 0) throw broken([...diagnostics, ...wrong]);
  return {
    stack,
    warnings: diagnostics,
    secretOf: (source) => read.values.get(source),
    secretValues: [...new Set(read.values.values())],
  };
}

function broken(diagnostics: readonly Diagnostic[]): CallsheetError {
  return new CallsheetError('config', 'the configuration has errors', { diagnostics });
}

/** What every command loads a stack with. */
export function loadOptions(
  { dir, env: environment, var: vars = [], varFile: varFiles = [], allowEnv = [] }: CommonFlags,
  { env }: Pick<Context, 'env'>,
): Omit<LoadOptions, 'secrets'> {
  return { dir, env, environment, vars: parseVars(vars), varFiles, allowEnv };
}

/** `--var name=value`, by name. */
export function parseVars(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CallsheetError('usage', `--var ${text} is not of the form name=value`);
    }),
  );
}
