import { intro, isCancel, select, text } from '@clack/prompts';
import { CallsheetError } from '../../core/errors.ts';
import { type Answers, refuseAgent, refuseBaseUrl, refuseId, refuseName } from './answers.ts';
import { PIPELINES, type Pipeline } from './pipeline-names.ts';

/** What flags have answered already. */
export type Given = { readonly [field in keyof Answers]?: Answers[field] } & {
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
