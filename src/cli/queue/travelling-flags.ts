import { CallsheetError } from '../../core/errors.ts';
import type { Json } from '../../core/value.ts';
import type { QueuedCommand } from '../../queue/batch.ts';
import type { StackFlags } from '../fleet/run-stack.ts';

/**
 * The flags that travel with a job, and the commands that they are for. Those that only say how a machine works
 * (`--concurrency`, `--trace-http`, `--allow-exec`, `--allow-env`) are the worker's own. Values of `--var` may be what nobody else is
 * to read, so they stay where they are: each worker is given the same, and the digest of the configuration tells.
 */
const TRAVELLING = {
  env: ['plan', 'apply', 'drift'],
  target: ['plan', 'apply', 'drift'],
  exclude: ['plan', 'apply', 'drift'],
  allowDelete: ['plan', 'apply'],
  acceptConflicts: ['plan', 'apply'],
  skipRefused: ['plan', 'apply'],
  force: ['plan', 'apply'],
  releaseHold: ['plan', 'apply'],
  overrideFreeze: ['plan', 'apply'],
  resendSecrets: ['plan', 'apply'],
  detailedExitcode: ['plan', 'drift'],
  autoApprove: ['apply'],
  rollbackOnFailure: ['apply'],
} as const satisfies { readonly [flag in keyof StackFlags]?: readonly QueuedCommand[] };

type Travelling = keyof typeof TRAVELLING;

/** The flags of a command that go into its jobs. Throws for one that the command does not know. */
export function travelling(
  command: QueuedCommand,
  flags: StackFlags,
): { readonly [flag: string]: Json } {
  const given = Object.keys(TRAVELLING).filter(
    (name) => flags[name as Travelling] !== undefined,
  ) as Travelling[];
  const wrong = given.filter(
    (name) => !(TRAVELLING[name] as readonly QueuedCommand[]).includes(command),
  );
  if (wrong.length > 0) {
    const names = wrong.map(spelt).join(', ');
    throw new CallsheetError('usage', `${names} is no flag of ${command}`, {
      hint: `callsheet ${command} --help shows what there is.`,
    });
  }
  return Object.fromEntries(given.map((name) => [name, toJson(flags[name])]));
}

/** The flags of a job, as the command takes them. What no Callsheet of this version puts there is left out. */
export function travelled(flags: { readonly [flag: string]: Json }): StackFlags {
  const known = Object.entries(flags).filter(([name]) => name in TRAVELLING);
  return Object.fromEntries(known) as StackFlags;
}

function toJson(value: string | boolean | readonly string[] | undefined): Json {
  if (value === undefined) return null;
  return typeof value === 'object' ? [...value] : value;
}

function spelt(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
