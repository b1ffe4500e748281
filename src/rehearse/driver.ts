import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CommonFlags,
  type Context,
  type PlanFlags,
  stackOptions,
} from '../console/context.ts';
import { onTerminal } from '../console/events.ts';
import { exitOfOutcome, tellOutcome } from '../console/result.ts';
import { messagesOnly } from '../console/terminal.ts';
import { CallsheetError, EXIT } from '../core/errors.ts';
import type { PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { parsePlan } from '../plan/document.ts';
import { assumptionOf } from '../platform/endpoints.ts';
import { operations } from '../platform/operations.generated.ts';
import { renderPlanJson } from '../render/json.ts';
import { type ApplyOutcome, applyStack } from '../run/apply.ts';
import type { RunContext } from '../run/context.ts';
import { planStack } from '../run/plan.ts';
import { NO_LINEAGE } from '../run/session.ts';
import { runDocument, type UndoOutcome, undo } from '../run/undo.ts';
import type { State } from '../state/model.ts';
import { formatState } from '../state/state-text.ts';
import type { Fleet } from './fleet.ts';
import { type Behaviour, type Rehearsed, rehearse, type Sandbox } from './rehearse.ts';
import type { Driver, Outcome } from './steps.ts';

/** What the driver of every copy of one rehearsal has in common. */
type DriverInput = {
  readonly flags: CommonFlags & { readonly concurrency?: number };
  readonly options: PlanOptions;
  readonly state: State;
  readonly context: Context;
};

/** Runs the commands on a copy, with a copy of the state in a folder that is gone afterwards. */
async function driverOn(sandbox: Sandbox, input: DriverInput): Promise<Driver> {
  const { folder, discard } = await temporaryFolder();
  try {
    const stateFile = join(folder, 'state.json');
    if (input.state.lineage !== NO_LINEAGE)
      await writeFile(stateFile, await formatState(input.state), { mode: 0o600 });
    return driverIn({ ...input, sandbox, stateFile }, discard);
  } catch (error) {
    await discard();
    throw error;
  }
}

type Place = DriverInput & { readonly sandbox: Sandbox; readonly stateFile: string };

function driverIn(place: Place, close: () => Promise<void>): Driver {
  const { options } = place;
  const stack = stackOptions(place.flags);
  return {
    async plan(which) {
      const allowed = which === 'first' ? options : { ...options, resend_secrets: false };
      const ended = await run(place, (context) =>
        planStack({ ...stack, options: allowed }, context),
      );
      if (ended.failure !== undefined) throw ended.failure;
      return ended.done.plan;
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

/** What an apply did. It undoes nothing of its own here, and nobody declines. */
async function applied(outcome: Promise<ApplyOutcome>): Promise<UndoOutcome> {
  const { applied: done } = await outcome;
  if (done === undefined) throw new Error('a rehearsal has no earlier run to undo');
  return done;
}

type Ended<T> =
  | { readonly done: T; readonly failure: undefined; readonly said: readonly string[] }
  | { readonly failure: CallsheetError; readonly said: readonly string[] };

/** Does something on the copy and keeps what is said. */
async function run<T>(
  { sandbox, stateFile, context }: Place,
  work: (context: Context) => Promise<T>,
): Promise<Ended<T>> {
  const said: string[] = [];
  const { wire: _, disk: __, trace: ___, telemetry: ____, ...outside } = context;
  const { url: baseUrl, clientId, clientSecret } = sandbox;
  const there = { baseUrl, credentials: { clientId, clientSecret }, stateFile };
  const terminal = messagesOnly({ ...context.terminal, wrapsErr: false }, said);
  try {
    const done = await work({ ...outside, ...onTerminal(terminal), sandbox: there });
    return { done, failure: undefined, said };
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    if (context.stop.aborted)
      throw new CallsheetError('interrupted', 'interrupted; nothing was written', { cause: error });
    return { failure: error, said };
  }
}

/** Does something that writes, and says how that ended. */
async function act(
  place: Place,
  work: (context: RunContext) => Promise<UndoOutcome>,
): Promise<Outcome> {
  const flags = { ...place.flags, format: 'json' } as const;
  const ended = await run(place, async (context) => {
    const outcome = await work(context);
    tellOutcome(outcome, { flags, context });
    return outcome;
  });
  const last = ended.said.at(-1)?.trimEnd() ?? null;
  if (ended.failure !== undefined) {
    const { code, message } = ended.failure;
    return { status: code === 'refused' ? 'refused' : 'failed', run: null, ledger: [], message };
  }
  const { done } = ended;
  if (done.type === 'planned' || done.type === 'declined') throw new Error('nobody asked for that');
  const { run: id, ledger, verification } = runDocument(done);
  // What a rollback names as not put back is told by what differs on the copy afterwards.
  const { left = [], differs = [], problem = null } = verification ?? {};
  const isNamed =
    left.length > 0 &&
    differs.length === 0 &&
    problem === null &&
    ledger.every((line) => line.status === 'done' || line.verdict !== undefined);
  const exit = exitOfOutcome(done);
  const status =
    exit === EXIT.done || (exit === EXIT.partial && isNamed)
      ? 'done'
      : exit === EXIT.refused
        ? 'refused'
        : exit === EXIT.partial
          ? 'partial'
          : 'failed';
  return { status, run: id, ledger, message: last };
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

type Trial = {
  /** Undefined: the plan is the one that the copy gives. */
  readonly plan: PlanDocument | undefined;
  readonly options: PlanOptions;
  readonly behaviour: Behaviour;
  readonly faults: readonly string[];
};

/** Reads the fleet and tries a plan on copies of it. */
export async function tryInSandboxes(
  { plan, options, behaviour, faults }: Trial,
  fleet: Fleet,
  flags: PlanFlags,
  context: Context,
): Promise<Rehearsed> {
  const { state, endpoints, secretValues, source } = fleet;
  const tell = (text: string) => context.terminal.err(text);
  tell('Reading the fleet.');
  const replica = await fleet.replica(plan);
  const absent = [...fleet.lacks().absent, ...(behaviour.dialect.absent ?? [])];
  const addresses = new Map(
    Object.entries(state.resources).map(([address, { kind, id }]) => [`${kind} ${id}`, address]),
  );
  for (const { kind, id, address } of plan?.changes ?? []) addresses.set(`${kind} ${id}`, address);
  return rehearse({
    plan,
    source,
    replica,
    behaviour: { ...behaviour, dialect: { ...behaviour.dialect, absent } },
    faults,
    driverOn: (sandbox) => driverOn(sandbox, { flags, options, state, context }),
    // The log of a copy has uploads, too, which are no operation of the platform.
    assumptionOf: (operation) =>
      Object.hasOwn(operations, operation) ? assumptionOf(operation, endpoints) : undefined,
    words: {
      addressOf: (kind, id) => addresses.get(`${kind} ${id}`) ?? null,
      secrets: secretValues,
    },
    now: context.now,
    goOn: () => {
      if (context.stop.aborted)
        throw new CallsheetError('interrupted', 'interrupted; nothing was written');
    },
    tell,
  });
}
