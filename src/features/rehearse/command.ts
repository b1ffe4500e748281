import { refusePlanningFlags } from '../../console/apply.ts';
import type { Context, PlanFlags } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { writeNamedFile } from '../../console/named-file.ts';
import { readPlanFile, renderReview } from '../../console/plan.ts';
import { type KeyFlags, keysFrom } from '../../console/snapshot-keys.ts';
import { commandSpan, quoted } from '../../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode, unreachable } from '../../core/errors.ts';
import type { PlanDocument, Rehearsal, RehearsalVerdict } from '../../core/plan-document.ts';
import { isRefused } from '../../core/plan-document.ts';
import { NO_FINGERPRINTS } from '../../diff/leaves.ts';
import { movedFields } from '../../plan/basis.ts';
import { isWriting, signed, withDigest } from '../../plan/document.ts';
import { planFilePieces } from '../../render/json.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { checkPlan } from '../../run/apply.ts';
import { planOptions } from '../../run/plan.ts';
import { openStore, readState } from '../../run/session.ts';
import { openStack } from '../../run/stack.ts';
import { readSimulationFlags } from '../../simulator/index.ts';
import { openSnapshot } from '../../snapshot/file.ts';
import type { ContentRecord } from '../../snapshot/format.ts';
import { type Fleet, knownBeside, platformFleet } from './fleet.ts';
import { type Behaviour, tryOnCopies } from './rehearse.ts';
import { replicate } from './seed.ts';
import { changesApart } from './steps.ts';

export type RehearseFlags = PlanFlags &
  KeyFlags & {
    readonly from?: string;
    readonly out?: string;
    readonly fault?: readonly string[];
    readonly chaosSeed: string;
    readonly dialect?: readonly string[];
    readonly format: string;
  };

/** `callsheet rehearse [PLANFILE]`: tries a plan on a copy of the fleet. The platform is only read. */
export async function rehearse(
  file: string | undefined,
  flags: RehearseFlags,
  context: Context,
): Promise<ExitCode> {
  if (file !== undefined) refusePlanningFlags(flags);
  const given = file === undefined ? undefined : await readPlanFile(file);
  const { behaviour, faults } = await readBehaviour(flags);
  const { from } = flags;
  if (from !== undefined && file === undefined && flags.out !== undefined) throw madeOnCopy();
  const fleet =
    from === undefined
      ? await platformFleet(flags, context)
      : await snapshotGround(from, flags, context);
  try {
    const options = given?.options ?? planOptions(flags);
    if (given !== undefined) checkPlan(given, fleet, context);
    const now = await fleet.planNow?.(options);
    if (given !== undefined && now !== undefined) checkSame(given, now);
    const tried = now ?? given;
    const { plan, rehearsal } =
      tried !== undefined && !tried.changes.some(isWriting) && !isRefused(tried)
        ? { plan: tried, rehearsal: nothingToTry(tried, fleet, context) }
        : await tryOnCopies({ plan: tried, options, behaviour, faults }, fleet, flags, context);
    const shown = given ?? (tried === undefined ? addressed(plan, fleet) : plan);
    // Refusals that came up after a plan was made are not in its digest.
    const document = { ...shown, rehearsal: { ...rehearsal, digest: shown.digest } };
    await showVerdict(document, file, flags, context);
    await keepVerdict(document, file, flags, context);
    return verdictExit(rehearsal.verdict);
  } finally {
    await fleet.close();
  }
}

/** A plan that a copy gave, as one of the platform that it is a copy of. */
function addressed(made: PlanDocument, { platform }: Fleet): PlanDocument {
  return withDigest({ ...made, platform });
}

function madeOnCopy(): CallsheetError {
  return new CallsheetError('usage', '--out needs a plan of the platform, not one of a snapshot', {
    hint: 'Give the plan file, or rehearse without --from.',
  });
}

function nothingToTry(
  { digest, assumptions }: PlanDocument,
  { source }: Fleet,
  { now }: Context,
): Rehearsal {
  return {
    digest,
    at: now().toISOString(),
    verdict: 'empty',
    source,
    copied: {},
    steps: [],
    differences: [],
    differing: 0,
    faults: [],
    filled: [],
    assumptions,
  };
}

/** Words for what goes wrong often on any platform; everything else is a fault as `callsheet simulate` takes it. */
const OFTEN: { readonly [word: string]: string } = {
  '429': "{ operation: '*', status: 429, probability: 0.05 }",
  '503': "{ operation: '*', status: 503, probability: 0.05 }",
  lost: "{ operation: '*', reset: after, probability: 0.05 }",
};

function faultText(text: string): string {
  if (!/^\w+$/.test(text)) return text;
  throw new CallsheetError(
    'usage',
    `--fault ${text} is not one of ${Object.keys(OFTEN).join(', ')}`,
    {
      hint: "Write any other fault in full: --fault '{ operation: updateAgent, status: 500 }' (`callsheet help simulator`).",
    },
  );
}

/** How the copies behave. Throws `CallsheetError('usage')` for a fault or a dialect that there is not. */
export async function readBehaviour({
  fault = [],
  dialect = [],
  chaosSeed,
}: Pick<RehearseFlags, 'fault' | 'dialect' | 'chaosSeed'>): Promise<{
  readonly behaviour: Behaviour;
  /** The faults as a person gave them. */
  readonly faults: readonly string[];
}> {
  const texts = fault.map((text) => OFTEN[text] ?? faultText(text));
  const { options, faults } = await readSimulationFlags({ fault: texts, dialect });
  return {
    behaviour: { dialect: options.dialect ?? {}, faults, chaosSeed },
    faults: fault.length === 0 ? [] : [...fault, `drawn from the seed ${chaosSeed}`],
  };
}

/**
 * A plan file is only worth rehearsing while the platform is what it was planned from. Throws
 * `CallsheetError('stale')` that names what moved.
 */
function checkSame(given: PlanDocument, now: PlanDocument): void {
  const found = new Map(now.changes.map(({ address, basis }) => [address, basis]));
  const moved = given.changes.flatMap(({ address, basis, verdict }) => {
    const other = found.get(address);
    if (basis === undefined || other === undefined || verdict !== 'ok') return [];
    const fields = movedFields(basis, other.live);
    return fields.length === 0
      ? []
      : [`${address} was changed on the platform since the plan: ${fields.join(', ')}`];
  });
  const isJudged = moved.length > 0 || isRefused(now);
  const apart = isJudged ? moved : changesApart(given, now, 'in the plan', 'now');
  if (apart.length === 0) return;
  throw new CallsheetError('stale', apart.join('\n'), {
    hint: 'Nothing was rehearsed. Plan again, review, and rehearse the new plan.',
  });
}

/** The platform is not asked, so payment accounts and limits of the key are not known. */
const NOTHING_ASKED = { merchants: new Map(), level: undefined };

/** A fleet as a snapshot holds it. The platform is not asked anything. */
async function snapshotGround(
  from: string,
  flags: PlanFlags & KeyFlags,
  context: Context,
): Promise<Fleet> {
  const snapshot = await openSnapshot(from, keysFrom(flags, context));
  const { platform, made_at } = snapshot.header;
  const { stack, warnings, secretValues } = await openStack(flags, context);
  if (warnings.length > 0) context.emit({ type: 'warnings', diagnostics: warnings });
  const store = openStore(stack, context);
  try {
    const { state } = await readState(store);
    if (state.account_id !== undefined && state.account_id !== platform.account_id) {
      const message = `the snapshot ${from} is of account ${platform.account_id}; the state ${store.location} belongs to account ${state.account_id}`;
      throw new CallsheetError('usage', message, {
        hint: 'Rehearse with a snapshot of the account of the stack.',
      });
    }
    return {
      stack,
      state,
      secretValues,
      platform,
      // A snapshot has no secrets to compare.
      world: {
        findSecret: () => undefined,
        fingerprints: NO_FINGERPRINTS,
      },
      source: { type: 'snapshot', file: from, made_at },
      planNow: undefined,
      async replica() {
        const records: ContentRecord[] = [];
        for await (const record of snapshot.records())
          if (record.type !== 'end') records.push(record);
        return replicate(records, knownBeside({ stack, state, platform }, NOTHING_ASKED));
      },
      lacks: () => ({ absent: [] }),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The exit code of a verdict: see docs/plans.md. */
function verdictExit(verdict: RehearsalVerdict): ExitCode {
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
async function keepVerdict(
  document: PlanDocument,
  given: string | undefined,
  flags: RehearseFlags,
  { terminal }: Context,
): Promise<void> {
  const file = flags.out ?? given;
  if (file === undefined) return;
  const flag = flags.out === undefined ? 'PLANFILE' : '--out';
  await writeNamedFile(flag, file, planFilePieces(signed(document)));
  const { verdict } = document.rehearsal ?? {};
  const next = verdict === 'passed' ? `: ${commandSpan(`apply ${quoted(file)}`, flags)}` : '.';
  say(terminal, `The verdict is in ${file}${next}`);
}

/** A plan file was seen before, so that text shows the verdict alone. */
async function showVerdict(
  document: PlanDocument,
  given: string | undefined,
  { format, dir }: RehearseFlags,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const isAlone = given !== undefined && format === 'text';
  terminal.out(
    isAlone
      ? renderRehearsalText(document, terminal.render)
      : await renderReview(document, format, context, dir),
  );
}
