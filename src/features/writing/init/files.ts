import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import editorSchema from '../../../../schemas/callsheet.schema.json' with { type: 'json' };
import { packageFolder } from '../../../cli/topics.ts';
import type { CommonFlags, Context } from '../../../console/context.ts';
import type { Pipeline } from '../../../console/flags.ts';
import { rootAbove, withNamedFile, writeAllOrNone } from '../../../console/named-file.ts';
import { isResourceName } from '../../../core/address.ts';
import { quoted } from '../../../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../../core/errors.ts';
import { baseUrlFault } from '../../../core/origin.ts';
import { isUuid } from '../../../core/value.ts';
import { kinds } from '../../../kinds/index.ts';
import { discover } from '../../../stack/discover.ts';
import { writtenValue } from '../../../stack/editor/explain-field.ts';
import {
  foldersAbove,
  isStack,
  posixPath,
  refuseNewStack,
  STACK_FILE,
} from '../../../stack/folder.ts';
import { writeResources } from '../edit/write.ts';
import { GUARDS_PART, idPart, platformPart } from '../export/texts.ts';

/** The place of the new stack. */
export type Surroundings = {
  /** Id of the stack: its folder below the top of the repository, or the folder's name. */
  readonly id: string;
  /** Path of the stack folder from the top of its repository; empty where it is the top, undefined without one. */
  readonly inRepository: string | undefined;
  /** The path from the stack folder to the top of its repository, such as `../../`; empty at the top. */
  readonly toRepository: string;
  /** Path from the stack folder to the schema of an installed Callsheet, where there is one. */
  readonly installedSchema: string | undefined;
  /** True if YAML files lie here that are none of Callsheet's. */
  readonly hasOtherYaml: boolean;
  /** True if there is a stack already that rolls changes out by steps. */
  readonly hasRollouts: boolean;
  /** The stack has freeze windows. */
  readonly hasFreeze: boolean;
};

/** A file to write: its path from the stack folder, and its text. */
type NewFile = {
  readonly path: string;
  readonly text: string;
  /** Lines that a file of the same name must have; where it exists, it is not ours to write. */
  readonly lines?: readonly string[];
};

/** The schema for editors, where no installed Callsheet has it. */
export const SCHEMA_FILE = '.callsheet-schema.json';

/** The text of that schema, as the package has it. */
export function schemaText(): string {
  return `${JSON.stringify(editorSchema, null, 2)}\n`;
}

type SchemaFlags = CommonFlags & { readonly out?: string };

/** `callsheet schema`: the JSON Schema for editors, of this version, where nothing is installed beside it. */
export async function schema({ out }: SchemaFlags, { terminal }: Context): Promise<ExitCode> {
  const text = schemaText();
  if (out === undefined) {
    terminal.out(text);
    return EXIT.done;
  }
  await withNamedFile('--out', out, () => writeFile(out, text));
  terminal.err(`The schema is in ${out}. Begin the files of the stack with its path from each:`);
  terminal.err(`# yaml-language-server: $schema=${out}`);
  return EXIT.done;
}

const IGNORED = ['.callsheet/', '.env', '.env.*', 'plan.json'];
const ATTRIBUTES = ['* text=auto eol=lf'];

/** The files of a new stack. */
export function newFiles(answers: Answers, around: Surroundings): readonly NewFile[] {
  const schema = around.installedSchema ?? SCHEMA_FILE;
  return [
    { path: 'callsheet.yaml', text: stackFile(answers, schema, around) },
    ...agentFiles(answers, schema),
    ...(around.installedSchema === undefined ? [{ path: SCHEMA_FILE, text: schemaText() }] : []),
    ...addedFiles(answers.ci, around),
  ];
}

/** Lists the files that an existing stack can be given too: all but its YAML. */
export function addedFiles(ci: Pipeline, around: Surroundings): readonly NewFile[] {
  return [
    listed('.gitignore', '# State, and what only this machine knows.', IGNORED),
    listed('.gitattributes', '# The same bytes on every machine.', ATTRIBUTES),
    ...pipelineFiles(ci, around),
  ];
}

function listed(path: string, comment: string, lines: readonly string[]): NewFile {
  return { path, text: `${[comment, ...lines].join('\n')}\n`, lines };
}

function stackFile(
  { baseUrl, organization }: Answers,
  schema: string,
  around: Surroundings,
): string {
  const parts = [
    `# yaml-language-server: $schema=${schema}\n`,
    '# A stack: everything in this folder is planned, applied and recorded as one.\ncallsheet: 1\n',
    idPart(around.id),
    ...(baseUrl === undefined ? [] : [platformPart(baseUrl)]),
    ...(organization === undefined ? [] : [organizationPart(organization)]),
    ...(around.hasOtherYaml
      ? ['# Other YAML in this folder is none of the stack.\ninclude: [agents/**/*.yaml]\n']
      : []),
    GUARDS_PART,
  ];
  return parts.join('\n');
}

function organizationPart({ name, id }: { readonly name: string; readonly id: string }): string {
  return `# Names for ids, and the owner of every resource that names none itself.
organizations:
  ${name}: ${writtenValue(id.toLowerCase())}
organization: ${writtenValue(name)}
`;
}

function agentFiles({ agent, organization }: Answers, schema: string): readonly NewFile[] {
  if (agent === undefined || organization === undefined) return [];
  const name = addressName(agent);
  const resource = {
    kind: 'agent',
    address: `agent.${name}`,
    document: {
      name: agent,
      // It takes no calls before somebody wants it to.
      status: 'inactive',
      greeting_message: `Hello, this is the ${agent.toLowerCase()}. How can I help?`,
      system_prompt: buildPrompt(agent),
      language: 'en-US',
    },
    lifecycle: { protect: false, ignore: [] },
  };
  const { text, files } = writeResources([resource], {
    kinds,
    organizations: { [organization.name]: organization.id },
    organization: organization.id,
    schema: `../${schema}`,
    fileFor: ({ path }) => (path === 'system_prompt' ? `prompts/${name}.md` : undefined),
  });
  return [
    { path: `agents/${name}.yaml`, text },
    ...[...files].map(([path, prompt]) => ({ path, text: prompt })),
  ];
}

function buildPrompt(agent: string): string {
  return `# ${agent}

You answer the phone. Find out who is calling and what they need, in a friendly and brief way.

- Ask one question at a time.
- Say so when you do not know something, and offer a call back.
- Never promise what only a person can decide.
`;
}

/** Each pipeline's folder from the top of a repository, and those of its files that are named to people. */
const PIPELINES = {
  github: {
    top: '.github/',
    guide: '.github/workflows/callsheet-plan.yaml',
    tool: '.github/actions/callsheet',
  },
  gitlab: {
    top: '',
    guide: '.gitlab/callsheet/pipeline.yml',
    tool: '.gitlab/callsheet',
  },
  shell: { guide: 'callsheet/callsheet.sh', tool: 'callsheet' },
} as const;

/**
 * The files of a pipeline for a tree of stacks: where in `examples/ci` each stands, and where it goes. The scripts are run
 * from the package, so that these are all.
 */
const TREES = {
  github: {
    guide: '.github/workflows/callsheet.yaml',
    files: {
      'tree/github/callsheet.yaml': '.github/workflows/callsheet.yaml',
      'tree/github/action.yml': '.github/actions/callsheet/action.yml',
      'github/actions/callsheet/package.json': '.github/actions/callsheet/package.json',
    },
  },
  gitlab: {
    guide: '.gitlab/callsheet/pipeline.yml',
    files: {
      'gitlab/.gitlab-ci.yml': '.gitlab-ci.yml',
      'tree/gitlab/pipeline.yml': '.gitlab/callsheet/pipeline.yml',
      'gitlab/.gitlab/callsheet/package.json': '.gitlab/callsheet/package.json',
    },
  },
  // The same for one stack: it is a tree of one.
  shell: {
    guide: 'callsheet/callsheet.sh',
    files: {
      'tree/shell/callsheet.sh': 'callsheet/callsheet.sh',
      'github/actions/callsheet/package.json': 'callsheet/package.json',
    },
  },
} as const;

/** Workflows that run every hour, and are for stacks that have what they look after. */
const HOURLY: { readonly [workflow: string]: 'hasRollouts' | 'hasFreeze' } = {
  'callsheet-rollout.yaml': 'hasRollouts',
  'callsheet-resume.yaml': 'hasFreeze',
};

/** Scripts that the pipelines have alike; where in `examples/ci` each stands, and where it goes. */
const SHARED = {
  github: [],
  gitlab: [['github/actions/callsheet/pending.mjs', '.gitlab/callsheet/pending.mjs']],
} as const;

/** Path filters of GitHub and variables of GitLab give these a meaning of their own. */
const SPECIAL = /[*?+![\]$\\"\p{C}]/u;

/**
 * The pipeline of `examples/ci`, at the top of the repository and for the stack's folder in it. There are no other
 * pipelines, so that what is written is what is tested and documented.
 */
function pipelineFiles(pipeline: Pipeline, around: Surroundings): readonly NewFile[] {
  if (pipeline === 'none') return [];
  if (pipeline === 'shell') return treeFiles(pipeline, around);
  const { inRepository, toRepository, ...has } = around;
  refuseFolder(pipeline, inRepository);
  const examples = join(packageFolder(), 'examples/ci');
  const from = join(examples, pipeline);
  const own = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter(({ name }) => HOURLY[name] === undefined || has[HOURLY[name]])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file, posixPath(file.slice(from.length + 1))] as const);
  const shared = SHARED[pipeline].map(([file, path]) => [join(examples, file), path] as const);
  return [...own, ...shared]
    .map(([file, path]) =>
      exampleFile(file, `${PIPELINES[pipeline].top}${path}`, { inRepository, toRepository }),
    )
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The pipeline for all stacks of a folder. */
export function treeFiles(
  pipeline: Exclude<Pipeline, 'none'>,
  { inRepository, toRepository }: Surroundings,
): readonly NewFile[] {
  refuseFolder(pipeline, inRepository);
  return Object.entries(TREES[pipeline].files).map(([example, path]) =>
    exampleFile(join(packageFolder(), 'examples/ci', example), path, {
      inRepository,
      toRepository,
      isTree: true,
    }),
  );
}

/** Throws `CallsheetError('usage')` where no pipeline can be, and for a folder that pipelines would not read as its name. */
function refuseFolder(
  pipeline: Pipeline,
  inRepository: string | undefined,
): asserts inRepository is string {
  if (inRepository === undefined) {
    throw new CallsheetError('usage', `--ci ${pipeline} cannot be used outside of a repository`, {
      hint: 'A pipeline is read only at the top of a Git repository. Run git init there, then this command again',
    });
  }
  if (SPECIAL.test(inRepository)) {
    throw new CallsheetError('usage', `no pipeline can be written for the folder ${inRepository}`, {
      hint: 'Rename it: pipelines read one of its characters as a pattern or a variable',
    });
  }
}

/** A file of an example for a folder. Its path is from the top of the repository. */
function exampleFile(
  file: string,
  path: string,
  {
    inRepository,
    toRepository,
    isTree = false,
  }: {
    readonly inRepository: string;
    readonly toRepository: string;
    readonly isTree?: boolean;
  },
): NewFile {
  const text = readFileSync(file, 'utf8');
  // If the service has a file of this name already, it includes the pipeline.
  const lines =
    path === '.gitlab-ci.yml' ? text.split('\n').filter((line) => /^\w/.test(line)) : undefined;
  return {
    path: `${toRepository}${isTree ? path : forFolder(path, inRepository)}`,
    text: /\.(?:ya?ml|sh)$/.test(path) ? forFolder(text, inRepository) : text,
    ...(lines !== undefined && { lines }),
  };
}

/** The steps that are left to do by hand, as paths from the stack folder. */
type SetUp = {
  readonly service: Exclude<Pipeline, 'none'>;
  /** The file whose head says what to set up at the service. */
  readonly guide: string;
  /** The folder whose package.json names Callsheet, and which has no lockfile yet; undefined where it has. */
  readonly unlocked: string | undefined;
};

/** Plans the steps that a pipeline needs beside its files. */
export function planSetUp(
  dir: string,
  pipeline: Pipeline,
  { inRepository = '', toRepository }: Surroundings,
  isTree = false,
): SetUp | undefined {
  if (pipeline === 'none') return undefined;
  const { guide, tool } = PIPELINES[pipeline];
  const isLocked = existsSync(join(dir, toRepository, tool, 'package-lock.json'));
  return {
    service: pipeline,
    guide: toRepository + (isTree ? TREES[pipeline].guide : forFolder(guide, inRepository)),
    unlocked: isLocked ? undefined : toRepository + tool,
  };
}

/**
 * A pipeline, or the path of one, for the stack in a folder: its names, where it is, when it runs, and which variable says
 * where its state is. Those of another stack are others.
 */
function forFolder(text: string, folder: string): string {
  if (folder === '') return text;
  const name = folder.replace(/[^A-Za-z0-9]+/g, '-');
  const variable = `CALLSHEET_STATE_${name.replaceAll('-', '_').toUpperCase()}`;
  return text
    .replace(/(?<=\bvars\.|^# +Variable +)CALLSHEET_STATE\b */gm, (found) =>
      found.replace('CALLSHEET_STATE', variable),
    )
    .replace(/^name: callsheet .*/m, `$& (${name})`)
    .replace(/^( +group: callsheet apply)$/m, `$1 (${name})`)
    .replace(
      /\b(callsheet-(?:plan|plan-fork|apply|drift|resume|rollback|rollout))(?=\.yaml)/g,
      `$1-${name}`,
    )
    .replace(/(?<=^ +(?:CALLSHEET_)?NAME: )callsheet$/gm, name)
    .replace(/(?<=^ +(?:CALLSHEET_)?FOLDER: )\.$/gm, JSON.stringify(folder))
    .replace(/(?<=^FOLDER=)\.$/gm, quoted(folder))
    .replace(/# paths: .*/, `paths: ${JSON.stringify([`${folder}/**`, '.github/**'])}`);
}

const SCHEMA = 'callsheet/schemas/callsheet.schema.json';

/** Looks around the folder of a new stack, or of one or a tree to add to. Throws where no stack can stand. */
export function lookAround(dir: string, adds = false): Surroundings {
  if (isStack(dir) && !adds) {
    const hint =
      'To check it: `callsheet validate`. To add a pipeline: --keep-existing --ci github, or gitlab';
    throw new CallsheetError('usage', `${dir} is a stack already: it has a ${STACK_FILE}`, {
      hint,
    });
  }
  refuseNewStack(dir);
  const folders = [dir, ...foldersAbove(dir)];
  const top = rootAbove(dir);
  // Folders above the repository are not shared with others.
  const shared = folders.slice(0, folders.indexOf(top ?? dir) + 1);
  const installed = shared.find((folder) => existsSync(join(folder, 'node_modules', SCHEMA)));
  const inRepository = top && posixPath(relative(top, dir));
  const settings = readText(join(dir, STACK_FILE)) ?? '';
  return {
    id: inRepository || basename(resolve(dir)),
    inRepository,
    toRepository: '../'.repeat(folders.indexOf(top ?? dir)),
    installedSchema:
      installed === undefined
        ? undefined
        : posixPath(relative(dir, join(installed, 'node_modules', SCHEMA))),
    hasOtherYaml: existsSync(dir) && discover(dir, undefined, []).files.length > 0,
    hasRollouts: /^rollouts:/m.test(settings),
    hasFreeze: /^guards:.*\bfreeze:|^\s+freeze:/m.test(settings),
  };
}

/** The files of a new stack, by what is to be done with them. */
export type Sorted = {
  readonly fresh: readonly NewFile[];
  /** The same text stands there already. */
  readonly same: readonly NewFile[];
  /** Left as they are, with the lines that they lack. */
  readonly lacking: readonly { readonly path: string; readonly lines: readonly string[] }[];
  /** Something else stands there. */
  readonly taken: readonly NewFile[];
};

/** Compares the files of a new stack with what there is. */
export function sortFiles(dir: string, files: readonly NewFile[]): Sorted {
  const sorted = { fresh: [], same: [], lacking: [], taken: [] } as {
    fresh: NewFile[];
    same: NewFile[];
    lacking: { path: string; lines: readonly string[] }[];
    taken: NewFile[];
  };
  for (const file of files) {
    const there = readText(join(dir, file.path));
    if (there === undefined) sorted.fresh.push(file);
    else if (there === file.text) sorted.same.push(file);
    else if (file.lines === undefined) sorted.taken.push(file);
    else {
      const own = there.split(/\r?\n/).map((line) => line.trim());
      const lines = file.lines.filter((line) => !own.includes(line));
      if (lines.length > 0) sorted.lacking.push({ path: file.path, lines });
      else sorted.same.push(file);
    }
  }
  return sorted;
}

/** The text of a file; empty for what is no file, undefined for nothing. */
function readText(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
}

/** Writes all files or, where that fails, none: what was made is taken away again. */
export function writeAll(dir: string, files: readonly NewFile[]): () => void {
  return writeAllOrNone((takeBack) => {
    const makeFolder = (path: string): void => {
      if (existsSync(path)) return;
      makeFolder(dirname(path));
      mkdirSync(path);
      takeBack(() => rmdirSync(path));
    };
    for (const file of files) {
      const path = join(dir, file.path);
      makeFolder(dirname(path));
      // Never over a file that came in between.
      writeFileSync(path, file.text, { flag: 'wx', mode: path.endsWith('.sh') ? 0o777 : 0o666 });
      takeBack(() => rmSync(path, { force: true }));
    }
  });
}

/** Everything that decides what is written. */
export type Answers = {
  /** Undefined: CALLSHEET_BASE_URL says it. */
  readonly baseUrl: string | undefined;
  /** Undefined in a stack without resources. */
  readonly organization: { readonly name: string; readonly id: string } | undefined;
  /** Display name of the first agent; undefined for none. */
  readonly agent: string | undefined;
  readonly ci: Pipeline;
};

/** Returns the fault of a base address, or undefined. */
export function refuseBaseUrl(text: string): string | undefined {
  const fault = baseUrlFault(text);
  return fault && `${fault.message}. ${fault.hint}`;
}

/** Returns the fault of an organization's name, or undefined. */
export function refuseName(text: string): string | undefined {
  const hint = 'Use letters, digits, _ and -, and begin with a letter';
  return isResourceName(text) ? undefined : hint;
}

/** Returns the fault of an id, or undefined. */
export function refuseId(text: string): string | undefined {
  return isUuid(text) ? undefined : 'It is an id of 36 characters, as the dashboard shows it';
}

/** Returns the fault of an agent's name, or undefined. */
export function refuseAgent(text: string): string | undefined {
  return addressName(text) === '' ? 'Give it a name with letters, such as Front desk' : undefined;
}

/** `front_desk` of `Front desk`: how an agent is called in addresses and file names. */
export function addressName(display: string): string {
  const plain = display.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '_').replace(/^[_0-9]+|_+$/g, '');
}
