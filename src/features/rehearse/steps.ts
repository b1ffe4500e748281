import { computeDigest } from '../../core/digest.ts';
import {
  isChanging,
  type PlanDocument,
  type RehearsalDifference,
  type RehearsalStep,
} from '../../core/plan-document.ts';
import { countEach } from '../../core/value.ts';
import { formatCount } from '../../render/wording.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { Outcome } from './driver.ts';

/** All wording of a rehearsal's steps stands here. */

/** Compares the copy's plan with that of the platform, and lists what stands against it. */
export function copyStep(
  given: PlanDocument,
  copied: PlanDocument,
  resources: { readonly [kind: string]: number },
): RehearsalStep {
  const sum = Object.values(resources).reduce((one, other) => one + other, 0);
  const refused = [...listRefusals(given), ...listRefusals(copied)];
  if (refused.length > 0) {
    const message = 'apply would refuse this plan';
    return { step: 'copy', outcome: 'refused', message, details: [...new Set(refused)] };
  }
  const apart = changesApart(given, copied, 'on the platform', 'on the copy');
  if (apart.length > 0) {
    const message =
      'the copy gives a different plan than the platform, so the rehearsal proves nothing';
    return { step: 'copy', outcome: 'failed', message, details: apart };
  }
  const message = `a copy of the fleet (${formatCount(sum, 'resource')}) gives the same plan`;
  return { step: 'copy', outcome: 'held', message, details: [] };
}

function listRefusals({ refusals = [], changes, options }: PlanDocument): readonly string[] {
  const struck = options.skip_refused ? [] : changes.filter(({ verdict }) => verdict === 'refused');
  return [
    ...refusals.map(({ message }) => message),
    ...struck.map(({ address, reason }) => `${address}: ${reason}`),
  ];
}

/** The changes that the two plans do not have in common. */
export function changesApart(
  one: PlanDocument,
  other: PlanDocument,
  there: string,
  here: string,
): readonly string[] {
  const [mine, theirs] = [buildOutline(one), buildOutline(other)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].sort().flatMap((address) => {
    const [was, is] = [mine.get(address), theirs.get(address)];
    if (was?.text === is?.text) return [];
    return [
      `${address}: ${was?.summary ?? 'no change'} ${there}, ${is?.summary ?? 'no change'} ${here}`,
    ];
  });
}

function buildOutline({ changes }: PlanDocument) {
  return new Map(
    changes.map(({ address, action, verdict, fields }) => {
      const leaves = fields
        .map(({ path, before, after }) => computeDigest([path, before, after]))
        .sort();
      const names = fields.map(({ path }) => path).sort();
      const summary = names.length === 0 ? action : `${action} of ${names.join(', ')}`;
      return [address, { summary, text: JSON.stringify([action, verdict, leaves]) }];
    }),
  );
}

export function applyStep(outcome: Outcome, writes: number): RehearsalStep {
  const { status, ledger } = outcome;
  if (status === 'done') {
    const message = `${formatCounts(ledger)} in ${formatCount(writes, 'write')}, each read back`;
    return { step: 'apply', outcome: 'held', message, details: [] };
  }
  const how = status === 'refused' ? 'refused' : 'failed';
  const message =
    status === 'refused' ? 'apply refuses it' : `apply does not complete: ${formatCounts(ledger)}`;
  return { step: 'apply', outcome: how, message, details: listFailures(outcome) };
}

export function secondStep(second: PlanDocument): RehearsalStep {
  const left = listLeft(second);
  return left.length === 0
    ? { step: 'again', outcome: 'held', message: 'a second plan is empty', details: [] }
    : { step: 'again', outcome: 'failed', message: 'a second plan is not empty', details: left };
}

/**
 * Lists the changes that a plan would still make. A change that waits for a permission, or has no endpoint, is left
 * out.
 */
function listLeft({ changes }: PlanDocument): readonly string[] {
  return changes.filter(isChanging).map(({ address, action, fields }) => {
    const names = fields.map(({ path }) => path).join(', ');
    return `${address}: ${action}${names === '' ? '' : ` of ${names}`}`;
  });
}

export function failureStep(outcome: Outcome, half: number, all: number): RehearsalStep {
  const from = `from write ${half + 1} of ${all} on the platform answered 500`;
  if (outcome.status === 'done') {
    const message = `${from}, and the run ended as if nothing had happened`;
    return { step: 'failure', outcome: 'failed', message, details: [] };
  }
  const message = `${from}: ${formatCounts(outcome.ledger)}`;
  return { step: 'failure', outcome: 'held', message, details: [] };
}

export function resumeStep(outcome: Outcome, second: PlanDocument): RehearsalStep {
  const left = listLeft(second);
  if (outcome.status === 'done' && left.length === 0) {
    const message = 'a second apply completed, and the plan after it is empty';
    return { step: 'resume', outcome: 'held', message, details: [] };
  }
  const message =
    outcome.status === 'done'
      ? 'a second apply completed, and the plan after it is not empty'
      : `a second apply does not complete: ${formatCounts(outcome.ledger)}`;
  return {
    step: 'resume',
    outcome: 'failed',
    message,
    details: [...listFailures(outcome), ...left],
  };
}

export function rollbackStep(outcomes: readonly Outcome[]): RehearsalStep {
  const details = outcomes.flatMap((outcome) => [
    ...(outcome.forced
      ? [`without --undo-edited and --delete-used it is refused: ${outcome.forced}`]
      : []),
    ...(outcome.status === 'done' ? [] : listFailures(outcome)),
    ...outcome.ledger
      .filter(({ verdict }) => verdict !== undefined)
      .map((line) => `${line.address}: ${line.message ?? 'it is left out'}`),
  ]);
  const isDone = details.length === 0 && outcomes.every(({ status }) => status === 'done');
  const runs = outcomes.length === 1 ? 'the run is' : 'both runs are';
  const message = isDone ? `${runs} rolled back` : 'not everything could be rolled back';
  return { step: 'rollback', outcome: isDone ? 'held' : 'partial', message, details };
}

export function returnStep(differences: readonly RehearsalDifference[]): RehearsalStep {
  if (differences.length === 0) {
    const message = 'the fleet is as before, except for new ids, history and times';
    return { step: 'return', outcome: 'held', message, details: [] };
  }
  const whole = differences.filter(({ path }) => path === null);
  const left = whole.filter(({ before }) => before === null).length;
  const leaves = differences.length - whole.length;
  const counts = [
    [leaves, 'leaf differs', 'leaves differ'],
    [left, 'resource is left behind', 'resources are left behind'],
    [whole.length - left, 'resource is gone', 'resources are gone'],
  ] as const;
  const parts = counts.flatMap(([count, one, more]) =>
    count === 0 ? [] : [formatCount(count, one, more)],
  );
  const message = `the fleet is not as before: ${parts.join(', ')}`;
  return { step: 'return', outcome: 'partial', message, details: [] };
}

/** `5 done, 1 failed, 2 blocked`. */
function formatCounts(ledger: readonly LedgerLine[]): string {
  const counts = countEach(ledger.map(({ status }) => status));
  const parts = [...counts].map(([status, count]) => `${count} ${status.replace('_', ' ')}`);
  return parts.length === 0 ? 'nothing was done' : parts.join(', ');
}

/** Why a run did not come to its end: what failed or, where nothing did, what was remarked on. */
function listFailures({ ledger, message }: Outcome): readonly string[] {
  const listMessages = (lines: readonly LedgerLine[]) =>
    lines.map((line) => `${line.address}: ${line.message ?? 'it failed'}`);
  const failed = ledger.filter(({ status }) => status === 'failed');
  if (failed.length > 0) return listMessages(failed);
  const remarked = ledger.filter((line) => line.message !== null);
  return remarked.length > 0 ? listMessages(remarked) : message === null ? [] : [message];
}
