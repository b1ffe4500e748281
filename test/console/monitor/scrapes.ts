import type { QueueDatabase } from '../../../src/features/fleet/queue/database.ts';
import type { Claim } from '../../../src/features/fleet/queue/hand-out.ts';
import type { WorkEvent } from '../../../src/features/fleet/work.ts';
import { openWorkerMetrics } from '../../../src/features/fleet/worker-log.ts';
import { openGauges } from '../../../src/features/rollout/gauges.ts';
import { type RolloutRecord, toEntry } from '../../../src/features/rollout/record.ts';
import { openMetrics, type PassMeasured } from '../../../src/features/watch/events.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import { recordOf } from '../../features/rollout/samples.ts';
import { stateWith } from '../../state/sample.ts';

/** One sample as Prometheus has it: its name and labels, with those of the scrape. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
};

export const STACK = 'a/clinic';
const QUIET = { compared: 8, drifted: 0, unready: 0, pending: 0, healed: 0, contested: 0 };
const VERDICTS = { ok: 0, held: 0, refused: 0, unsupported: 0 };

/** A pass over a stack without a rollout. */
export const NOTHING_SEEN = {
  outcome: 'done',
  seconds: 1,
  seen: { ...QUIET, verdicts: VERDICTS, state: stateWith({}) },
} as const;

/** A watch and a worker whose clock is the caller's, and what Prometheus reads of them. */
export function openBoth(now: () => Date) {
  const watch = openMetrics(STACK, { version: '1' }, now(), [openGauges]);
  const worker = openWorkerMetrics({ version: '1' }, now);
  return {
    watch,
    worker,
    /** A pass that saw the whole stack, with a rollout whose calls were looked at a moment ago. */
    pass(seen: Partial<typeof QUIET> = {}, rollout: Partial<RolloutRecord> = {}): void {
      const at = now().toISOString();
      const record = recordOf({ steps: [{ agents: 3, at, runs: ['r'] }], ...rollout });
      const state = stateWith({}, { kept: { rollout: { careful: toEntry(record) } } });
      const all = { ...QUIET, ...seen, verdicts: VERDICTS, state };
      watch.passEnded({ outcome: 'done', seconds: 1, at: now(), seen: all });
    },
    failedPass(): void {
      const failed: PassMeasured = { outcome: 'failed', seconds: 1, at: now() };
      watch.passEnded(failed);
    },
    /** A look at the queue in which nothing was done for so long. */
    look(oldestSeconds = 0): void {
      const left = { waiting: oldestSeconds > 0 ? 1 : 0, running: 0, oldestSeconds, elsewhere: [] };
      worker.happened({ type: 'looked', left });
    },
    happened: (event: WorkEvent) => worker.happened(event),
    /** A request of the watch and one of the worker. */
    async answered(status: number): Promise<void> {
      for (const { counting } of [watch, worker]) {
        const transport = counting({ send: async () => ({ status }) } as unknown as Transport);
        await transport.send({} as Parameters<Transport['send']>[0]);
      }
    },
    /** Something that is asked of the queue's database. */
    async asked(wait: () => void): Promise<void> {
      const database = { query: async () => wait() } as unknown as QueueDatabase;
      await worker.timingQueue(database).query('select 1', []);
    },
    /** What Prometheus reads of both, with the targets themselves; nothing of those that are down. */
    async scrape(isUp = true): Promise<readonly Sample[]> {
      const samples: Sample[] = [];
      for (const [job, { expose }] of [
        ['callsheet-watch', watch],
        ['callsheet-worker', worker],
      ] as const) {
        const target = { job, instance: `${job}:9464` };
        samples.push({ name: 'up', labels: target, value: isUp ? '1' : '0' });
        if (isUp) samples.push(...samplesIn((await expose()).text, target));
      }
      return samples;
    },
  };
}

export type Both = ReturnType<typeof openBoth>;

/** A stack in the hands of a worker. */
export function claimOf({ isSuspect = false } = {}): Claim {
  return {
    task: {
      batch: 'b',
      number: 0,
      stack: STACK,
      digest: '',
      command: 'apply',
      flags: '{}',
      seal: null,
      attempts: 1,
      deaths: 0,
      delays: 0,
      note: null,
      isSuspect,
    },
    job: { id: 'j', retryCount: 0 },
  };
}

/** Samples of the text format. Its labels are read one by one: a value may have any character. */
function samplesIn(text: string, target: Readonly<Record<string, string>>): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, , written = '', value] =
      /^([a-zA-Z_:][\w:]*)(\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const pairs = [...written.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const labels = Object.fromEntries(pairs.map(([, label = '', given = '']) => [label, given]));
    return [{ name, labels: { ...labels, ...target }, value }];
  });
}
