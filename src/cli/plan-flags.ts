import type { PlanOptions } from '../core/plan-document.ts';
import type { CommonFlags } from './context.ts';

/** Flags of commands that plan: what the person allows. */
export type PlanFlags = CommonFlags & {
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowDelete?: boolean;
  readonly acceptConflicts?: boolean;
  readonly skipRefused?: boolean;
  readonly resendSecrets?: boolean | readonly string[];
  readonly concurrency?: number;
};

/** The flags as a plan records them. */
export function planOptions(flags: PlanFlags): PlanOptions {
  return {
    allow_delete: flags.allowDelete ?? false,
    accept_conflicts: flags.acceptConflicts ?? false,
    skip_refused: flags.skipRefused ?? false,
    resend_secrets: flags.resendSecrets ?? false,
    target: flags.target ?? [],
    exclude: flags.exclude ?? [],
    force: false,
  };
}
