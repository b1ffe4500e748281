import { type MeasuredBy, type Measures, openMeasures } from '../../console/monitor/metrics.ts';
import {
  debug,
  exposedWords,
  type HealthReport,
  info,
  judgeSilence,
  type LogEntries,
  type LoggedEvent,
  warn,
} from '../../console/monitor/serve.ts';
import { EXIT, formatDuration } from '../../core/errors.ts';
import { formatCount } from '../../render/wording.ts';
import type { StateStore } from '../../state/store.ts';
import type { QueueDatabase } from './queue/database.ts';
import type { Left } from './queue/hand-out.ts';
import type { StackResult } from './run-stack.ts';
import type { WorkEvent } from './work.ts';

type About = { readonly stack: string; readonly command: string; readonly batch: string };

/** Each line of a worker's log is one of these, with its level and time. docs/reference/monitoring.md lists them. */
export const EVENTS = {
  started: info(({ worker, commit, listen }: Started) => {
    const where = listen === null ? '' : ` http://${listen} has /healthz and /metrics`;
    return `${worker} works on ${commit ?? 'stacks of no repository'}.${where}`;
  }),
  exposed: warn(exposedWords),
  stack_began: debug(
    (event: About & { readonly attempt: number; readonly alone: boolean }) =>
      `${formatName(event)}: try ${event.attempt}${event.alone ? ', alone' : ''}`,
  ),
  stack_ended: {
    getLevel: ({ well }: Ended) => (well ? 'info' : 'error'),
    formatWords: (event: Ended) => `${formatName(event)}: ${event.message}`,
  },
  stack_given_back: info((event: GivenBack) => {
    const when = event.seconds === 0 ? '' : `, again in ${formatDuration(event.seconds)}`;
    return `${formatName(event)}: given back, ${event.message}${when}`;
  }),
  lease_lost: warn(
    (event: About) =>
      `${formatName(event)}: another worker has it now, and will find the changes of this one`,
  ),
  queue_lost: warn(({ message }: { readonly message: string }) => `${message}. Trying again.`),
  queue_back: info(
    ({ seconds }: { readonly seconds: number }) =>
      `The queue answers again, after ${formatDuration(seconds)}`,
  ),
  rate_held: warn(
    ({ base_url: host, seconds }: { readonly base_url: string; readonly seconds: number }) =>
      `${host} refused requests, or the queue says so: nothing is sent to it for ${formatDuration(seconds)}`,
  ),
  waits_elsewhere: info(
    ({ stacks, commits, commit }: WaitsElsewhere) =>
      `${formatCount(stacks, 'stack')} wait for workers at ${commits.map(short).join(', ')}; this checkout is at ${short(commit ?? 'no commit')}`,
  ),
  stopping: info(() => 'Stopping after the requests in flight. Interrupt again to exit at once'),
  stopped: info(
    ({ done, failed, given_back: back }: Stopped) =>
      `${formatCount(done, 'stack')} done, ${failed} of them with a failure; ${back} given back`,
  ),
} satisfies LogEntries;

type WorkerEvent = LoggedEvent<typeof EVENTS>;

type Started = {
  readonly worker: string;
  readonly commit: string | null;
  readonly stacks: number;
  /** Null: nothing is answered. */
  readonly listen: string | null;
  readonly version: string;
};

type Ended = About & {
  readonly exit: number;
  readonly well: boolean;
  readonly seconds: number;
  readonly message: string;
};

type GivenBack = About & {
  readonly message: string;
  /** Until somebody takes it again. */
  readonly seconds: number;
};

type WaitsElsewhere = {
  readonly commits: readonly string[];
  readonly stacks: number;
  readonly commit: string | null;
};

type Stopped = { readonly done: number; readonly failed: number; readonly given_back: number };

/** Returns the log event of a work event; undefined for one that is only counted. */
export function toWorkerEvent(
  event: WorkEvent,
  commit: string | undefined,
): WorkerEvent | undefined {
  switch (event.type) {
    case 'working':
    case 'looked':
    case 'turned':
      return undefined;
    case 'began': {
      const { attempts: attempt, isSuspect: alone } = event.claim.task;
      return { event: 'stack_began', ...describeAbout(event), attempt, alone };
    }
    case 'settled': {
      const { seconds, result, isWell: well } = event;
      const message = outcomeWords(result);
      return {
        event: 'stack_ended',
        ...describeAbout(event),
        exit: result.exit,
        well,
        seconds,
        message,
      };
    }
    case 'again': {
      const { why: message, seconds } = event;
      return { event: 'stack_given_back', ...describeAbout(event), message, seconds };
    }
    case 'taken':
      return { event: 'lease_lost', ...describeAbout(event) };
    case 'lost':
      return { event: 'queue_lost', message: event.error.message };
    case 'back':
      return { event: 'queue_back', seconds: event.seconds };
    case 'held':
      return { event: 'rate_held', base_url: event.baseUrl, seconds: event.seconds };
    case 'elsewhere': {
      const { commits, tasks: stacks } = event;
      return { event: 'waits_elsewhere', commits, stacks, commit: commit ?? null };
    }
  }
}

function describeAbout({ claim }: Extract<WorkEvent, { claim: unknown }>): About {
  const { stack, command, batch } = claim.task;
  return { stack, command, batch };
}

function formatName({ stack, command }: About): string {
  return `${stack}  ${command}`;
}

function short(commit: string): string {
  return /^[0-9a-f]{40,}$/.test(commit) ? commit.slice(0, 12) : commit;
}

function outcomeWords({ exit, document, error }: StackResult): string {
  if (error !== undefined) return `exit ${exit}, ${error.message.split('\n')[0] ?? ''}`;
  if (document?.format === 'callsheet-run') {
    const done = document.ledger.filter(({ status }) => status === 'done').length;
    const other = document.ledger.length - done;
    if (document.ledger.length === 0) return 'nothing to change';
    return `${formatCount(done, 'change')} done${other === 0 ? '' : `, ${other} not`}${exitWords(exit)}`;
  }
  if (document?.format === 'callsheet-plan') {
    return `${formatCount(document.changes.length, 'change')} planned${exitWords(exit)}`;
  }
  return exit === EXIT.done ? 'done' : `exit ${exit}`;
}

function exitWords(exit: number): string {
  return exit === EXIT.done ? '' : ` (exit ${exit})`;
}

/** Measures of a worker. Those of the queue's contents are the same for every worker. */
type WorkerMetrics = {
  readonly happened: (event: WorkEvent) => void;
  /** A database whose answers are timed. */
  readonly timingQueue: (database: QueueDatabase) => QueueDatabase;
  /** The same for the store of a stack's state. */
  readonly timingState: (store: StateStore) => StateStore;
} & Pick<Measures, 'counting' | 'expose'>;

/** From a database beside the worker to one that is about to be given up. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Opens the metrics of a worker. All series are there from the beginning. */
export function openWorkerMetrics(by: MeasuredBy, now: () => Date): WorkerMetrics {
  const { counter, gauge, histogram, counting, expose } = openMeasures(by);
  const depth = gauge('queue_stacks', 'Stacks of this commit that are not done, by status.', [
    'status',
  ]);
  const elsewhere = gauge('queue_elsewhere_stacks', 'Stacks that wait at other commits.', []);
  const oldest = gauge(
    'queue_oldest_seconds',
    'Since when the oldest stack of this commit that is not done was enqueued; 0 where none is.',
    [],
  );
  const answer = gauge(
    'queue_last_answer_timestamp_seconds',
    'When the queue answered last; before its first answer, when the worker started.',
    [],
  );
  const running = gauge('worker_running_stacks', 'Stacks that this worker works at.', []);
  const ended = counter('worker_stacks_total', 'Stacks that it was through with, by outcome.', [
    'outcome',
  ]);
  const lost = counter(
    'worker_lost_leases_total',
    'Stacks that another worker had taken over when this one finished.',
    [],
  );
  const takeovers = counter(
    'worker_takeovers_total',
    'Stacks that it began after a worker that had them fell silent.',
    [],
  );
  const latency = histogram(
    'store_duration_seconds',
    'How long the queue, and the store of the states, took to answer.',
    ['store'],
    BUCKETS,
  );
  for (const status of ['waiting', 'running']) depth.set({ status }, 0);
  for (const outcome of ['done', 'failed', 'given_back']) ended.inc({ outcome }, 0);
  for (const store of ['queue', 'state']) latency.zero({ store });
  answer.set(now().getTime() / 1000);

  function looked({ waiting, running: atWork, elsewhere: others, oldestSeconds }: Left): void {
    answer.set(now().getTime() / 1000);
    depth.set({ status: 'waiting' }, waiting);
    depth.set({ status: 'running' }, atWork);
    elsewhere.set(others.reduce((sum, one) => sum + one.tasks, 0));
    oldest.set(oldestSeconds);
  }

  /** The same functions, timed. */
  function timing<T extends object>(store: 'queue' | 'state', functions: T, names: (keyof T)[]): T {
    const timed = { ...functions };
    for (const name of names) {
      const plain = functions[name];
      if (typeof plain !== 'function') continue;
      const clocked = async (...args: unknown[]) => {
        const end = latency.startTimer({ store });
        try {
          return await plain.apply(functions, args);
        } finally {
          end();
        }
      };
      timed[name] = clocked as T[keyof T];
    }
    return timed;
  }

  return {
    happened(event) {
      if (event.type === 'working') running.set(event.stacks);
      if (event.type === 'began' && event.claim.task.isSuspect) takeovers.inc();
      if (event.type === 'settled') ended.inc({ outcome: event.isWell ? 'done' : 'failed' });
      if (event.type === 'again') ended.inc({ outcome: 'given_back' });
      if (event.type === 'taken') lost.inc();
      if (event.type === 'looked') looked(event.left);
    },
    timingQueue: (database) => timing('queue', database, ['query', 'transaction']),
    timingState: (store) => ({
      ...timing('state', store, ['load', 'lock', 'runs', 'run']),
      async acquire(holder) {
        const lease = await timing('state', store, ['acquire']).acquire(holder);
        return timing('state', lease, ['append', 'commit', 'release']);
      },
    }),
    counting,
    expose,
  };
}

/** A request to a queue that is away is given up after a minute; a loop that is silent for three hangs. */
const PATIENCE_MS = 180_000;

/** The answer of a worker's `/healthz`. */
type WorkerHealth = HealthReport & {
  readonly version: string;
  readonly worker: string;
  readonly started_at: string;
  readonly last_turn_at: string | null;
  /** Since when the queue does not answer. A restart would not bring it back, so it does not make it fail. */
  readonly queue_lost_since: string | null;
};

/** Watches over the loop of a worker. */
export function watchWorker({ version, worker, now }: Watched) {
  const started = now();
  let turned: Date | undefined;
  let lostSince: Date | undefined;
  return {
    happened({ type }: WorkEvent) {
      if (type === 'turned') turned = now();
      if (type === 'lost') lostSince ??= now();
      if (type === 'back') lostSince = undefined;
    },
    report(): WorkerHealth {
      const silent = now().getTime() - (turned ?? started).getTime();
      return {
        ...judgeSilence('the worker has not looked for work', silent, PATIENCE_MS),
        version,
        worker,
        started_at: started.toISOString(),
        last_turn_at: turned?.toISOString() ?? null,
        queue_lost_since: lostSince?.toISOString() ?? null,
      };
    },
  };
}

type Watched = {
  readonly version: string;
  readonly worker: string;
  readonly now: () => Date;
};
