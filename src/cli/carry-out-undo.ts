import { type Address, matchesAddress } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Note, PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { UNCLEARABLE } from '../diff/finding.ts';
import { isRefused } from '../plan/document.ts';
import { type HoldChange, valuesUndone } from '../plan/holds.ts';
import type { Planned } from '../plan/make.ts';
import type { Edited } from '../rollback/interleaved.ts';
import { goneSince, narrowUndo, type Undo } from '../rollback/undo.ts';
import type { NotUndone } from '../state/journal.ts';
import { commandLine, quoted } from './command-line.ts';
import { type ReviewFormat, renderPlan, renderReview } from './commands/plan.ts';
import { confirm } from './confirm.ts';
import type { CommonFlags, Context } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { planInstead } from './make-plan.ts';
import { overrideOption } from './plan-flags.ts';
import { showNothingDone, tellRefused } from './result.ts';
import { runPlan } from './run.ts';
import { type Session, tellHeld } from './session.ts';
import { verifyUndo } from './verify-undo.ts';

export type UndoFlags = CommonFlags & {
  readonly autoApprove?: boolean;
  readonly force?: boolean;
  readonly skipRefused?: boolean;
  /** The part that is undone; all of it where none is given. */
  readonly target?: readonly string[];
  /** What is left as it is. */
  readonly exclude?: readonly string[];
  /** Whether the plan is shown and nothing is done. */
  readonly dryRun?: boolean;
  readonly overrideFreeze?: string;
  readonly concurrency?: number;
  readonly format: ReviewFormat;
};

/** What is to be brought back, and what is said and remembered of it. */
export type UndoRequest = {
  readonly undo: Undo;
  /** The run that it undoes; none where it goes back to a snapshot. */
  readonly run?: string;
  /** The command that is at work, as it is typed: `rollback RUN`. */
  readonly command: string;
  /** What a person is asked. */
  readonly question: string;
  /** The run whose values it takes back, and whether they are held from now on; absent where nobody can tell. */
  readonly hold?: Omit<HoldChange, 'values'> | undefined;
  /** The snapshot that it goes back to. */
  readonly snapshot?: PlanDocument['snapshot'];
  /** Whether what was made meanwhile is deleted; it is, unless this says no. */
  readonly mayDelete?: boolean;
  /** What else is to be said of the plan. */
  readonly notes?: readonly Note[];
  /** What is left out although it was asked for. */
  readonly skipped?: readonly NotUndone[];
  /** The same where these are gone since. Throws `CallsheetError('refused')` where they are not made anew unasked. */
  readonly without?: (gone: ReadonlySet<Address>) => UndoRequest;
};

/**
 * Brings resources back to what they were, through the ordinary plan and executor: plans, shows, asks, runs
 * and holds the result against what is wanted. Every rollback ends here, whatever its desired side was
 * made from.
 */
export async function carryOutUndo(
  request: UndoRequest,
  flags: UndoFlags,
  session: Session,
  context: Context,
): Promise<ExitCode> {
  const { undo, run, question, hold, snapshot, mayDelete = true, notes: said = [] } = request;
  const { terminal } = context;
  const { dryRun, ...shown } = { ...flags, format: resultFormat(flags) };
  const planned = await planInstead(
    session,
    {
      purpose: 'rollback',
      ...(run === undefined ? {} : { undoes: run }),
      ...(snapshot === undefined ? {} : { snapshot }),
      desired: undo.desired,
      versions: undo.versions,
      options: { ...undoOptions(undo, flags), allow_delete: mayDelete },
    },
    context,
  );
  const gone = goneSince(undo, planned.plan);
  if (gone.size > 0 && request.without !== undefined)
    return carryOutUndo(request.without(gone), flags, session, context);
  const { skipped = [] } = request;
  const notes = [...undo.impossible, ...skipped].map(noteOn);
  const plan = { ...planned.plan, notes: [...planned.plan.notes, ...notes, ...said] };
  const left = [...undo.impossible, ...skipped, ...leftBy(planned)];
  const { desired, restored } = undo;
  const whole = { ...planned, plan, refresh: asRestored(planned.refresh, restored) };
  if (dryRun === true) {
    terminal.out(await renderReview(plan, flags.format, terminal, flags.dir));
    if (isRefused(plan)) tellWays(request, flags, context);
    return isRefused(plan) ? EXIT.refused : EXIT.done;
  }
  if (shown.format === 'text') terminal.out(renderPlan(plan, 'text', terminal));
  if (isRefused(plan)) {
    const exit = tellRefused(plan, { flags: shown, context });
    tellWays(request, flags, context);
    return exit;
  }
  const running = { flags: shown, session, context, purpose: 'rollback' } as const;
  const isLeft = left.length > 0 || plan.changes.some(({ verdict }) => verdict === 'unsupported');
  if (!plan.changes.some(({ verdict }) => verdict === 'ok')) {
    // Nothing is asked of the platform, but a run that died is settled for good.
    if (session.unfinished !== undefined) await runPlan(whole, running);
    else {
      const nothing = { differs: [], equal: 0, problem: null, left };
      showNothingDone(plan, isLeft ? 'partial' : 'done', { flags: shown, context }, nothing);
    }
    return isLeft ? EXIT.partial : EXIT.done;
  }
  if (!(await isAgreed(question, flags, context))) return EXIT.error;
  const exit = await runPlan(whole, {
    ...running,
    desired,
    restored,
    verify: async (result) => ({
      ...(await verifyUndo(withoutAgreed(undo, plan), result, session)),
      left,
    }),
    ...(hold && { hold: { ...hold, values: valuesUndone(plan, session.state) } }),
  });
  if (hold?.isHeld === true && (exit === EXIT.done || exit === EXIT.partial)) tellHeld(context);
  return exit;
}

/** The format of what came of a run: a plan alone can be a page. */
function resultFormat({ format, dryRun }: UndoFlags): 'text' | 'json' {
  if (format === 'text' || format === 'json') return format;
  if (dryRun === true) return 'text';
  throw new CallsheetError('usage', `--format ${format} is for --dry-run alone`, {
    hint: 'A rollback shows what came of it as text or json.',
  });
}

/** What the plan says of it beforehand; what to do about it is said afterwards. */
function noteOn({ address, path, why }: NotUndone): Note {
  const message = `${path === null ? '' : `${path} `}${why}`;
  return { severity: 'warning', address, message };
}

/** What the plan itself leaves as it is: what cannot be cleared, and what `--skip-refused` leaves out. */
function leftBy({ plan, found }: Planned): readonly NotUndone[] {
  const released = [...found].flatMap(([address, leaves]) =>
    leaves
      .filter(({ cause }) => cause === 'released')
      .map(({ text: path }) => {
        return {
          address,
          path,
          why: UNCLEARABLE,
          advice: 'Set it in the configuration and apply.',
        };
      }),
  );
  const refused = plan.changes
    .filter(({ verdict }) => verdict === 'refused')
    .map(({ address, reason: why }) => {
      return { address, path: null, why, advice: 'See the reason; --force overrides some guards.' };
    });
  return [...released, ...refused];
}

/** What `--target` and `--exclude` leave of an undo. `stray`: what is wrong with an address of neither. */
export function chooseFrom(
  undo: Undo,
  { target = [], exclude = [] }: Pick<UndoFlags, 'target' | 'exclude'>,
  stray: (flag: string) => CallsheetError,
): Undo {
  const known = [...undo.addresses, ...undo.impossible.map(({ address }) => address)];
  for (const [flag, patterns] of Object.entries({ target, exclude })) {
    const unknown = patterns.find((one) => !known.some((address) => matchesAddress(one, address)));
    if (unknown !== undefined) throw stray(`--${flag} ${unknown}`);
  }
  if (target.length + exclude.length === 0) return undo;
  const isIn = (patterns: readonly string[], address: Address) =>
    patterns.some((pattern) => matchesAddress(pattern, address));
  return narrowUndo(
    undo,
    (address) => (target.length === 0 || isIn(target, address)) && !isIn(exclude, address),
  );
}

/**
 * What somebody edited since is left out with `--skip-refused`. Throws `CallsheetError('refused')` with the commands
 * to type where there is any, and it is not given.
 */
export function leaveOutEdited(
  undo: Undo,
  edited: readonly Edited[],
  command: string,
  flags: UndoFlags,
): { readonly undo: Undo; readonly skipped: readonly NotUndone[] } {
  if (edited.length === 0) return { undo, skipped: [] };
  if (flags.skipRefused !== true) {
    throw new CallsheetError('refused', edited.map(({ message }) => message).join('\n'), {
      hint: [
        'Nothing was written. What was edited: callsheet drift. Then type one of these:',
        ...waysOn(
          command,
          edited.map(({ address }) => address),
          flags,
        ),
      ].join('\n'),
    });
  }
  const addresses = new Set(edited.map(({ address }) => address));
  return {
    undo: narrowUndo(undo, (address) => !addresses.has(address)),
    skipped: edited.map(({ address, message, isGone = false }) => ({
      address,
      path: null,
      why: `is left as it is: it${message.slice(address.length)}`,
      advice: `${isGone ? 'To make it anew as it was before the run' : 'To undo the fields of the run there, too'}: ${commandLine(`${command} --force`, flags)}`,
    })),
  };
}

/** More addresses than this make no line that anybody types. */
const MOST_NAMED = 5;

/** How a refused rollback is gone on with, a command a line. */
function waysOn(
  command: string,
  addresses: readonly Address[],
  flags: UndoFlags,
): readonly string[] {
  const chosen = [
    ...(flags.target ?? []).map((one) => ` --target ${quoted(one)}`),
    ...(flags.exclude ?? []).map((one) => ` --exclude ${quoted(one)}`),
  ].join('');
  const excluded = [...new Set(addresses)].map((one) => ` --exclude ${quoted(one)}`);
  const line = (more: string) => `  ${commandLine(`${command}${chosen}${more}`, flags)}`;
  return [
    `${line(' --skip-refused')}   # leave them out, undo the rest`,
    ...(excluded.length > 0 && excluded.length <= MOST_NAMED
      ? [`${line(excluded.join(''))}   # the same, by name`]
      : []),
    `${line(' --force')}   # undo what the run changed in them, too`,
  ];
}

function tellWays({ command }: UndoRequest, flags: UndoFlags, { terminal }: Context): void {
  if (flags.format !== 'text') return;
  terminal.err(waysOn(command, [], flags).join('\n'));
}

/** What `--skip-refused` leaves out, or waits to be deleted, was agreed to, and is not held against the result. */
function withoutAgreed({ wanted }: Undo, { changes }: PlanDocument): Pick<Undo, 'wanted'> {
  const agreed = changes.filter(({ verdict }) => verdict === 'refused' || verdict === 'held');
  const addresses = new Set(agreed.map(({ address }) => address));
  return { wanted: new Map([...wanted].filter(([address]) => !addresses.has(address))) };
}

/** What the state says from now on of what is as it is to be already: what it said then, not a part of it. */
function asRestored(refresh: Planned['refresh'], restored: Undo['restored']): Planned['refresh'] {
  return new Map(
    [...refresh].map(([address, now]) => {
      const { id, scope, pin } = now;
      const then = restored.get(address);
      return [address, then ? { ...then, id, scope, pin } : now];
    }),
  );
}

async function isAgreed(
  question: string,
  { autoApprove }: UndoFlags,
  { terminal }: Context,
): Promise<boolean> {
  if (autoApprove === true) return true;
  if (!terminal.canAsk) {
    const message = 'nothing was written: nobody is there to agree, as stdin is not a terminal';
    throw new CallsheetError('usage', message, {
      hint: 'To carry this out, pass --auto-approve.',
    });
  }
  const agreed = await confirm(question, terminal);
  if (!agreed) terminal.err('Nothing was written.');
  return agreed;
}

/** A rollback only touches what is to be undone, and takes away what was made. */
function undoOptions({ addresses }: Undo, flags: UndoFlags): PlanOptions {
  const { force, skipRefused } = flags;
  return {
    allow_delete: true,
    accept_conflicts: force === true,
    skip_refused: skipRefused === true,
    resend_secrets: false,
    target: addresses,
    exclude: [],
    force: force === true,
    ...overrideOption(flags),
  };
}
