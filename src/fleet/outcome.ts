import type { Diagnostic } from '../core/diagnostics.ts';
import { EXIT, type ExitCode, unreachable } from '../core/errors.ts';
import { hasChanges } from '../plan/document.ts';
import type { Failure } from '../render/diagnostics.ts';
import type { FleetDocument, FleetStack, StackStatus } from '../render/fleet.ts';
import { jsonText } from '../render/untrusted.ts';
import { formatNumber } from '../render/wording.ts';
import type { StackDocument, StackResult } from './run-stack.ts';

/**
 * The exit code of the whole is that of the stack that needs a person most: whoever interrupted knows it; an error is
 * something that nobody foresaw; after what was left half done comes what was refused, what has to be planned again,
 * what has to wait, and changes.
 */
const WORST_FIRST: readonly ExitCode[] = [
  EXIT.interrupted,
  EXIT.error,
  EXIT.partial,
  EXIT.refused,
  EXIT.stale,
  EXIT.locked,
  EXIT.changes,
  EXIT.done,
];

export function worstExit(exits: readonly number[]): ExitCode {
  return WORST_FIRST.find((exit) => exits.includes(exit)) ?? EXIT.done;
}

/** What is told of a stack in the summary. */
export function outcomeOf({ path, exit, document, error }: StackResult): FleetStack {
  const reason =
    error !== undefined
      ? reasonOfFailure(path, error)
      : document === undefined
        ? undefined
        : reasonIn(path, document);
  return {
    path,
    status: statusOf(exit, document),
    exit,
    counts: document === undefined ? {} : countsOf(document),
    plan_digest: document?.format === 'callsheet-plan' ? document.digest : null,
    plan_file: null,
    run: document?.format === 'callsheet-run' ? document.run : null,
    reason: reason ?? null,
    error: error ?? null,
  };
}

function statusOf(exit: ExitCode, document: StackDocument | undefined): StackStatus {
  switch (exit) {
    case EXIT.error:
      return 'failed';
    case EXIT.partial:
      return 'partial';
    case EXIT.refused:
      return 'refused';
    case EXIT.stale:
      return 'stale';
    case EXIT.locked:
      return 'locked';
    case EXIT.interrupted:
      return 'interrupted';
    case EXIT.changes:
    case EXIT.done:
      return document === undefined ? 'unchanged' : statusIn(document);
    default:
      return unreachable(exit);
  }
}

/** How a command came out that did all that it was asked. */
function statusIn(document: StackDocument): StackStatus {
  switch (document.format) {
    case 'callsheet-diagnostics':
      return 'done';
    case 'callsheet-run':
      return document.ledger.some(({ status }) => status === 'done') ? 'done' : 'unchanged';
    case 'callsheet-plan': {
      const isDrift = document.purpose === 'drift';
      const isChanged = isDrift ? document.changes.length > 0 : hasChanges(document);
      return isChanged ? 'changes' : 'unchanged';
    }
    default:
      return unreachable(document);
  }
}

function countsOf(document: StackDocument): FleetStack['counts'] {
  switch (document.format) {
    case 'callsheet-diagnostics':
      return document.counts;
    case 'callsheet-run': {
      const counts: { [status: string]: number } = {};
      for (const { status } of document.ledger) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    }
    case 'callsheet-plan':
      return document.purpose === 'drift' ? { drifted: document.changes.length } : document.summary;
    default:
      return unreachable(document);
  }
}

/** Why a stack ended: the first problem, with its place as seen from where the tree is. */
function reasonOfFailure(path: string, { message, diagnostics }: Failure): string {
  const [line = '', ...more] = message.split('\n');
  return reasonOfProblems(path, diagnostics) ?? `${line}${moreWords(more.length)}`;
}

/** What stands in the way of a stack that came to its end. */
function reasonIn(path: string, document: StackDocument): string | undefined {
  switch (document.format) {
    case 'callsheet-diagnostics':
      return reasonOfProblems(path, document.diagnostics);
    case 'callsheet-plan': {
      const struck = document.changes.filter(({ verdict }) => verdict === 'refused');
      return firstOf([
        ...(document.refusals ?? []).map(({ message }) => message),
        ...struck.map(({ address, reason }) => `${address}: ${reason}`),
      ]);
    }
    case 'callsheet-run':
      return firstOf([
        ...(document.refusals ?? []).map(({ message }) => message),
        ...document.ledger
          .filter(({ status, verdict }) => status === 'failed' || verdict === 'refused')
          .map(({ address, message }) => `${address}: ${message ?? 'failed'}`),
      ]);
    default:
      return unreachable(document);
  }
}

function reasonOfProblems(path: string, diagnostics: readonly Diagnostic[]): string | undefined {
  const folder = path === '.' ? '' : `${path}/`;
  return firstOf(
    diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ position: at, message }) =>
        at === undefined ? message : `${folder}${at.file}:${at.line}: ${message}`,
      ),
  );
}

function firstOf(reasons: readonly string[]): string | undefined {
  const [first, ...others] = reasons;
  return first === undefined ? undefined : `${first}${moreWords(others.length)}`;
}

function moreWords(count: number): string {
  return count === 0 ? '' : ` (and ${formatNumber(count)} more)`;
}

/** What came of all stacks as JSON. Ends in a line break. */
export function fleetJson(document: FleetDocument): string {
  return `${jsonText(document)}\n`;
}
