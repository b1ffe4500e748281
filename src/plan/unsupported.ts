import type { Change } from '../core/plan-document.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Identity } from './identify.ts';
import { assumptionsAlong, writesOf } from './operations.ts';
import type { Reader } from './reader.ts';

/** What the platform's operations can be used for, by their names. */
export type Support = {
  readonly lackOf: Reader['lackOf'];
  /** The assumption that an operation rests on; undefined where the specification or the stack shows it. */
  readonly assumptionOf: (operation: string) => string | undefined;
  /** Whether fields may be written whose form is only assumed (`platform.assume`). */
  readonly assume: boolean;
};

/** A change that apply leaves out, since the platform cannot be asked for it. */
function unsupported(change: Change, reason: string): Change {
  return { ...change, verdict: 'unsupported', reason, operations: [] };
}

/**
 * Gives the verdict `unsupported` to a change whose steps take an operation that cannot be used, or whose bodies
 * have a form that is not to be assumed. `carried` are the paths that go back with it as they were read.
 */
export function withSupport(
  change: Change,
  identity: Identity,
  support: Support,
  carried: readonly string[],
): Change {
  const { kind, isListed } = identity;
  if (change.action === 'create' && !isListed && !kind.refusesTwins) {
    const lack = lackIn(kind.operations.read, support);
    const reason = `nobody can tell whether it exists: ${lack?.words}; ${ADOPT}`;
    return unsupported(change, reason);
  }
  const lack =
    lackIn(writesOf(change, kind), support) ?? assumedField(change, kind, support, carried);
  if (lack === undefined) return change;
  const advice = change.action === 'create' && !isListed ? ADOPT : DASHBOARD;
  const way = lack.canBeMoved ? `. ${OVERRIDE}` : '';
  return unsupported(change, `${change.reason}; ${lack.words}${way}; ${advice}`);
}

/** Why a resource cannot be read, or not all of it. */
export function unreadReason(kind: Kind, support: Support): string {
  const lack = lackIn(kind.operations.read, support);
  return `${lack?.words ?? 'the platform does not return it'}. ${OVERRIDE}`;
}

const OVERRIDE = 'If the platform has it, say where under platform.endpoints';
const ADOPT = 'if the resource exists, name its id in lifecycle.adopt';
const DASHBOARD = 'otherwise make the change in the dashboard';

/** What a change needs and cannot have, in words, and whether saying where it is would help. */
type Missing = { readonly words: string; readonly canBeMoved: boolean };

/** The first of the operations that cannot be used. */
function lackIn(
  operations: readonly string[],
  { lackOf, assumptionOf }: Support,
): Missing | undefined {
  const operation = operations.find((name) => lackOf(name) !== undefined);
  if (operation === undefined) return undefined;
  const assumption = assumptionOf(operation);
  const named = assumption === undefined ? operation : `${operation} (assumption ${assumption})`;
  switch (lackOf(operation)) {
    case 'refused':
      return { words: `it needs ${named}, which ${UNSHOWN}`, canBeMoved: true };
    case 'unshown':
      return { words: `it needs ${named}, whose request ${UNSHOWN}`, canBeMoved: false };
    default:
      return {
        words: `it needs ${named}, which this platform does not have`,
        canBeMoved: true,
      };
  }
}

const UNSHOWN = 'the specification does not show and platform.assume: false refuses';

/** The first field that would be written in a form that is only assumed, where nothing may be. */
function assumedField(
  change: Change,
  kind: Kind,
  { assume }: Support,
  carried: readonly string[],
): Missing | undefined {
  if (assume || change.operations.length === 0) return undefined;
  const shown = new Set(change.fields.map(({ path }) => path));
  for (const path of [...shown, ...carried]) {
    const [assumption] = assumptionsAlong(kind.schema, path);
    if (assumption === undefined) continue;
    const verb = shown.has(path) ? 'writes' : 'sends back';
    const words = `it ${verb} ${path} (assumption ${assumption}), whose form ${UNSHOWN}`;
    return { words, canBeMoved: false };
  }
  return undefined;
}
