import type { Credentials } from '../api/auth.ts';
import type { Pause } from '../api/retry.ts';
import type { Timeouts } from '../api/timeouts.ts';
import type { TraceEntry } from '../api/trace-entry.ts';
import type { Transport } from '../api/transport.ts';
import type { RunCommand } from '../config/index.ts';
import type { Disk } from '../state/disk.ts';
import type { StateStore } from '../state/store.ts';
import type { Lanes } from './lanes.ts';
import type { Telemetry } from './monitor/telemetry.ts';
import type { Terminal } from './terminal.ts';
import type { Traffic } from './traffic.ts';

/** Flags that every command takes. */
export type CommonFlags = {
  readonly dir: string;
  readonly env?: string;
  readonly var?: readonly string[];
  readonly varFile?: readonly string[];
  readonly allowEnv?: readonly string[];
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly traceHttp?: string;
  readonly allowExec?: boolean;
};

/** Runs a command in a folder, as its shell would. */
export type RunSecret = (dir: string) => RunCommand;

/** What a command works with: the outside world, passed in. */
export type Context = {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  /** Aborted by the first interrupt. */
  readonly stop: AbortSignal;
  readonly version: string;
  /** What the file store does on the disk, where it is not to do it itself: tests stop it at each step. */
  readonly disk?: Disk;
  /** The same for what is sent to the platform. */
  readonly wire?: (transport: Transport) => Transport;
  /** The same for what is asked of the store of a state. */
  readonly timed?: (store: StateStore) => StateStore;
  /** How pauses between tries are spent; with the clock of the machine unless given. */
  readonly pause?: Pause;
  /** How long answers are waited for; as `api/timeouts.ts` says unless given. */
  readonly timeouts?: Partial<Timeouts>;
  /** Where a rehearsal goes instead of the platform and the state of the stack. */
  readonly copy?: {
    readonly baseUrl: string;
    readonly credentials: Credentials;
    readonly stateFile: string;
  };
  /** Runs what `exec:` secrets name, with `--allow-exec`. */
  readonly runSecret?: RunSecret | undefined;
  /** Counts what is sent to the platform once more, for the display of a run. */
  readonly traffic?: Traffic;
  /** What clients of one account share, where many stacks are worked on in one process. */
  readonly lanes?: Lanes | undefined;
  /** Where the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
  readonly telemetry?: Telemetry | undefined;
  /** Told of every request to the platform, with `--trace-http`. */
  readonly trace?: ((entry: TraceEntry) => void) | undefined;
};
