import pLimit from 'p-limit';
import type { Diagnostic } from '../core/diagnostics.ts';
import type { Secret } from '../core/value.ts';
import { openFolder } from './folder.ts';
import type { Stack } from './load.ts';
import { type RunCommand, readSecret } from './secrets.ts';

type SecretValues = {
  /** By source. Holds only those that could be read. */
  readonly values: ReadonlyMap<string, string>;
  /** One for every place that uses a secret which could not be read. */
  readonly diagnostics: readonly Diagnostic[];
};

/** Commands that are run beside each other; a vault answers each in its own time. */
const AT_ONCE = 4;

/**
 * Reads secrets at the moment of need. `secrets` may come from the stack or from a plan that was made of
 * it earlier; a source that the stack no longer uses is reported without a place. Commands are run by `run`, each
 * once, and not at all without it.
 */
export async function readSecrets(
  stack: Pick<Stack, 'dir' | 'secrets'>,
  secrets: Iterable<Secret>,
  env: Readonly<Record<string, string | undefined>>,
  run?: RunCommand,
): Promise<SecretValues> {
  const folder = openFolder(stack.dir);
  const values = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  const sources = [...new Set([...secrets].map((secret) => secret.source))];
  const limit = pLimit(AT_ONCE);
  const reads = await limit.map(sources, async (source) => ({
    source,
    read: await readSecret(source, env, folder, run),
  }));
  for (const { source, read } of reads) {
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
