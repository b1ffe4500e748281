import type { FastifyRequest } from 'fastify';
import { type OperationId, operations } from '../api/operations.generated.ts';
import type { Json } from '../core/value.ts';
import { type Answer, coded, Refusal } from './answer.ts';
import { authenticate } from './auth.ts';
import { rulesOf } from './contract.ts';
import { readForm } from './form.ts';
import { isRecord } from './json.ts';
import { readJson } from './json-body.ts';
import type { Platform } from './platform.ts';
import { routes } from './routes/index.ts';
import { bodyViolations, type GivenQuery, readParameters } from './validation.ts';
import { invalid, violation } from './violations.ts';

/** What a request came to, and its body for the log. */
export type Performed = { readonly answer: Answer; readonly body?: Json };

/** Answers a request to an operation: who calls, what they ask for, whether that keeps to the contract. */
export async function perform(
  platform: Platform,
  id: OperationId,
  request: FastifyRequest,
): Promise<Performed> {
  let given: Given = { body: undefined, files: {} };
  const answer = await answerOf(async () => {
    if (platform.dialect.absent.includes(id)) return absence(platform, id);
    // Read before anything is refused, so that the log has it.
    const reading = await readGiven(id, request);
    given = reading;
    const key = authenticate(platform, id, request.headers);
    if (reading.problem !== undefined)
      throw invalid(rulesOf(id).invalid, [violation('', reading.problem)]);
    const { body, files } = reading;
    const parameters = readParameters(platform, id, record(request.params), query(request.query));
    const violations = isForm(id) ? [] : bodyViolations(id, body ?? null);
    if (violations.length > 0) throw invalid(rulesOf(id).invalid, violations);
    return routes[id]({ key, ...parameters, body: isRecord(body) ? body : {}, files }, platform);
  });
  return given.body === undefined ? { answer } : { answer, body: given.body };
}

/** What `work` answers; a refusal that it throws is an answer as well. */
export async function answerOf(work: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

/** Parameters as Fastify parsed them; of a repeated one the last counts. */
export function record(value: unknown): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(query(value)).map(([name, values]) => [name, values.at(-1) ?? '']),
  );
}

/** The values of each parameter. */
function query(value: unknown): GivenQuery {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(entries.map(([name, one]) => [name, [one].flat().map(String)]));
}

type Given = {
  readonly body: Json | undefined;
  readonly files: Awaited<ReturnType<typeof readForm>>['files'];
  readonly problem?: string;
};

const NO_BODY: Given = { body: undefined, files: {} };

/** The body, as what the operation takes: a form, or JSON whatever its content type says. */
async function readGiven(id: OperationId, request: FastifyRequest): Promise<Given> {
  if (rulesOf(id).body === undefined) return NO_BODY;
  if (isForm(id)) return request.isMultipart() ? readFormSafely(request) : NO_BODY;
  if (!Buffer.isBuffer(request.body)) return NO_BODY;
  const reading = readJson(request.body);
  return 'problem' in reading ? { ...NO_BODY, ...reading } : { ...NO_BODY, body: reading.body };
}

async function readFormSafely(request: FastifyRequest): Promise<Given> {
  try {
    const { fields, files } = await readForm(request);
    return { body: fields, files };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...NO_BODY, problem: `the form cannot be read: ${reason}` };
  }
}

/** Forms are checked by their operation: its rules are about files. */
function isForm(id: OperationId): boolean {
  return rulesOf(id).body?.media === 'multipart/form-data';
}

/** How a platform answers that does not have an operation. */
function absence({ dialect }: Platform, id: OperationId): Answer {
  switch (dialect.absentAnswer) {
    case 'coded':
      return nothingHere();
    case 'method':
      return methodRefused(operations[id].method, methodsAt(operations[id].path));
    case 'page':
      return { status: 404, type: 'text/html', text: '<h1>404 Not Found</h1>\n' };
  }
}

/** 404 for an address that is none. */
export function nothingHere(): Answer {
  return coded(404, 'not_found', 'There is nothing at this address').answer;
}

/** 405 for a method that an address does not take, and 404 where there is no such address. */
export function notServed(method: string, url: string): Answer {
  const allowed = methodsAt(url);
  return allowed.length === 0 ? nothingHere() : methodRefused(method, allowed);
}

function methodRefused(method: string, allowed: readonly string[]): Answer {
  const { answer } = coded(405, 'method_not_allowed', `${method} is not allowed here`);
  return { ...answer, headers: { allow: allowed.join(', ') } };
}

/** The methods of the operations at an address. */
function methodsAt(url: string): readonly string[] {
  const path = url.replace(/\?.*$/s, '');
  return Object.values(operations).flatMap((operation) =>
    addressOf(operation.path).test(path) ? [operation.method] : [],
  );
}

function addressOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** The body of a request that was refused before anybody could look at it. */
export function unreadable(id: string | undefined, reason: string): Answer {
  const known = id !== undefined && isOperation(id) ? rulesOf(id).invalid : 'coded';
  return invalid(known, [violation('', `the request cannot be read: ${reason}`)]).answer;
}

function isOperation(id: string): id is OperationId {
  return Object.hasOwn(operations, id);
}
