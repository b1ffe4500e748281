import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, type PlanFlags, stackOptions } from '../../console/context.ts';
import { onTerminal } from '../../console/events.ts';
import { exitOfOutcome, tellOutcome } from '../../console/result.ts';
import { messagesOnly } from '../../console/terminal.ts';
import { CallsheetError, EXIT } from '../../core/errors.ts';
import type { PlanDocument, PlanOptions } from '../../core/plan-document.ts';
import { parsePlan } from '../../plan/document.ts';
import { renderPlanJson } from '../../render/json.ts';
import { type ApplyOutcome, applyStack } from '../../run/apply.ts';
import type { RunContext } from '../../run/context.ts';
import { planStack } from '../../run/plan.ts';
import { NO_LINEAGE } from '../../run/session.ts';
import { runDocument, type UndoOutcome, undo } from '../../run/undo.ts';
import { isMissed, type LedgerLine } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';
import { formatState } from '../../state/state-text.ts';

/** The commands, run on one copy. None of them throws for what a user would see as a failure. */
export type Driver = {
  /**
   * Plans with what the rehearsed plan was allowed. Secrets that were to be sent again are sent once: a second plan
   * would never be empty.
   */
  readonly plan: (which: 'first' | 'second') => Promise<PlanDocument>;
  /** Applies a plan that was made on the copy or, without one, whatever is left to do. */
  readonly apply: (plan?: PlanDocument) => Promise<Outcome>;
  readonly rollback: (run: string, isForced: boolean) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

/** How a command ended. */
export type Outcome = {
  readonly status: 'done' | 'partial' | 'refused' | 'failed';
  readonly run: string | null;
  readonly ledger: readonly LedgerLine[];
  /** Why it went no further, for people. */
  readonly message: string | null;
  /** Why it was refused before it was forced. */
  readonly forced?: string | null;
};

type DriverInput = {
  /** The address and credentials of the copy. */
  readonly sandbox: Omit<NonNullable<RunContext['sandbox']>, 'stateFile'>;
  readonly flags: PlanFlags;
  readonly options: PlanOptions;
  readonly state: State;
  readonly context: Context;
};

/** Runs the commands on a copy, with a copy of the state in a folder that is gone afterwards. */
export async function openDriver(input: DriverInput): Promise<Driver> {
  const { folder, discard } = await temporaryFolder();
  try {
    const stateFile = join(folder, 'state.json');
    if (input.state.lineage !== NO_LINEAGE)
      await writeFile(stateFile, await formatState(input.state), { mode: 0o600 });
    return driverIn({ ...input, sandbox: { ...input.sandbox, stateFile } }, discard);
  } catch (error) {
    await discard();
    throw error;
  }
}

type Place = DriverInput & { readonly sandbox: NonNullable<RunContext['sandbox']> };

function driverIn(place: Place, close: () => Promise<void>): Driver {
  const { options } = place;
  const stack = stackOptions(place.flags);
  return {
    plan: async (which) => {
      const allowed = which === 'first' ? options : { ...options, resend_secrets: false };
      const work = (to: RunContext) => planStack({ ...stack, options: allowed }, to);
      return (await run(place, [], work)).plan;
    },
    async apply(given) {
      if (given === undefined)
        return act(place, (to) => applied(applyStack({ ...stack, options }, to)));
      // As a file would hold it. One request after the other, so that what comes first is the same every time.
      const plan = parsePlan(renderPlanJson(given), 'the plan of the rehearsal');
      return act(place, (to) =>
        applied(applyStack({ ...stack, concurrency: 1, plan, options }, to)),
      );
    },
    rollback: (id, isForced) => {
      const { override_freeze: reason } = options;
      const freeze = reason === undefined ? {} : { overrideFreeze: reason };
      const forced = { undoEdited: isForced, deleteUsed: isForced };
      return act(place, (to) => undo({ ...stack, ...freeze, run: id, ...forced }, to));
    },
    close,
  };
}

/** Waits for an apply. In a rehearsal it undoes nothing of its own, and is never declined. */
async function applied(outcome: Promise<ApplyOutcome>): Promise<UndoOutcome> {
  const { applied: done } = await outcome;
  if (done === undefined) throw new Error('a rehearsal has no earlier run to undo');
  return done;
}

/** Does something on the copy. Its messages are added to `said`. */
async function run<T>(
  { sandbox, context }: Place,
  said: string[],
  work: (context: Context) => Promise<T>,
): Promise<T> {
  const { wire: _, disk: __, trace: ___, telemetry: ____, ...outside } = context;
  const terminal = messagesOnly({ ...context.terminal, wrapsErr: false }, said);
  try {
    return await work({ ...outside, ...onTerminal(terminal), sandbox });
  } catch (error) {
    if (error instanceof CallsheetError) goOn(context, error);
    throw error;
  }
}

/** Throws once somebody interrupted. */
export function goOn({ stop }: Context, cause?: CallsheetError): void {
  if (stop.aborted)
    throw new CallsheetError('interrupted', 'interrupted; nothing was written', { cause });
}

/** Does something that writes, and says how that ended. */
async function act(
  place: Place,
  work: (context: RunContext) => Promise<UndoOutcome>,
): Promise<Outcome> {
  const flags = { ...place.flags, format: 'json' } as const;
  const said: string[] = [];
  let done: UndoOutcome;
  try {
    done = await run(place, said, async (context) => {
      const outcome = await work(context);
      tellOutcome(outcome, { flags, context });
      return outcome;
    });
  } catch (error) {
    if (!(error instanceof CallsheetError) || place.context.stop.aborted) throw error;
    const { code, message } = error;
    return { status: code === 'refused' ? 'refused' : 'failed', run: null, ledger: [], message };
  }
  const message = said.at(-1)?.trimEnd() ?? null;
  if (done.type === 'planned' || done.type === 'declined') throw new Error('nobody asked for that');
  const { run: id, ledger, verification } = runDocument(done);
  // Fields that a rollback names as not put back are reported as differences of the copy afterwards.
  const { left = [], differs = [], problem = null } = verification ?? {};
  const isNamed =
    left.length > 0 && differs.length === 0 && problem === null && !ledger.some(isMissed);
  const exit = exitOfOutcome(done);
  const status =
    exit === EXIT.done || (exit === EXIT.partial && isNamed)
      ? 'done'
      : exit === EXIT.refused
        ? 'refused'
        : exit === EXIT.partial
          ? 'partial'
          : 'failed';
  return { status, run: id, ledger, message };
}

/** A folder for the owner alone that is removed at the end, also where the process is ended in between. */
async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), `callsheet-rehearsal-${process.pid}-`));
  const atExit = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', atExit);
  return {
    folder,
    async discard() {
      process.off('exit', atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
