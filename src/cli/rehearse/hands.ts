import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument, PlanOptions } from '../../core/plan-document.ts';
import type { Copy } from '../../rehearse/copies.ts';
import type { Hands, Outcome } from '../../rehearse/hands.ts';
import { renderPlanJson } from '../../render/json.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';
import { formatState } from '../../state/state-text.ts';
import { apply } from '../commands/apply.ts';
import { plan } from '../commands/plan.ts';
import { rollback } from '../commands/rollback.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { NO_LINEAGE } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import type { Verification } from '../verify-undo.ts';

/** What the hands of every copy of one rehearsal have in common. */
type HandsInput = {
  readonly flags: CommonFlags & { readonly concurrency?: number };
  readonly options: PlanOptions;
  readonly state: State;
  readonly context: Context;
};

/** Runs the commands on a copy, with a copy of the state in a folder that is gone afterwards. */
export async function handsOn(copy: Copy, input: HandsInput): Promise<Hands> {
  const { folder, discard } = await temporaryFolder();
  try {
    const stateFile = join(folder, 'state.json');
    if (input.state.lineage !== NO_LINEAGE)
      await writeFile(stateFile, await formatState(input.state), { mode: 0o600 });
    return handsIn(folder, { ...input, copy, stateFile }, discard);
  } catch (error) {
    await discard();
    throw error;
  }
}

type Place = HandsInput & { readonly copy: Copy; readonly stateFile: string };

function handsIn(folder: string, place: Place, close: () => Promise<void>): Hands {
  const { dir, env, var: variables, varFile, allowEnv } = place.flags;
  const { concurrency } = place.flags;
  const common = {
    dir,
    ...(env === undefined ? {} : { env }),
    ...(variables === undefined ? {} : { var: variables }),
    ...(varFile === undefined ? {} : { varFile }),
    ...(allowEnv === undefined ? {} : { allowEnv }),
    ...(concurrency === undefined ? {} : { concurrency }),
    format: 'json' as const,
  };
  const allowed = allowedBy(place.options);
  return {
    async plan(which) {
      const { resendSecrets: _, ...again } = allowed;
      const flags = { ...common, ...(which === 'first' ? allowed : again) };
      const ended = await run(place, (context) => plan(flags, context));
      if (ended.failure !== undefined) throw ended.failure;
      // A plan that this process just printed.
      return JSON.parse(ended.out) as PlanDocument;
    },
    async apply(given) {
      if (given === undefined)
        return act(place, (to) =>
          apply(undefined, { ...common, ...allowed, autoApprove: true }, to),
        );
      const file = join(folder, 'plan.json');
      await writeFile(file, renderPlanJson(given), { mode: 0o600 });
      // One request after the other, so that what comes first is the same every time.
      return act(place, (to) => apply(file, { ...common, concurrency: 1 }, to));
    },
    rollback: (id, force) => {
      const { overrideFreeze: reason } = allowed;
      const freeze = reason === undefined ? {} : { overrideFreeze: reason };
      const flags = { ...common, ...freeze, run: id, force, autoApprove: true };
      return act(place, (to) => rollback(flags, to));
    },
    close,
  };
}

/** What the rehearsed plan was allowed, as flags of whoever plans again. */
function allowedBy(options: PlanOptions) {
  const { override_freeze: reason, resend_secrets: resend } = options;
  return {
    allowDelete: options.allow_delete,
    acceptConflicts: options.accept_conflicts,
    skipRefused: options.skip_refused,
    ...(resend === false ? {} : { resendSecrets: resend }),
    target: options.target,
    exclude: options.exclude,
    force: options.force,
    ...(reason === undefined ? {} : { overrideFreeze: reason }),
    ...(options.release_hold === true ? { releaseHold: true } : {}),
  };
}

type Ended = {
  readonly exit: ExitCode | undefined;
  readonly out: string;
  readonly err: readonly string[];
  readonly failure: CallsheetError | undefined;
};

/** Runs a command on the copy and keeps what it says. */
async function run(
  { copy, stateFile, context }: Place,
  command: (context: Context) => Promise<ExitCode>,
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const { wire: _, disk: __, trace: ___, telemetry: ____, ...outside } = context;
  const terminal: Terminal = {
    ...context.terminal,
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    canAsk: false,
    wrapsErr: false,
  };
  const { url: baseUrl, clientId, clientSecret } = copy;
  const there = { baseUrl, credentials: { clientId, clientSecret }, stateFile };
  const ended = (exit: ExitCode | undefined, failure?: CallsheetError) => {
    return { exit, out: out.join('\n'), err, failure };
  };
  try {
    return ended(await command({ ...outside, terminal, copy: there }));
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    if (context.stop.aborted)
      throw new CallsheetError('interrupted', 'interrupted; nothing was written', { cause: error });
    return ended(undefined, error);
  }
}

/** Runs a command that writes, and says how that ended. */
async function act(
  place: Place,
  command: (context: Context) => Promise<ExitCode>,
): Promise<Outcome> {
  const { exit, out, err, failure } = await run(place, command);
  const told = out === '' ? undefined : (JSON.parse(out) as Told);
  const { run: id = null, ledger = [] } = told ?? {};
  // What a rollback names as not put back is told by what differs on the copy afterwards.
  const { left = [], differs = [], problem = null } = told?.verification ?? {};
  const isNamed =
    left.length > 0 &&
    differs.length === 0 &&
    problem === null &&
    ledger.every((line) => line.status === 'done' || line.verdict !== undefined);
  const status =
    exit === EXIT.done || (exit === EXIT.partial && isNamed)
      ? 'done'
      : exit === EXIT.refused || failure?.code === 'refused'
        ? 'refused'
        : exit === EXIT.partial
          ? 'partial'
          : 'failed';
  return { status, run: id, ledger, message: failure?.message ?? err.at(-1) ?? null };
}

/** The part of a run's document that counts here. */
type Told = {
  readonly run: string | null;
  readonly ledger: readonly LedgerLine[];
  readonly verification?: Verification;
};

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
