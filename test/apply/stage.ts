import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { type ApplyFlags, apply } from '../../src/console/apply.ts';
import type { Context, PlanFlags } from '../../src/console/context.ts';
import { onTerminal, reportFailure } from '../../src/console/events.ts';
import { allowancesIn } from '../../src/console/flags.ts';
import { plan } from '../../src/console/plan.ts';
import type { Terminal } from '../../src/console/terminal.ts';
import type { Change, PlanDocument } from '../../src/core/plan-document.ts';
import { features } from '../../src/features/index.ts';
import {
  type LoggedRequest,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { rememberedIn } from '../cli/state-stage.ts';
import { checkPrinted } from '../documents.ts';
import { CANARIES, CLINIC, COMMIT, FINGERPRINT_KEY, SEED } from '../e2e/clinic.ts';
import { findLeaks, type Said as Printed } from '../e2e/leaks.ts';
import { copyStack, type StackCopy } from '../e2e/stack-copy.ts';
import { INVENTIONS } from '../inventions.ts';
import { isTorture } from '../long.ts';

export type StageOptions = Pick<SimulatorOptions, 'seed' | 'dialect' | 'callers'> & {
  /** The platform's clock; the machine's unless given, but for whole seconds. */
  readonly platformNow?: () => Date;
  /** Folder of the stack that is copied; the clinic of `test/e2e` unless given. */
  readonly stack?: string;
  /** How `apply` applies: at once, or by a plan file that it makes first. At once unless given. */
  readonly way?: Way;
  /** Values of secrets, by the names of their environment variables. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables of every command, beside those that a stage sets. */
  readonly env?: Context['env'];
};

/** Formats of plans beside those of the core. */
export const VIEWS = features.flatMap(({ views = {} }) => Object.keys(views));

type Way = 'apply' | 'plan file';

const WAYS: readonly Way[] = ['apply', 'plan file'];

/** Ways in which a test is taken, where not all of them make sense. */
type Ways = { readonly ways?: readonly Way[] };

/** What a command printed and said. */
export type Said = { readonly out: string; readonly err: string };

type Options = {
  /** The exit code that it must end with; 0 unless given. */
  readonly exit?: number | readonly number[] | 'any';
  readonly env?: Context['env'];
  /** What the command has of the outside world, where it is not the real one. */
  readonly outside?: Pick<Context, 'disk' | 'wire' | 'runSecret' | 'pause' | 'timed'>;
  readonly stop?: AbortSignal;
  /** The clock of the command; the machine's unless given. */
  readonly now?: () => Date;
};

type ApplyOptions = Options & {
  /** What the second plan may still show; nothing unless given. */
  readonly leaves?: (change: Change) => boolean;
};

/**
 * A stack and a platform, with the commands run in this process: every stage from the YAML to the
 * platform's socket and the state on disk is the real one, only the process is not of its own.
 */
export type Stage = StackCopy & {
  readonly sim: Simulator;
  /** Runs a command and checks how it ended; it throws nothing, as on a command line. */
  readonly run: (
    command: (context: Context) => Promise<number>,
    options?: Options,
  ) => Promise<Said>;
  readonly plan: (flags?: Partial<PlanFlags>, options?: Options) => Promise<PlanDocument>;
  /** Applies. Where that succeeds the second plan must be empty: it is checked here. */
  readonly apply: (
    flags?: Partial<ApplyFlags>,
    options?: ApplyOptions,
  ) => Promise<readonly LedgerLine[]>;
  /** Applies a plan file, and checks as much. */
  readonly applyFile: (
    file: string,
    flags?: Partial<ApplyFlags>,
    options?: ApplyOptions,
  ) => Promise<Said>;
  readonly rollback: (
    flags?: Partial<RollbackFlags>,
    options?: Options,
  ) => Promise<readonly LedgerLine[]>;
  /** Requests that change something, in the order in which they ended. */
  readonly writes: () => readonly LoggedRequest[];
  /** Where a secret showed up: in what was printed here or `also`, or in a file below the stack. */
  readonly leaks: (also?: readonly Printed[]) => readonly string[];
};

/**
 * A test with a stage of its own, in which no secret may show up. `npm run torture` takes each twice: `apply` applies at
 * once, and by a plan file. Both ways leave the same in the state.
 */
export function staged(
  name: string,
  body: (stage: Stage) => Promise<void>,
  { ways = isTorture ? WAYS : ['apply'], ...options }: StageOptions & Ways = {},
): void {
  test(name, async () => {
    const left: object[] = [];
    for (const way of ways) {
      const stage = await openStage({ ...options, way });
      try {
        await body(stage);
        expect(stage.leaks()).toEqual([]);
        if (ways.length > 1) left.push(await rememberedIn(stage).catch(() => ({})));
      } finally {
        await stage.close();
      }
    }
    for (const other of left.slice(1)) expect(other, ways.join(' and ')).toEqual(left[0]);
  });
}

/** The same both ways in `npm test`, too. */
export function stagedBothWays(...[name, body, options]: Parameters<typeof staged>): void {
  staged(name, body, { ...options, ways: WAYS });
}

/** The same of what `npm run torture` alone goes through. */
export function longStaged(...given: Parameters<typeof staged>): void {
  if (isTorture) staged(...given);
}

/**
 * The machine's time, a tenth of a second away from whole seconds at least: a stamp that falls on one is doubted, so that
 * one write in a thousand would be read once more. `thrift.test.ts` shows that.
 */
function betweenSeconds(): Date {
  const now = Date.now();
  const past = now % 1000;
  return new Date(now - past + 100 + Math.floor(past * 0.8));
}

/** Opens a stage. Whoever does closes it. */
export async function openStage(options: StageOptions = {}) {
  const { stack = CLINIC, seed = SEED, dialect = {}, secrets = CANARIES, way = 'apply' } = options;
  const copy = copyStack(stack);
  const { platformNow: now = betweenSeconds, callers } = options;
  const sim = await startSimulator({
    seed,
    dialect: { inventions: INVENTIONS, ...dialect },
    now,
    ...(callers ? { callers } : {}),
  });
  const printed: Printed[] = [];
  const flagsOf = <F>(flags: F) => ({ dir: copy.folder, format: 'json' as const, ...flags });

  const stage: Stage = {
    ...copy,
    sim,
    run: act,
    plan: async (flags = {}, options = {}) =>
      JSON.parse((await act((to) => plan(flagsOf(flags), to), options)).out),
    async apply(flags = {}, options = {}) {
      return ledgerIn(await applyThenPlan(undefined, flags, options));
    },
    applyFile: (file, flags = {}, options = {}) =>
      applyThenPlan(join(copy.folder, file), flags, options),
    rollback: async (flags = {}, options = {}) =>
      ledgerIn(await act((to) => rollback({ ...flagsOf(flags), autoApprove: true }, to), options)),
    writes: () =>
      sim.requests.filter(
        ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
      ),
    leaks(also = []) {
      const hidden = [...Object.values(secrets), sim.clientSecret, ...sim.store.tokens.keys()];
      return findLeaks(hidden, [...printed, ...also], copy.folder);
    },
  };

  async function applyThenPlan(
    file: string | undefined,
    flags: Partial<ApplyFlags>,
    { leaves = () => false, ...options }: ApplyOptions,
  ): Promise<Said> {
    const isByFile = file === undefined && way === 'plan file' && flags.autoApprove !== false;
    const said = isByFile
      ? await applyByFile(flags, options)
      : await act(
          (to) => apply(file, { ...flagsOf(flags), autoApprove: file === undefined }, to),
          options,
        );
    if ((options.exit ?? 0) !== 0) return said;
    const { env = {}, now, outside = {} } = options;
    const { target = [], exclude = [], skipRefused = false, env: environment } = flags;
    const second = await stage.plan(
      { target, exclude, skipRefused, ...(environment ? { env: environment } : {}) },
      {
        env,
        outside: { runSecret: outside.runSecret, ...(outside.timed && { timed: outside.timed }) },
        ...(now ? { now } : {}),
      },
    );
    expect(second.changes.filter((change) => !leaves(change))).toEqual([]);
    return said;
  }
  /** Plans into a file and applies that, as pipelines do. */
  function applyByFile(flags: Partial<ApplyFlags>, options: Options): Promise<Said> {
    const file = join(copy.folder, 'applied.plan.json');
    const left = allowancesIn(flags);
    const isLeft = ([name]: readonly [string, unknown]) => !(left.has(name) || name === 'refresh');
    const rest = Object.fromEntries(Object.entries(flags).filter(isLeft));
    return act(async (to) => {
      const quiet = { ...to, terminal: captured({ out: '', err: '' }) };
      await plan({ ...flagsOf(flags), out: file }, quiet);
      return apply(file, flagsOf(rest), to);
    }, options);
  }

  return {
    ...stage,
    async close() {
      await sim.close();
      copy.discard();
    },
  };

  async function act(
    command: (context: Context) => Promise<number>,
    {
      exit = 0,
      env = {},
      stop = new AbortController().signal,
      now = () => new Date(),
      outside = {},
    }: Options = {},
  ): Promise<Said> {
    const said = { out: '', err: '' };
    const context: Context = {
      ...onTerminal(captured(said)),
      features,
      env: {
        ...secrets,
        CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
        CI_COMMIT_SHA: COMMIT,
        ...options.env,
        ...env,
      },
      now,
      stop,
      version: '0.0.0',
      ...outside,
    };
    const ended = await command(context).catch((error: unknown) =>
      reportFailure(error, context.terminal, false),
    );
    printed.push({ by: 'a result', text: said.out }, { by: 'a message', text: said.err });
    await checkPrinted(said.out);
    const ends = typeof exit === 'number' ? [exit] : exit;
    if (ends !== 'any') expect(ends, `${said.err}${said.out}`).toContain(ended);
    return said;
  }
}

/** Requests about agents since the last time, by operation. */
export function counting({ sim }: Pick<Stage, 'sim'>): () => Readonly<Record<string, number>> {
  let seen = 0;
  return () => {
    const counts: Record<string, number> = {};
    for (const { operation } of sim.requests.slice(seen))
      if (operation?.includes('Agent')) counts[operation] = (counts[operation] ?? 0) + 1;
    seen = sim.requests.length;
    return counts;
  };
}

function ledgerIn({ out }: Said): readonly LedgerLine[] {
  return out === '' ? [] : JSON.parse(out).ledger;
}

function captured(said: { out: string; err: string }): Terminal {
  const plain = { width: 80, color: false, verbose: false };
  return {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += `${text}\n`;
    },
    render: plain,
    renderErr: plain,
    wrapsErr: false,
    canAsk: false,
    ask: async () => '',
  };
}
