import { rename, writeFile } from 'node:fs/promises';
import { assumptionOf } from '../../api/endpoints.ts';
import { operations } from '../../api/operations.generated.ts';
import { CallsheetError, unreachable } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { Rehearsal, RehearsalVerdict } from '../../core/rehearsal.ts';
import { isRefused } from '../../plan/document.ts';
import { parsePlan } from '../../plan/parse.ts';
import type { Manners } from '../../rehearse/copies.ts';
import { isWorkFor, rehearse as tryOut } from '../../rehearse/rehearse.ts';
import { replicate } from '../../rehearse/seed.ts';
import { changesApart } from '../../rehearse/steps.ts';
import { renderPlanJson } from '../../render/json.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { commandLine } from '../command-line.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planConfiguration } from '../make-plan.ts';
import { withNamedFile } from '../named-file.ts';
import { type PlanFlags, planOptions } from '../plan-flags.ts';
import { knownBeside, lackedBy, readFleet } from '../rehearse/fleet.ts';
import { handsOn } from '../rehearse/hands.ts';
import { mannersOf } from '../rehearse/manners.ts';
import { readingOnly } from '../rehearse/reading-only.ts';
import { openSession, type Session } from '../session.ts';
import { tellWarnings } from '../tell.ts';
import { checkPlanFile } from '../vouch.ts';
import { readPlanFile, refusePlanningFlags } from './apply.ts';
import { type PlanFormat, renderPlan } from './plan.ts';

export type RehearseFlags = PlanFlags & {
  readonly out?: string;
  readonly fault?: readonly string[];
  readonly chaosSeed: string;
  readonly dialect?: readonly string[];
  readonly format: PlanFormat;
};

/** `callsheet rehearse [PLANFILE]`: tries a plan on a copy of the fleet. The platform is only read. */
export async function rehearse(
  file: string | undefined,
  flags: RehearseFlags,
  context: Context,
): Promise<ExitCode> {
  if (file !== undefined) refusePlanningFlags(flags);
  const given = file === undefined ? undefined : parsePlan(await readPlanFile(file), file);
  const { manners, faults } = await mannersOf(flags);
  const outside: Context = { ...context, wire: readingOnlyWire(context) };
  const session = await openSession(flags, outside);
  try {
    tellWarnings(session.warnings, context);
    const options = given?.options ?? planOptions(flags);
    if (given !== undefined) checkPlanFile(given, session);
    const { plan } = await planConfiguration(session, options, outside);
    if (given !== undefined && !isRefused(plan)) checkSame(given, plan);
    const tell = (text: string) => context.terminal.err(text);
    const rehearsed =
      isWorkFor(plan) || isRefused(plan)
        ? await onCopies({ plan, manners, faults }, session, flags, outside, tell)
        : nothingToTry(plan, context);
    const document = { ...(given ?? plan), rehearsal: boundTo(given ?? plan, rehearsed) };
    await keep(document, file, flags, context);
    show(document, file, flags, context);
    return exitOf(rehearsed.verdict);
  } finally {
    await session.close();
  }
}

type Trial = {
  readonly plan: PlanDocument;
  readonly manners: Manners;
  readonly faults: readonly string[];
};

async function onCopies(
  { plan, manners, faults }: Trial,
  session: Session,
  flags: RehearseFlags,
  context: Context,
  tell: (text: string) => void,
): Promise<Rehearsal> {
  const { state, endpoints, secretValues } = session;
  tell('Reading the fleet.');
  const records = await readFleet(session, context.now());
  const addresses = new Map(
    Object.entries(state.resources).map(([address, { kind, id }]) => [`${kind} ${id}`, address]),
  );
  for (const { kind, id, address } of plan.changes) addresses.set(`${kind} ${id}`, address);
  const lacks = lackedBy(session);
  const absent = [...lacks.absent, ...(manners.dialect.absent ?? [])];
  const { rehearsal } = await tryOut({
    plan,
    source: { type: 'platform' },
    replica: replicate(records, await knownBeside(session, plan)),
    manners: { ...manners, dialect: { ...manners.dialect, absent } },
    faults,
    handsOn: (copy) => handsOn(copy, { flags, options: plan.options, state, context }),
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
  return rehearsal;
}

function nothingToTry({ digest, assumptions }: PlanDocument, { now }: Context): Rehearsal {
  return {
    digest,
    at: now().toISOString(),
    verdict: 'empty',
    source: { type: 'platform' },
    copied: {},
    steps: [],
    differences: [],
    differing: 0,
    faults: [],
    filled: [],
    assumptions,
  };
}

/** What stands against a plan since it was made is not in its digest. */
function boundTo({ digest }: PlanDocument, rehearsal: Rehearsal): Rehearsal {
  return { ...rehearsal, digest };
}

/** A plan file is only worth rehearsing while the platform is what it was planned from. */
function checkSame(given: PlanDocument, now: PlanDocument): void {
  const pinned = new Map(now.changes.map(({ address, pin }) => [address, pin]));
  const moved = given.changes.flatMap(({ address, pin, verdict }) => {
    const other = pinned.get(address);
    const isSame = pin?.digest === other?.digest && pin?.updated_at === other?.updated_at;
    return isSame || verdict !== 'ok' || other === undefined
      ? []
      : [`${address} was changed on the platform since the plan`];
  });
  const apart = moved.length > 0 ? moved : changesApart(given, now, 'in the plan', 'now');
  if (apart.length === 0) return;
  throw new CallsheetError('stale', apart.join('\n'), {
    hint: 'Nothing was rehearsed. Plan again, review, and rehearse the new plan.',
  });
}

function exitOf(verdict: RehearsalVerdict): ExitCode {
  switch (verdict) {
    case 'passed':
    case 'empty':
      return EXIT.done;
    case 'partial':
    case 'failed':
      return EXIT.partial;
    case 'refused':
      return EXIT.refused;
    default:
      return unreachable(verdict);
  }
}

/** The verdict goes into the plan file, or into the one that `--out` names. */
async function keep(
  document: PlanDocument,
  given: string | undefined,
  flags: RehearseFlags,
  { terminal }: Context,
): Promise<void> {
  const file = flags.out ?? given;
  if (file === undefined) return;
  const beside = `${file}.new`;
  await withNamedFile(flags.out === undefined ? 'PLANFILE' : '--out', file, async () => {
    await writeFile(beside, renderPlanJson(document), { mode: 0o600 });
    await rename(beside, file);
  });
  terminal.err(`The verdict is in ${file}: ${commandLine(`apply ${file}`, flags)}`);
}

function show(
  document: PlanDocument,
  given: string | undefined,
  { format }: RehearseFlags,
  { terminal }: Context,
): void {
  const isAlone = given !== undefined && format === 'text';
  terminal.out(
    isAlone
      ? renderRehearsalText(document, terminal.render)
      : renderPlan(document, format, terminal),
  );
}

function readingOnlyWire({ wire }: Context): NonNullable<Context['wire']> {
  return (transport) => readingOnly(wire === undefined ? transport : wire(transport));
}
