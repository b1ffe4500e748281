import type { Keep } from './uses.ts';
import type { Job } from './workflow.ts';

export type Event = {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly sha: string;
  readonly ref: string;
  /** Who started it; ana unless given. */
  readonly actor?: string;
};

export type JobResult = {
  readonly result: 'success' | 'failure' | 'skipped' | 'cancelled';
  readonly outputs: Readonly<Record<string, string>>;
  /** What its steps printed. */
  readonly log: string;
  readonly summary: string;
};

/** What comes to a run from outside, beside its event. Without it each job runs at once, and to its end. */
export type Watch = {
  /** Waits until a job may begin: for its turn, and for an approval. */
  readonly begin: (job: Job) => Promise<'go' | 'cancelled' | 'rejected'>;
  /** Told of each job that ran. */
  readonly end: (job: Job, result: JobResult) => void;
  /** Looked at after each step: somebody cancelled the run, or the machine of the job is gone. */
  readonly fate: () => 'cancelled' | 'lost' | undefined;
};

export type Surroundings = {
  readonly keep: Keep;
  readonly event: Event;
  /** Number of the run. */
  readonly run: string;
  /** How often it was started; once unless given. */
  readonly attempt?: number;
  /** What the machine has: PATH and the addresses of the fakes. */
  readonly machine: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  readonly watch?: Watch;
  /** Results of the attempt before, of the jobs that are not run again. */
  readonly kept?: Readonly<Record<string, JobResult>>;
};

const REPOSITORY = 'acme/agents';

/** The `github` context. */
export function githubOf(
  { event, run, attempt = 1 }: Pick<Surroundings, 'event' | 'run' | 'attempt'>,
  workflow: string,
) {
  return {
    workflow,
    event_name: event.name,
    event: { repository: { default_branch: 'main' }, ...event.payload },
    base_ref: event.name === 'pull_request' ? 'main' : '',
    sha: event.sha,
    ref: event.ref,
    repository: REPOSITORY,
    run_id: run,
    run_attempt: String(attempt),
    token: 'job-token',
  };
}

/** The branch that a pull request is to go into; empty for every other event. */
function baseOf({ payload }: Event): string {
  return Object(Object(payload.pull_request).base).ref ?? '';
}

/** What a workflow was started with by hand. */
export function inputsOf({ event }: Pick<Surroundings, 'event'>) {
  return event.payload.inputs ?? {};
}

/** The variables that every step has. */
export function runnerEnv({ event, run, attempt = 1 }: Surroundings): Record<string, string> {
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: event.actor ?? 'ana',
    GITHUB_BASE_REF: baseOf(event),
    GITHUB_EVENT_NAME: event.name,
    GITHUB_REF: event.ref,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/heads\//, ''),
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_SERVER_URL: 'https://github.example.test',
    GITHUB_SHA: event.sha,
  };
}

/** Outputs as blocks: `NAME<<END`, the value, `END`. */
export function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, name = '', end = ''] = /^([\w-]+)<<(.+)$/.exec(lines[index] ?? '') ?? [];
    if (name === '') continue;
    const stop = lines.indexOf(end, index + 1);
    if (stop < 0) throw new Error(`the output ${name} does not end`);
    outputs[name] = lines.slice(index + 1, stop).join('\n');
    index = stop;
  }
  return outputs;
}
