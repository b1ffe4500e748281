import { createContext, Script } from 'node:vm';

/** How long one rule may take over everything that it judges. 10,000 resources take well under a second. */
export const RULE_SECONDS = 5;

const RUN = new Script('run()');

/**
 * Runs a function, and stops it where it takes too long: a rule that compares every resource with every
 * other, or a pattern that tries every way to match. It is no sandbox: CEL has no effects to keep in.
 *
 * @returns undefined where it was stopped
 */
export function withinTime<T>(run: () => T, seconds: number): { readonly value: T } | undefined {
  let value: { readonly value: T } | undefined;
  const context = createContext({
    run: () => {
      value = { value: run() };
    },
  });
  try {
    RUN.runInContext(context, { timeout: seconds * 1000 });
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
  return value;
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
