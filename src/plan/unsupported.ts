import type { Change } from '../core/plan-document.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Identity } from './identify.ts';
import { writesOf } from './operations.ts';
import type { Reader } from './reader.ts';

/** What the platform's operations can be used for, by their names. */
export type Support = {
  readonly lackOf: Reader['lackOf'];
  /** The assumption that an operation rests on; undefined where the specification or the stack shows it. */
  readonly assumptionOf: (operation: string) => string | undefined;
};

/** A change that apply leaves out, since the platform cannot be asked for it. */
export function unsupported(change: Change, reason: string): Change {
  return { ...change, verdict: 'unsupported', reason, operations: [] };
}

/** Gives the verdict `unsupported` to a change whose steps take an operation that cannot be used. */
export function withSupport(change: Change, identity: Identity, support: Support): Change {
  const { kind, isListed } = identity;
  if (change.verdict === 'unsupported') return change;
  if (change.action === 'create' && !isListed && !kind.refusesTwins) {
    const reason = `nobody can tell whether it exists: ${lackIn(kind.operations.read, support)}; ${ADOPT}`;
    return unsupported(change, reason);
  }
  const lack = lackIn(writesOf(change, kind), support);
  if (lack === undefined) return change;
  const advice = change.action === 'create' && !isListed ? ADOPT : DASHBOARD;
  return unsupported(change, `${change.reason}; ${lack}. ${OVERRIDE}; ${advice}`);
}

/** Why a resource cannot be read, or not all of it. */
export function unreadReason(kind: Kind, support: Support): string {
  return `${lackIn(kind.operations.read, support) ?? 'the platform does not return it'}. ${OVERRIDE}`;
}

const OVERRIDE = 'If the platform has it, say where under platform.endpoints';
const ADOPT = 'if the resource exists, name its id in lifecycle.adopt';
const DASHBOARD = 'otherwise make the change in the dashboard';

/** The first of the operations that cannot be used, and why, in words. */
function lackIn(
  operations: readonly string[],
  { lackOf, assumptionOf }: Support,
): string | undefined {
  const operation = operations.find((name) => lackOf(name) !== undefined);
  if (operation === undefined) return undefined;
  const assumption = assumptionOf(operation);
  const named = assumption === undefined ? operation : `${operation} (assumption ${assumption})`;
  return lackOf(operation) === 'refused'
    ? `it needs ${named}, which the specification does not show and platform.assume: false refuses`
    : `it needs ${named}, which this platform does not have`;
}
