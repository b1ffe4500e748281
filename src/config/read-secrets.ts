import type { Diagnostic } from '../core/diagnostics.ts';
import type { Secret } from '../core/value.ts';
import { openFolder } from './folder.ts';
import type { Stack } from './load.ts';
import { readSecret } from './secrets.ts';

type SecretValues = {
  /** By source. Holds only those that could be read. */
  readonly values: ReadonlyMap<string, string>;
  /** One for every place that uses a secret which could not be read. */
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Reads secrets at the moment of need. `secrets` may come from the stack or from a plan that was made of
 * it earlier; a source that the stack no longer uses is reported without a place.
 */
export async function readSecrets(
  stack: Pick<Stack, 'dir' | 'secrets'>,
  secrets: Iterable<Secret>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SecretValues> {
  const folder = openFolder(stack.dir);
  const values = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  for (const source of new Set([...secrets].map((secret) => secret.source))) {
    const read = await readSecret(source, env, folder);
    if ('value' in read) {
      values.set(source, read.value);
      continue;
    }
    const { rule, message, hint } = read.words;
    const fact = { severity: 'error', rule, ...(hint === undefined ? {} : { hint }) } as const;
    const uses = stack.secrets.filter((use) => use.source === source);
    for (const { address, path, position } of uses) {
      diagnostics.push({
        ...fact,
        message: `${address}: ${path} ${message}`,
        address,
        path,
        position,
      });
    }
    if (uses.length === 0) diagnostics.push({ ...fact, message: `the plan ${message}` });
  }
  return { values, diagnostics };
}
