import { relative, resolve } from 'node:path';
import { intro, select, text } from '@clack/prompts';
import { packageFolder } from '../../../cli/topics.ts';
import type { CommonFlags, Context } from '../../../console/context.ts';
import { answered, say } from '../../../console/events.ts';
import { PIPELINES, type Pipeline } from '../../../console/flags.ts';
import { hasErrors } from '../../../core/diagnostics.ts';
import { CallsheetError, EXIT, type ExitCode, firstLines } from '../../../core/errors.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount } from '../../../render/wording.ts';
import { isStack } from '../../../stack/folder.ts';
import { loadStack } from '../../../stack/index.ts';
import { refuseFolder } from '../export/new-folder.ts';
import type { Account } from './account.ts';
import {
  type Answers,
  addedFiles,
  lookAround,
  newFiles,
  planSetUp,
  refuseAgent,
  refuseBaseUrl,
  refuseId,
  refuseName,
  type Sorted,
  type Surroundings,
  sortFiles,
  treeFiles,
  writeAll,
} from './files.ts';
import { renderNewStackText } from './new-stack.ts';

export type InitFlags = CommonFlags & {
  readonly baseUrl?: string;
  readonly organization?: string;
  readonly agent?: string;
  readonly ci?: Pipeline;
  readonly empty?: boolean;
  readonly keepExisting?: boolean;
  readonly recursive?: boolean;
  readonly yes?: boolean;
};

/**
 * `callsheet init`: a new stack that is valid at once. The platform is asked, and only read, where no flag says which
 * organization is meant and the environment has credentials.
 */
export async function init(flags: InitFlags, context: Context): Promise<ExitCode> {
  const { terminal, env, features } = context;
  const dir = resolve(flags.dir);
  if (flags.recursive === true) return addToTree(dir, flags, context);
  if (flags.keepExisting === true && isStack(dir)) return addTo(dir, flags, context);
  const around = lookAround(dir);
  // If no pipeline can be written, this says so before anything is exported.
  addedFiles(flags.ci ?? 'none', around);
  const given = givenBy(flags, around);
  const account = await accountFor(given, flags, context);
  if (account !== undefined && canAsk(flags, context) && (await isExportWanted(given, account)))
    return exportInto(flags, context);
  const answers = await answersFor(given, account, flags, context);
  const sorted = sortFiles(dir, newFiles(answers, around));
  if (sorted.taken.length > 0 && flags.keepExisting !== true) throw taken(sorted);
  const undo = writeAll(dir, sorted.fresh);
  const { diagnostics } = await loadStack({ dir, env, features, secrets: 'skip' });
  if (hasErrors(diagnostics) && sorted.taken.length === 0) {
    undo();
    throw new CallsheetError('config', 'nothing was written: it would not be valid', {
      diagnostics,
    });
  }
  const { baseUrl, ci } = answers;
  terminal.out(
    formatSetUp(
      sorted,
      { flags, around, ci, hasBaseUrl: baseUrl !== undefined, isThere: false },
      context,
    ),
  );
  return EXIT.done;
}

/** A stack that is there gets what it lacks beside its YAML: a pipeline, most of all. */
function addTo(dir: string, flags: InitFlags, context: Context): ExitCode {
  refuseAnswers(flags, 'The stack is there already: edit its YAML instead');
  const around = lookAround(dir, true);
  const ci = flags.ci ?? 'none';
  const sorted = sortFiles(dir, addedFiles(ci, around));
  writeAll(dir, sorted.fresh);
  context.terminal.out(
    formatSetUp(sorted, { flags, around, ci, hasBaseUrl: true, isThere: true }, context),
  );
  return EXIT.done;
}

/** A tree gets one pipeline, whatever stacks it comes to have. */
function addToTree(dir: string, flags: InitFlags, context: Context): ExitCode {
  const { ci = 'none' } = flags;
  refuseAnswers(flags, 'With --recursive only the pipeline is written. Begin each stack by itself');
  if (ci === 'none') {
    refuse(
      '--recursive',
      'It writes one pipeline for all stacks: also pass --ci github, gitlab or shell',
    );
    return EXIT.done;
  }
  const around = lookAround(dir, true);
  const sorted = sortFiles(dir, treeFiles(ci, around));
  if (sorted.taken.length > 0 && flags.keepExisting !== true) throw taken(sorted);
  writeAll(dir, sorted.fresh);
  context.terminal.out(
    formatSetUp(sorted, { flags, around, ci, hasBaseUrl: true, isThere: true }, context),
  );
  return EXIT.done;
}

/** Throws for a flag that says what is in a new stack. */
function refuseAnswers(flags: InitFlags, why: string): void {
  const of = (['baseUrl', 'organization', 'agent', 'empty'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (of !== undefined) refuse(`--${of === 'baseUrl' ? 'base-url' : of}`, why);
}

type Made = {
  readonly flags: InitFlags;
  readonly around: Surroundings;
  readonly ci: Pipeline;
  readonly hasBaseUrl: boolean;
  readonly isThere: boolean;
};

function formatSetUp(sorted: Sorted, made: Made, { terminal }: Context): string {
  const { dir } = made.flags;
  const setUp = planSetUp(dir, made.ci, made.around, made.flags.recursive);
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
    isThere: made.isThere,
    pipeline: setUp && {
      service: setUp.service,
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

function canAsk({ yes }: InitFlags, { terminal }: Context): boolean {
  return terminal.canAsk && yes !== true;
}

/** Returns true if the environment says where the platform is and who asks. Nothing else is ever sent a credential. */
function hasCredentials({ env }: Pick<Context, 'env'>): boolean {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  return (
    isSet('CALLSHEET_BASE_URL') &&
    (isSet('CALLSHEET_ACCESS_TOKEN') ||
      (isSet('CALLSHEET_CLIENT_ID') && isSet('CALLSHEET_CLIENT_SECRET')))
  );
}

/** The account, where somebody has to choose from it; undefined where it cannot be read. */
async function accountFor(
  given: Given,
  flags: InitFlags,
  context: Context,
): Promise<Account | undefined> {
  const isChosen = given.isEmpty || given.organization !== undefined;
  const isOther = given.baseUrl !== undefined && given.baseUrl !== context.env.CALLSHEET_BASE_URL;
  if (isChosen || isOther || !hasCredentials(context)) return undefined;
  const { readAccount } = await import('./account.ts');
  try {
    return await readAccount(flags, context);
  } catch (error) {
    if (!(error instanceof CallsheetError) || error.code === 'interrupted') throw error;
    say(context.terminal, `The platform could not be read: ${error.message}.`);
    return undefined;
  }
}

/** Writes what the account has as a stack, and the pipeline beside it. */
async function exportInto(flags: InitFlags, context: Context): Promise<ExitCode> {
  const { exportCommand } = await import('../export/command.ts');
  const { ci, quiet, verbose } = flags;
  const out = isFree(flags.dir) ? flags.dir : await askText(TERMINAL, FOLDER, isTaken);
  const common = { ...(quiet && { quiet }), ...(verbose && { verbose }) };
  const wanted = { ...common, dir: '.', out, state: true, format: 'text' } as const;
  const code = await exportCommand(wanted, context);
  return ci === undefined ? code : addTo(resolve(out), { ...common, dir: out, ci }, context);
}

const FOLDER = {
  message: 'This folder is not empty. Folder for the stack',
  initialValue: 'fleet',
};

function isTaken(dir: string): string | undefined {
  return isFree(dir) ? undefined : 'It must be new or empty.';
}

/** Returns true if an export can stand in a folder. */
function isFree(dir: string): boolean {
  try {
    refuseFolder(resolve(dir), false);
    return true;
  } catch {
    return false;
  }
}

async function answersFor(
  given: Given,
  account: Account | undefined,
  flags: InitFlags,
  context: Context,
): Promise<Answers> {
  if (canAsk(flags, context)) return ask(given, TERMINAL, { account, env: context.env });
  if (given.organization === undefined && !given.isEmpty) {
    throw new CallsheetError('usage', 'an agent belongs to an organization, and none is given', {
      hint: hintFor(account, flags.dir),
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
    const isPair = organization.includes('=');
    const example = `Give it as NAME=ID, such as harbor=${refuseId(organization) === undefined ? organization : 'ID'}`;
    refuse(`--organization ${organization}`, isPair ? (refuseName(name) ?? refuseId(id)) : example);
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

/** The answers that flags have given already. */
type Given = { readonly [field in keyof Answers]?: Answers[field] } & {
  readonly isEmpty: boolean;
};

/** The terminal of the questions; the process's own unless given. */
export type Streams = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
};

const TERMINAL: Streams = { input: process.stdin, output: process.stderr };

const WHAT: { readonly [pipeline in Pipeline]: string } = {
  none: 'none, or later',
  github: 'GitHub Actions',
  gitlab: 'GitLab CI',
  shell: 'a shell script, for any other',
};

/** Organizations that a message lists. */
const MOST_LISTED = 12;

/** Names the flags to give, with what the key reaches if that is known. */
function hintFor(account: Account | undefined, dir: string): string {
  const give = 'Give --organization NAME=ID, or --empty for a stack without resources';
  if (account === undefined || account.organizations.length === 0) return give;
  const { organizations } = account;
  const named = organizations.map(({ name, id }) => `--organization ${name}=${id}`);
  const listed = firstLines(named, MOST_LISTED, ': `callsheet get organizations` lists them');
  const out = dir === '.' ? 'FOLDER' : dir;
  return [
    'Choose one of the organizations that the key reaches:',
    ...listed.map((line) => `  ${line}`),
    'Or give --empty for a stack without resources.',
    ...(account.agents > 0
      ? [`To write its ${countAgents(account)} as a stack: \`callsheet export --out ${out}\``]
      : []),
  ].join('\n');
}

function countAgents({ agents, isMore }: Account): string {
  return isMore ? `more than ${formatCount(agents, 'agent')}` : formatCount(agents, 'agent');
}

/** Returns true if what the account has is to be written as a stack, rather than a new one begun. */
export async function isExportWanted(
  given: Given,
  account: Account,
  streams: Streams = TERMINAL,
): Promise<boolean> {
  if (account.agents === 0 || given.agent !== undefined) return false;
  const options = [
    {
      value: 'export',
      label: 'Export them as a stack',
      hint: '`callsheet export`; nothing changes there',
    },
    { value: 'new', label: 'Start a stack with one new agent' },
  ];
  const message = `The account has ${countAgents(account)} in ${formatCount(account.organizations.length, 'organization')}`;
  return answered(await select({ ...streams, message, options })) === 'export';
}

/** The facts before the first question. */
type Known = {
  readonly account?: Account | undefined;
  readonly env?: Context['env'];
};

/** Asks for what no flag has answered. Results go to standard output, so questions do not. */
export async function ask(
  given: Given,
  streams: Streams,
  { account, env = {} }: Known = {},
): Promise<Answers> {
  intro('A new stack', streams);
  const baseUrl = given.baseUrl ?? (await askBaseUrl(streams, env.CALLSHEET_BASE_URL));
  const organization =
    given.organization ?? (given.isEmpty ? undefined : await askOrganization(streams, account));
  const agent = given.isEmpty
    ? undefined
    : (given.agent ?? (await askText(streams, AGENT, refuseAgent)));
  const ci = given.ci ?? (await askPipeline(streams));
  return { baseUrl, organization, agent, ci };
}

/** Asks for a text. `refuse` says what is wrong with one. */
async function askText(
  streams: Streams,
  question: Omit<Parameters<typeof text>[0], 'validate'>,
  refuse: (value: string) => string | undefined,
): Promise<string> {
  const validate = (value = '') => refuse(value);
  return answered(await text({ ...streams, ...question, validate })) ?? '';
}

async function askBaseUrl(streams: Streams, known = ''): Promise<string | undefined> {
  const question = {
    message: 'Base address of the platform (leave it empty to read CALLSHEET_BASE_URL)',
    placeholder: 'https://voice.example.test',
    initialValue: known,
  };
  const isUnfit = (value: string) => (value === '' ? undefined : refuseBaseUrl(value));
  return (await askText(streams, question, isUnfit)) || undefined;
}

const AGENT = { message: 'Name of the first agent', initialValue: 'Front desk' };

/** The value that stands for an organization which is not on the list. */
const ANOTHER = '';

async function askOrganization(streams: Streams, account: Account | undefined) {
  const { organizations = [] } = account ?? {};
  if (organizations.length > 0) {
    const options = [
      ...organizations.map(({ id, title, agents }) => ({
        value: id,
        label: sanitiseLine(title),
        hint: `${formatCount(agents, 'agent')}, ${id}`,
      })),
      { value: ANOTHER, label: 'Another one, by its id' },
    ];
    const message = 'The organization of the new agent';
    const id = answered(await select({ ...streams, message, options, maxItems: 10 }));
    const chosen = organizations.find((one) => one.id === id);
    if (chosen !== undefined) return { name: chosen.name, id };
  }
  const name = { message: 'Short name of the organization', placeholder: 'harbor' };
  const id = { message: 'Id of the organization, from the dashboard' };
  return {
    name: await askText(streams, name, refuseName),
    id: await askText(streams, id, refuseId),
  };
}

async function askPipeline(streams: Streams): Promise<Pipeline> {
  const options = PIPELINES.map((value) => ({ value, label: WHAT[value] }));
  return answered(await select({ ...streams, message: 'Pipeline to write', options }));
}
