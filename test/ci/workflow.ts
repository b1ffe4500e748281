import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
} from '@actions/workflow-parser';
import { convertActionTemplate, parseAction } from '@actions/workflow-parser/actions/index';
import type { MappingToken } from '@actions/workflow-parser/templates/tokens/mapping-token';
import type { TemplateToken } from '@actions/workflow-parser/templates/tokens/template-token';
import {
  isMapping,
  isSequence,
  isString,
} from '@actions/workflow-parser/templates/tokens/type-guards';

/** A step as it is written, and the condition that GitHub makes of its `if`. */
export type Step = { readonly id: string; readonly if: string; readonly token: MappingToken };

export type Job = {
  readonly id: string;
  readonly if: string;
  readonly needs: readonly string[];
  readonly token: MappingToken;
  readonly steps: readonly Step[];
};

export type Workflow = {
  readonly name: string;
  readonly on: TemplateToken | undefined;
  readonly concurrency: TemplateToken | undefined;
  readonly env: TemplateToken | undefined;
  readonly jobs: readonly Job[];
};

export type Action = {
  readonly inputs: ReadonlyMap<
    string,
    { readonly required: boolean; readonly default: TemplateToken | undefined }
  >;
  readonly outputs: ReadonlyMap<string, TemplateToken | undefined>;
  readonly steps: readonly Step[];
};

/** To parse one takes longer than most of what it does in a test. */
const parsed = new Map<string, Promise<Workflow>>();

/** A workflow, read by GitHub's own parser. Throws with every problem that it finds. */
export function readWorkflow(file: string): Promise<Workflow> {
  const content = readFileSync(file, 'utf8');
  const known = parsed.get(content) ?? parse(file, content);
  parsed.set(content, known);
  return known;
}

async function parse(file: string, content: string): Promise<Workflow> {
  const trace = new NoOperationTraceWriter();
  const source = { name: basename(file), content };
  const { context, value } = parseWorkflow(source, trace);
  if (value === undefined) throw new Error(`${file} is no workflow`);
  const template = await convertWorkflowTemplate(context, value);
  refuse(context.errors.getErrors());
  const root = mapping(value);
  const jobs = template.jobs.map((job) => {
    if (job.type !== 'job') throw new Error(`${job.id.value} calls another workflow`);
    const token = mapping(mapping(root.find('jobs')).find(job.id.value));
    return {
      id: job.id.value,
      if: job.if.expression,
      needs: (job.needs ?? []).map(({ value }) => value),
      token,
      steps: stepsOf(job.steps, token),
    };
  });
  return {
    name: root.find('name')?.toString() ?? '',
    on: root.find('on'),
    concurrency: root.find('concurrency'),
    env: root.find('env'),
    jobs,
  };
}

const parsedActions = new Map<string, Action>();

/** A composite action, likewise. */
export function readAction(file: string): Action {
  const content = readFileSync(file, 'utf8');
  const known = parsedActions.get(content) ?? parseComposite(file, content);
  parsedActions.set(content, known);
  return known;
}

function parseComposite(file: string, content: string): Action {
  const trace = new NoOperationTraceWriter();
  const source = { name: basename(file), content };
  const { context, value } = parseAction(source, trace);
  if (value === undefined) throw new Error(`${file} is no action`);
  const { inputs = [], outputs = [], runs } = convertActionTemplate(context, value);
  refuse(context.errors.getErrors());
  if (runs.using !== 'composite') throw new Error(`${file} is not composite`);
  return {
    inputs: new Map(
      inputs.map((one) => [one.id, { required: one.required === true, default: one.default }]),
    ),
    outputs: new Map(outputs.map((one) => [one.id, one.value])),
    steps: stepsOf(runs.steps, mapping(mapping(value).find('runs'))),
  };
}

/** The model leaves out `with`, `shell` and `working-directory`; the tokens have them. */
function stepsOf(
  steps: readonly { readonly id: string; readonly if?: { readonly expression: string } }[],
  parent: MappingToken,
): readonly Step[] {
  const list = parent.find('steps');
  if (list === undefined || !isSequence(list)) throw new Error('there are no steps');
  return steps.map((step, index) => {
    const token = mapping(list.get(index));
    const id = token.find('id');
    const given = id !== undefined && isString(id) ? id.value : '';
    return { id: given, if: step.if?.expression ?? 'success()', token };
  });
}

function mapping(token: TemplateToken | undefined): MappingToken {
  if (token !== undefined && isMapping(token)) return token;
  throw new Error('a map is missing');
}

function refuse(errors: readonly { readonly message: string }[]): void {
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
}
