import type { Keep } from './uses.ts';

export type Event = {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly sha: string;
  readonly ref: string;
};

export type Surroundings = {
  readonly keep: Keep;
  readonly event: Event;
  /** Number of the run. */
  readonly run: string;
  /** What the machine has: PATH and the addresses of the fakes. */
  readonly machine: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
};

const REPOSITORY = 'acme/agents';

/** The `github` context. */
export function githubOf({ event, run }: Surroundings) {
  return {
    event_name: event.name,
    event: { repository: { default_branch: 'main' }, ...event.payload },
    base_ref: event.name === 'pull_request' ? 'main' : '',
    sha: event.sha,
    ref: event.ref,
    repository: REPOSITORY,
    run_id: run,
    run_attempt: '1',
    token: 'job-token',
  };
}

/** What a workflow was started with by hand. */
export function inputsOf({ event }: Surroundings) {
  return event.payload.inputs ?? {};
}

/** The variables that every step has. */
export function runnerEnv({ event, run }: Surroundings): Record<string, string> {
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: 'ana',
    GITHUB_EVENT_NAME: event.name,
    GITHUB_REF: event.ref,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/heads\//, ''),
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_RUN_ID: run,
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
