import { codeSpan, commandLine, commandSpan } from '../core/command-line.ts';
import { EXIT, type ExitCode, formatSize, type RunFailure, unreachable } from '../core/errors.ts';
import {
  allowanceFlags,
  isChanging,
  isHeldBack,
  isRefused,
  type PlanDocument,
} from '../core/plan-document.ts';
import { isBehind } from '../plan/document.ts';
import { revertMessage } from '../render/footers.ts';
import { renderLedgerText, renderNotUndone, renderVerification } from '../render/runs.ts';
import { paint, type Way, wayLines } from '../render/terminal.ts';
import { jsonText } from '../render/untrusted.ts';
import {
  describeWaiting,
  formatCount,
  formatPlanPlace,
  leaveOutCommand,
} from '../render/wording.ts';
import type { Revert } from '../run/document.ts';
import { isDisturbed, type RunOutcome } from '../run/run.ts';
import { runDocument, type UndoOutcome } from '../run/undo.ts';
import type { CommonFlags } from './context.ts';
import { say } from './events.ts';
import type { Terminal } from './terminal.ts';

/** How an outcome is shown: the flags, and the terminal. */
export type Shown = {
  readonly flags: Pick<CommonFlags, 'dir' | 'env'> & {
    readonly format: 'text' | 'json';
    readonly rollbackOnFailure?: boolean;
  };
  readonly context: { readonly terminal: Terminal };
};

/** The outcome of a command that writes; that of a plan alone is shown as a plan. */
type Written = Exclude<UndoOutcome, { type: 'planned' }>;

/** Shows what came of it, and gives the exit code. */
export function showOutcome(outcome: Written, shown: Shown): ExitCode {
  if (shown.flags.format === 'json' && outcome.type !== 'declined')
    shown.context.terminal.out(jsonText(runDocument(outcome)));
  tellOutcome(outcome, shown);
  return exitOfOutcome(outcome);
}

/** Says what came of it to people, and with text shows it. */
export function tellOutcome(outcome: UndoOutcome, shown: Shown): void {
  const { terminal } = shown.context;
  if (outcome.type === 'planned') return;
  if (outcome.type === 'declined') {
    terminal.err('Nothing was written.');
    return;
  }
  if (outcome.type === 'refused') tellRefused(outcome.plan, terminal);
  if (shown.flags.format === 'text') showText(outcome, shown);
  if (!('waysOn' in outcome || 'isHeld' in outcome)) return;
  if (shown.flags.format === 'text') tellWaysOn(outcome, terminal);
  if (outcome.isHeld === true) tellHeld(outcome.plan.revert ?? null, terminal);
}

/** Bytes of a run's traffic with the store of its state from which a run says how many they were. */
const WORTH_SAYING = 1024 * 1024;

function showText(
  outcome: Exclude<Written, { type: 'declined' }>,
  { flags, context: { terminal } }: Shown,
): void {
  if (outcome.type === 'nothing') {
    terminal.out(`Run ${outcome.run} changed nothing, so there is nothing to roll back.`);
  } else if (outcome.type === 'ran') {
    const { plan, result } = outcome;
    const { renderErr } = terminal;
    const ledger = renderLedgerText(result.ledger, terminal.render, {
      place: formatPlanPlace(plan),
    });
    terminal.out(`\n${ledger}`);
    if (result.verification !== undefined)
      terminal.out(renderVerification(result.verification, plan.undoes, terminal.render));
    const { sent = 0, read = 0 } = outcome.traffic ?? {};
    if (sent + read >= WORTH_SAYING)
      say(
        terminal,
        `The store of the state was sent ${formatSize(sent)}, and ${formatSize(read)} were read.`,
      );
    const ways = wayLines(listWays(outcome, flags), renderErr);
    terminal.err(paint([[], ...ways], renderErr.color).trimEnd());
  } else if (outcome.type === 'unchanged' && outcome.by !== undefined) {
    const { by } = outcome;
    terminal.out(`Run ${by} applied this plan already: ${commandSpan(`runs ${by}`, flags)}`);
  } else if (outcome.type === 'unchanged') {
    tellLeftOut(outcome.plan, terminal);
    const { left = [] } = outcome.verification ?? {};
    if (left.length > 0) terminal.out(renderNotUndone(left, terminal.render));
  }
}

/** The commands that go on from a run: what finishes it, what takes it back, and what shows it again. */
function listWays(
  { run, plan, result }: Extract<RunOutcome, { type: 'ran' }>,
  flags: Shown['flags'],
): readonly Way[] {
  const { purpose, options, undoes } = plan;
  const again: Way = [commandLine(`runs ${run}`, flags), 'shows it again'];
  const isWhole = result.status === 'done';
  // A rollback follows, or a strategy decides.
  if ((!isWhole && flags.rollbackOnFailure) || options.strategy !== undefined) return [again];
  const rest = isDisturbed(result)
    ? ([commandLine('plan', flags), 'shows what moved meanwhile'] as const)
    : ([
        commandLine(
          purpose === 'rollback'
            ? `rollback ${undoes}`
            : ['apply', ...allowanceFlags(options)].join(' '),
          flags,
        ),
        'finishes it',
      ] as const);
  const isKnown = purpose === 'apply' || (purpose === 'rollback' && undoes !== undefined);
  const isBegun = result.ledger.some(({ status }) => status === 'done');
  return [
    ...(isWhole || !isKnown ? [] : [rest]),
    ...(purpose === 'apply' && isBegun ? [takeBack(run, isWhole, flags)] : []),
    again,
  ];
}

/** The command that undoes an apply. */
export function takeBack(
  run: string,
  isWhole: boolean,
  flags: Pick<CommonFlags, 'dir' | 'env'>,
): Way {
  return [
    commandLine(`rollback ${run}`, flags),
    isWhole ? 'takes it back' : 'takes back what was done',
  ];
}

/** Shows how far a run came that its lock or its store broke off. */
export function tellBrokenOff({ ledger }: RunFailure, terminal: Terminal): void {
  terminal.out(renderLedgerText(ledger, terminal.render));
}

/** Says that an apply did nothing because its plan leaves out all that it has. */
function tellLeftOut({ purpose, changes }: PlanDocument, terminal: Terminal): void {
  if (purpose !== 'apply') return;
  const waits = describeWaiting(changes);
  const left = changes.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'held').length;
  const leaves = left === 0 ? undefined : `the plan leaves out ${formatCount(left, 'change')}`;
  const why = [waits, leaves].filter((part) => part !== undefined).join('; ');
  if (why !== '') say(terminal, `Nothing was written: ${why}; see above.`);
}

/** Says that nothing was written, and what stands against the plan. */
export function tellRefused(plan: PlanDocument, terminal: Terminal): void {
  const { purpose, refusals = [], changes } = plan;
  for (const { message, advice } of refusals) {
    say(terminal, `Nothing was written: ${message}. ${advice}`);
  }
  if (refusals.length > 0) return;
  // To leave everything out would be to restore nothing.
  const leave = ' To leave them out and do the rest';
  const restores = changes.some(isChanging) ? `${leave}, pass --skip-refused.` : '';
  const applies = purpose === 'apply' ? `${leave}: ${codeSpan(leaveOutCommand(plan))}` : '';
  say(terminal, `${STRUCK[purpose]}${purpose === 'restore' ? restores : applies}`);
}

const STRUCK: { readonly [purpose in PlanDocument['purpose']]: string } = {
  apply: 'Nothing was written: the plan has refused changes.',
  rollback: 'Nothing was written: the rollback has refused changes.',
  restore: 'Nothing was written: the restore has refused changes.',
  drift: 'Nothing was written.',
  comparison: 'Nothing was written.',
};

/** Says which commands go on with a refused rollback. Refusals of the plan as a whole have printed theirs. */
export function tellWaysOn(
  { waysOn, plan }: { readonly waysOn?: readonly string[]; readonly plan?: PlanDocument },
  terminal: Terminal,
): void {
  if (waysOn === undefined || plan === undefined || isHeldBack(plan)) return;
  if (waysOn.length === 0) say(terminal, NO_WAY_ON);
  else say(terminal, ['To continue, type one of these:', ...waysOn].join('\n'));
}

const NO_WAY_ON =
  'No flag lifts these refusals, and nothing else is left to undo: see the reason of each.';

/** Says what a rollback means for what comes next: a pipeline that applies the same again is stopped. */
function tellHeld(revert: Revert | null, terminal: Terminal): void {
  const held =
    'The undone values are held: plan and apply refuse to write the same values again until the configuration changes.';
  const way =
    revert === null
      ? 'Revert the change in Git, or pass --release-hold to write them again.'
      : `${revertMessage(revert)}. To write them again, pass --release-hold.`;
  say(terminal, `${held} ${way}`);
}

/** The exit code of what came of a command. */
export function exitOfOutcome(outcome: UndoOutcome): ExitCode {
  switch (outcome.type) {
    case 'ran':
      return runExit(outcome.result);
    case 'unchanged':
      return outcome.status === 'partial' ? EXIT.partial : EXIT.done;
    case 'planned':
      return isRefused(outcome.plan) ? refusedExit(outcome.plan) : EXIT.done;
    case 'refused':
      return refusedExit(outcome.plan);
    case 'declined':
      return EXIT.error;
    case 'nothing':
      return EXIT.done;
    default:
      return unreachable(outcome);
  }
}

/** The exit code of a plan that is refused: from an older checkout it is stale, whatever else stands against it. */
export function refusedExit(plan: PlanDocument): ExitCode {
  return isBehind(plan) ? EXIT.stale : EXIT.refused;
}

function runExit(result: Extract<RunOutcome, { type: 'ran' }>['result']): ExitCode {
  if (result.status === 'interrupted') return EXIT.interrupted;
  if (isDisturbed(result)) return EXIT.stale;
  return result.status === 'done' ? EXIT.done : EXIT.partial;
}
