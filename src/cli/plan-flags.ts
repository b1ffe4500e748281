import type { Endpoints } from '../api/endpoints.ts';
import { nearest } from '../config/nearest.ts';
import { type Address, matchesAddress } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanOptions } from '../core/plan-document.ts';
import { kinds } from '../kinds/index.ts';
import type { Refresh } from '../plan/make.ts';
import type { CommonFlags } from './context.ts';

/** Flags of commands that plan: what the person allows. */
export type PlanFlags = CommonFlags & {
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowDelete?: boolean;
  readonly acceptConflicts?: boolean;
  readonly skipRefused?: boolean;
  readonly resendSecrets?: boolean | readonly string[];
  readonly overrideFreeze?: string;
  readonly releaseHold?: boolean;
  readonly force?: boolean;
  readonly concurrency?: number;
  readonly refresh?: Refresh;
};

/**
 * How much is read. That what did not change need not be read again is an assumption: where the stack allows none,
 * everything is.
 */
export function refreshOf(
  { refresh = 'fast' }: Pick<PlanFlags, 'refresh'>,
  { assume }: Pick<Endpoints, 'assume'>,
): Refresh {
  return assume ? refresh : 'full';
}

/** The flags as a plan records them. */
export function planOptions(flags: PlanFlags): PlanOptions {
  return {
    allow_delete: flags.allowDelete ?? false,
    accept_conflicts: flags.acceptConflicts ?? false,
    skip_refused: flags.skipRefused ?? false,
    resend_secrets: flags.resendSecrets ?? false,
    target: flags.target ?? [],
    exclude: flags.exclude ?? [],
    force: flags.force ?? false,
    ...overrideOption(flags),
    ...(flags.releaseHold === true ? { release_hold: true } : {}),
  };
}

/** The reason that `--override-freeze` was given. Throws where it is none. */
export function overrideOption({
  overrideFreeze: reason,
}: Pick<PlanFlags, 'overrideFreeze'>): Pick<PlanOptions, 'override_freeze'> {
  if (reason === undefined) return {};
  if (reason.trim() !== '') return { override_freeze: reason.trim() };
  throw new CallsheetError('usage', '--override-freeze needs a reason', {
    hint: 'Say why it cannot wait; the reason is recorded with the run.',
  });
}

/** Throws where one of the addresses that a command was given names no resource. */
export function checkAddresses(given: readonly string[], known: readonly Address[]): void {
  const names = new Set(kinds.map(({ name }) => name));
  const lost = given.find(
    (pattern) => !names.has(pattern) && !known.some((address) => matchesAddress(pattern, address)),
  );
  if (lost === undefined) return;
  const near = nearest(lost, known);
  throw new CallsheetError('usage', `${lost} names no resource of this stack`, {
    hint: near === undefined ? 'callsheet plan shows their addresses.' : `Did you mean ${near}?`,
  });
}

/**
 * Throws where a flag chooses resources that there are none of: a slip of the finger must not read as
 * "nothing to change". A kind may be chosen whether the stack has resources of it or not.
 */
export function checkChosen(
  { target, exclude, resend_secrets: resend }: PlanOptions,
  known: readonly Address[],
): void {
  const names = new Set(kinds.map(({ name }) => name));
  const given = [
    ...target.map((pattern) => ['--target', pattern] as const),
    ...exclude.map((pattern) => ['--exclude', pattern] as const),
    ...(typeof resend === 'boolean' ? [] : resend).map(
      (address) => ['--resend-secrets', address] as const,
    ),
  ];
  const lost = given.find(
    ([, pattern]) =>
      !names.has(pattern) && !known.some((address) => matchesAddress(pattern, address)),
  );
  if (lost === undefined) return;
  const [flag, pattern] = lost;
  const near = nearest(pattern, known);
  throw new CallsheetError('usage', `${flag} ${pattern} names no resource of this stack`, {
    hint: near === undefined ? 'callsheet plan shows their addresses.' : `Did you mean ${near}?`,
  });
}
