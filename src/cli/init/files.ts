import { editorSchema } from '../../config/editor-schema.ts';
import { writtenValue } from '../../config/field-type.ts';
import { writeResources } from '../../config/write.ts';
import { kinds } from '../../kinds/index.ts';
import { type Answers, addressName } from './answers.ts';
import type { Pipeline } from './pipeline-names.ts';
import { pipelineFiles } from './pipelines.ts';

/** Where the new stack stands. */
export type Surroundings = {
  /** Path of the stack folder from the top of its repository; empty where it is the top, undefined without one. */
  readonly inRepository: string | undefined;
  /** What leads from the stack folder to the top of its repository, such as `../../`; empty at the top. */
  readonly toRepository: string;
  /** Path from the stack folder to the schema of an installed Callsheet, where there is one. */
  readonly installedSchema: string | undefined;
  /** Whether YAML files lie here that are none of Callsheet's. */
  readonly hasOtherYaml: boolean;
};

/** A file to write: its path from the stack folder, and its text. */
export type NewFile = {
  readonly path: string;
  readonly text: string;
  /** Lines that a file of the same name must have; where it exists, it is not ours to write. */
  readonly lines?: readonly string[];
};

/** The schema for editors, where no installed Callsheet has it. */
export const SCHEMA_FILE = '.callsheet-schema.json';
const IGNORED = ['.callsheet/', '.env', '.env.*', 'plan.json'];
const ATTRIBUTES = ['* text=auto eol=lf'];

/** The files of a new stack. */
export function newFiles(answers: Answers, around: Surroundings): readonly NewFile[] {
  const schema = around.installedSchema ?? SCHEMA_FILE;
  return [
    { path: 'callsheet.yaml', text: stackFile(answers, schema, around) },
    ...agentFiles(answers, schema),
    ...(around.installedSchema === undefined
      ? [{ path: SCHEMA_FILE, text: `${JSON.stringify(editorSchema(kinds), null, 2)}\n` }]
      : []),
    ...addedFiles(answers.ci, around),
  ];
}

/** What an existing stack can be given too: everything that is none of its YAML. */
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
    ...(baseUrl === undefined ? [] : [platformPart(baseUrl)]),
    ...(organization === undefined ? [] : [organizationPart(organization)]),
    ...(around.hasOtherYaml
      ? ['# Other YAML in this folder is none of the stack.\ninclude: [agents/**/*.yaml]\n']
      : []),
    '# A plan that goes further is refused.\nguards:\n  max_delete: 5\n  max_change_percent: 30\n',
  ];
  return parts.join('\n');
}

function platformPart(baseUrl: string): string {
  return `# Credentials never stand here: CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET are read from the
# environment.
platform:
  base_url: \${var.base_url}
variables:
  base_url: { env: CALLSHEET_BASE_URL, default: ${writtenValue(baseUrl)} }
`;
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
      system_prompt: promptOf(agent),
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

function promptOf(agent: string): string {
  return `# ${agent}

You answer the phone. Find out who is calling and what they need, in a friendly and brief way.

- Ask one question at a time.
- Say so when you do not know something, and offer a call back.
- Never promise what only a person can decide.
`;
}
