import { expect, test } from 'vitest';
import { type ApplyFlags, apply } from '../../src/cli/commands/apply.ts';
import { plan } from '../../src/cli/commands/plan.ts';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { Context } from '../../src/cli/context.ts';
import type { PlanFlags } from '../../src/cli/plan-flags.ts';
import { reportFailure } from '../../src/cli/report.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import {
  type LoggedRequest,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { CANARIES, CLINIC, FINGERPRINT_KEY, SEED } from '../e2e/clinic.ts';
import { copyStack, type StackCopy } from '../e2e/stack-copy.ts';

export type StageOptions = Pick<SimulatorOptions, 'seed' | 'dialect'> & {
  /** Folder of the stack that is copied; the clinic of `test/e2e` unless given. */
  readonly stack?: string;
  /** Values of secrets, by the names of their environment variables. */
  readonly secrets?: Readonly<Record<string, string>>;
};

type Options = {
  /** The exit code that it must end with; 0 unless given. */
  readonly exit?: number;
  readonly env?: Context['env'];
  readonly stop?: AbortSignal;
};

/**
 * A stack and a platform, with the commands run in this process: every stage from the YAML to the
 * platform's socket and the state on disk is the real one, only the process is not of its own.
 */
export type Stage = StackCopy & {
  readonly sim: Simulator;
  readonly plan: (flags?: Partial<PlanFlags>, options?: Options) => Promise<PlanDocument>;
  /** Applies. Where that succeeds the second plan must be empty: it is checked here. */
  readonly apply: (
    flags?: Partial<ApplyFlags>,
    options?: Options,
  ) => Promise<readonly LedgerLine[]>;
  readonly rollback: (
    flags?: Partial<RollbackFlags>,
    options?: Options,
  ) => Promise<readonly LedgerLine[]>;
  /** Requests that change something, in the order in which they ended. */
  readonly writes: () => readonly LoggedRequest[];
};

/** A test with a stage of its own. */
export function staged(
  name: string,
  body: (stage: Stage) => Promise<void>,
  options: StageOptions = {},
): void {
  test(name, async () => {
    const stage = await openStage(options);
    try {
      await body(stage);
    } finally {
      await stage.close();
    }
  });
}

/** Opens a stage. Whoever does closes it. */
export async function openStage(options: StageOptions = {}) {
  const { stack = CLINIC, seed = SEED, dialect = {}, secrets = CANARIES } = options;
  const copy = await copyStack(stack);
  const sim = await startSimulator({ seed, dialect });
  const stage: Stage = {
    ...copy,
    sim,
    plan: async (flags = {}, options = {}) =>
      JSON.parse(await act(options, (to) => plan({ ...common(copy), ...flags }, to))),
    async apply(flags = {}, options = {}) {
      const out = await act(options, (to) =>
        apply(undefined, { ...common(copy), autoApprove: true, ...flags }, to),
      );
      if ((options.exit ?? 0) === 0) {
        const { env = {} } = options;
        const second = { ...common(copy), detailedExitcode: true };
        const { changes } = JSON.parse(await act({ env }, (to) => plan(second, to)));
        expect(changes).toEqual([]);
      }
      return ledgerIn(out);
    },
    rollback: async (flags = {}, options = {}) =>
      ledgerIn(
        await act(options, (to) => rollback({ ...common(copy), autoApprove: true, ...flags }, to)),
      ),
    writes: () =>
      sim.requests.filter(
        ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
      ),
  };
  return {
    ...stage,
    async close() {
      await sim.close();
      await copy.remove();
    },
  };

  /** Runs a command and gives what it printed. */
  async function act(
    { exit = 0, env = {}, stop = new AbortController().signal }: Options,
    command: (context: Context) => Promise<number>,
  ): Promise<string> {
    const said = { out: '', err: '' };
    const context: Context = {
      terminal: captured(said),
      env: {
        ...secrets,
        CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
        ...env,
      },
      now: () => new Date(),
      stop,
      version: '0.0.0',
    };
    const ended = await command(context).catch((error: unknown) =>
      reportFailure(error, context.terminal, false),
    );
    expect(ended, `${said.out}${said.err}`).toBe(exit);
    return said.out;
  }
}

function common({ folder }: StackCopy) {
  return { dir: folder, format: 'json' as const };
}

function ledgerIn(out: string): readonly LedgerLine[] {
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
    canAsk: false,
    ask: async () => '',
  };
}
