import { relative, resolve } from 'node:path';
import { intro, isCancel, select, text } from '@clack/prompts';
import { hasErrors } from '../../core/diagnostics.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { renderNewStackText } from '../../render/new-stack.ts';
import { loadStack } from '../../stack/index.ts';
import type { CommonFlags, Context } from '../context.ts';
import { PIPELINES, type Pipeline } from '../documents.ts';
import {
  type Answers,
  addedFiles,
  isStack,
  lookAround,
  newFiles,
  refuseAgent,
  refuseBaseUrl,
  refuseId,
  refuseName,
  type Sorted,
  type Surroundings,
  setUpOf,
  sortFiles,
  writeAll,
} from '../init/files.ts';
import { packageFolder } from '../topics.ts';

export type InitFlags = CommonFlags & {
  readonly baseUrl?: string;
  readonly organization?: string;
  readonly agent?: string;
  readonly ci?: Pipeline;
  readonly empty?: boolean;
  readonly keepExisting?: boolean;
  readonly yes?: boolean;
};

/** `callsheet init`: a new stack that is valid at once. It never asks the platform anything. */
export async function init(flags: InitFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const dir = resolve(flags.dir);
  if (flags.keepExisting === true && isStack(dir)) return addTo(dir, flags, context);
  const around = lookAround(dir);
  const answers = await answersFor(givenBy(flags, around), flags, context);
  const sorted = sortFiles(dir, newFiles(answers, around));
  if (sorted.taken.length > 0 && flags.keepExisting !== true) throw taken(sorted);
  const { undo } = writeAll(dir, sorted.fresh);
  const { diagnostics } = await loadStack({ dir, env: context.env, secrets: 'skip' });
  if (hasErrors(diagnostics) && sorted.taken.length === 0) {
    undo();
    throw new CallsheetError('config', 'nothing was written: it would not be valid', {
      diagnostics,
    });
  }
  const { baseUrl, ci } = answers;
  terminal.out(textOf(sorted, { flags, around, ci, hasBaseUrl: baseUrl !== undefined }, context));
  return EXIT.done;
}

/** A stack that is there gets what it lacks beside its YAML: a pipeline, most of all. */
function addTo(dir: string, flags: InitFlags, context: Context): ExitCode {
  const of = (['baseUrl', 'organization', 'agent', 'empty'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (of !== undefined) {
    const flag = of === 'baseUrl' ? 'base-url' : of;
    refuse(`--${flag}`, 'The stack is there already: edit its YAML instead');
  }
  const around = lookAround(dir, true);
  const ci = flags.ci ?? 'none';
  const sorted = sortFiles(dir, addedFiles(ci, around));
  writeAll(dir, sorted.fresh);
  context.terminal.out(textOf(sorted, { flags, around, ci, hasBaseUrl: true }, context));
  return EXIT.done;
}

type Made = {
  readonly flags: InitFlags;
  readonly around: Surroundings;
  readonly ci: Pipeline;
  readonly hasBaseUrl: boolean;
};

function textOf(sorted: Sorted, made: Made, { terminal }: Context): string {
  const { dir } = made.flags;
  const setUp = setUpOf(dir, made.ci, made.around);
  // Commands are typed where this one was.
  const here = (path: string) => {
    const whole = resolve(dir, path);
    const way = relative('', whole);
    return way.length < whole.length ? way : whole;
  };
  const stack = {
    dir,
    written: sorted.fresh.map(({ path }) => path),
    kept: [...sorted.same, ...sorted.taken].map(({ path }) => path),
    lacking: sorted.lacking,
    hasBaseUrl: made.hasBaseUrl,
    pipeline: setUp && {
      guide: here(setUp.guide),
      unlocked: setUp.unlocked && here(setUp.unlocked),
      callsheet: packageFolder(),
    },
  };
  return renderNewStackText(stack, terminal.render);
}

function taken({ taken: files }: Sorted): CallsheetError {
  const list = files.map(({ path }) => path).join(', ');
  return new CallsheetError('usage', `nothing was written: there are other files at ${list}`, {
    hint: 'Move them away, or leave them as they are and write the rest with --keep-existing',
  });
}

async function answersFor(given: Given, flags: InitFlags, { terminal }: Context): Promise<Answers> {
  if (terminal.canAsk && flags.yes !== true) {
    return ask(given, { input: process.stdin, output: process.stderr });
  }
  if (given.organization === undefined && !given.isEmpty) {
    throw new CallsheetError('usage', 'an agent belongs to an organization, and none is given', {
      hint: 'Give --organization NAME=ID, or --empty for a stack without resources',
    });
  }
  return {
    baseUrl: given.baseUrl,
    organization: given.organization,
    agent: given.isEmpty ? undefined : (given.agent ?? 'Front desk'),
    ci: given.ci ?? 'none',
  };
}

function refuse(flag: string, why: string | undefined): void {
  if (why !== undefined) throw new CallsheetError('usage', `${flag} cannot be used`, { hint: why });
}

function givenBy(
  { baseUrl, organization, agent, ci, empty }: InitFlags,
  { inRepository }: Surroundings,
): Given {
  if (baseUrl !== undefined) refuse('--base-url', refuseBaseUrl(baseUrl));
  if (agent !== undefined) refuse(`--agent ${agent}`, refuseAgent(agent));
  if (agent !== undefined && empty === true) {
    refuse('--agent', 'A stack that is --empty has no agent; leave one of the two out');
  }
  const [name = '', id = ''] = organization?.split('=') ?? [];
  if (organization !== undefined) {
    refuse(`--organization ${organization}`, refuseName(name) ?? refuseId(id));
  }
  return {
    isEmpty: empty === true,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(organization !== undefined && { organization: { name, id } }),
    ...(agent !== undefined && { agent }),
    // Outside of a repository there is no place for one, and nothing to ask.
    ...(ci !== undefined ? { ci } : inRepository === undefined && { ci: 'none' }),
  };
}

/** What flags have answered already. */
type Given = { readonly [field in keyof Answers]?: Answers[field] } & {
  readonly isEmpty: boolean;
};

/** Where questions are asked; the process's own terminal unless given. */
export type Streams = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
};

const WHAT: { readonly [pipeline in Pipeline]: string } = {
  none: 'none, or later',
  github: 'GitHub Actions',
  gitlab: 'GitLab CI',
};

/** Asks for what no flag has answered. Results go to standard output, so questions do not. */
export async function ask(given: Given, streams: Streams): Promise<Answers> {
  intro('A new stack', streams);
  const baseUrl = given.baseUrl ?? (await askBaseUrl(streams));
  const organization =
    given.organization ?? (given.isEmpty ? undefined : await askOrganization(streams));
  const agent = given.isEmpty ? undefined : (given.agent ?? (await askAgent(streams)));
  const ci = given.ci ?? (await askPipeline(streams));
  return { baseUrl, organization, agent, ci };
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new CallsheetError('interrupted', 'interrupted; nothing was written');
  return answer as Exclude<T, symbol>;
}

async function askBaseUrl(streams: Streams): Promise<string | undefined> {
  const answer = answered(
    await text({
      ...streams,
      message: 'Base address of the platform (empty: CALLSHEET_BASE_URL says it)',
      placeholder: 'https://voice.example.test',
      validate: (value) => (value ? refuseBaseUrl(value) : undefined),
    }),
  );
  return answer === undefined || answer === '' ? undefined : answer;
}

async function askOrganization(streams: Streams) {
  const name = answered(
    await text({
      ...streams,
      message: 'A short name for the organization',
      placeholder: 'harbor',
      validate: (value) => refuseName(value ?? ''),
    }),
  );
  const id = answered(
    await text({
      ...streams,
      message: 'Its id, from the dashboard',
      validate: (value) => refuseId(value ?? ''),
    }),
  );
  return { name, id };
}

async function askAgent(streams: Streams): Promise<string> {
  const initialValue = 'Front desk';
  const validate = (value: string | undefined) => refuseAgent(value ?? '');
  return answered(
    await text({ ...streams, message: 'Name of the first agent', initialValue, validate }),
  );
}

async function askPipeline(streams: Streams): Promise<Pipeline> {
  const options = PIPELINES.map((value) => ({ value, label: WHAT[value] }));
  return answered(await select({ ...streams, message: 'A pipeline to write', options }));
}
