import type { FastifyRequest } from 'fastify';
import { errorMessage } from '../core/errors.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { agents, payments, sip } from './agents.ts';
import { type Answer, coded, Refusal } from './answer.ts';
import { account, authenticate, sessions } from './auth.ts';
import { reports } from './calls/reports.ts';
import { catalogue } from './catalogue.ts';
import { type Dialect, drawInventions, type StoredForm } from './dialect.ts';
import { history } from './history.ts';
import { knowledge } from './knowledge.ts';
import type { Answerer, FormFile, Platform, Routes } from './platform.ts';
import { rests } from './rest.ts';
import {
  bodyViolations,
  type GivenQuery,
  getRules,
  invalid,
  readParameters,
  violation,
} from './validation.ts';
import { voices } from './voices.ts';

/** The answer to a request, and the body that was sent, for the log. */
export type Performed = { readonly answer: Answer; readonly body?: Json };

/** Answers a request to an operation: who calls, what they ask for, whether that keeps to the contract. */
export async function perform(
  platform: Platform,
  id: OperationId,
  request: FastifyRequest,
): Promise<Performed> {
  let given: Given = { body: undefined, files: {} };
  const answer = await answerOrRefuse(async () => {
    if (platform.dialect.absent.includes(id)) return absence(platform, id);
    // Read before anything is refused, so that the log has it.
    const reading = await readGiven(id, request);
    given = reading;
    const key = authenticate(platform, id, request.headers);
    if (reading.problem !== undefined)
      throw invalid(getRules(id).invalid, [violation('', reading.problem)]);
    const { body, files } = reading;
    const parameters = readParameters(platform, id, record(request.params), query(request.query));
    const violations = isForm(id) ? [] : bodyViolations(platform.dialect, id, body ?? null);
    if (violations.length > 0) throw invalid(getRules(id).invalid, violations);
    // Calls meet the settings of their own time, which may be about to change.
    const { agentId } = parameters.path;
    if (agentId !== undefined) platform.callers.callUntilNow(agentId);
    const taken = takeIn(platform.dialect, isObject(body) ? body : {});
    return routes[id]({ key, ...parameters, body: taken, files }, platform);
  });
  return given.body === undefined ? { answer } : { answer, body: given.body };
}

/** Returns the answer of `work`; a refusal that it throws is an answer as well. */
export async function answerOrRefuse(work: () => Answer | Promise<Answer>): Promise<Answer> {
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
  if (getRules(id).body === undefined) return NO_BODY;
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
    const reason = errorMessage(error);
    // The rest must be drained, or the connection's next request would never arrive.
    request.raw.unpipe().resume();
    return { ...NO_BODY, problem: `the form cannot be read: ${reason}` };
  }
}

/** Forms are checked by their operation: its rules are about files. */
function isForm(id: OperationId): boolean {
  return getRules(id).body?.media === 'multipart/form-data';
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
    compileAddress(operation.path).test(path) ? [operation.method] : [],
  );
}

function compileAddress(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** The body of a request that was refused before anybody could look at it. */
export function unreadable(id: string | undefined, reason: string): Answer {
  const known = id !== undefined && isOperation(id) ? getRules(id).invalid : 'coded';
  return invalid(known, [violation('', `the request cannot be read: ${reason}`)]).answer;
}

function isOperation(id: string): id is OperationId {
  return Object.hasOwn(operations, id);
}

/**
 * How every operation of the contract is answered: kinds of `REST_TABLES` by their rows, the others by one file
 * per area. Method and path come from the operation table.
 */
const routes: Routes<OperationId> = complete({
  ...account,
  ...agents,
  ...history,
  ...sip,
  ...payments,
  ...catalogue,
  ...voices,
  ...knowledge,
  ...rests,
  ...reports,
  ...sessions,
});

/** Throws where the contract has an operation that nothing here answers. */
function complete(answers: { readonly [operation: string]: Answerer }): Routes<OperationId> {
  const open = Object.keys(operations).filter((id) => !Object.hasOwn(answers, id));
  if (open.length > 0)
    throw new Error(
      `the simulator does not answer ${open.join(', ')}: tables.ts or routes lack it`,
    );
  // None is missing.
  return answers as Routes<OperationId>;
}

/** A multipart body, read whole. */
type Form = {
  readonly fields: { readonly [name: string]: string };
  readonly files: { readonly [name: string]: FormFile };
};

/** Reads a form. A file is cut off one byte above its limit, which tells that it is too large. */
async function readForm(request: FastifyRequest): Promise<Form> {
  const fields: { [name: string]: string } = {};
  const files: { [name: string]: FormFile } = {};
  for await (const part of request.parts())
    if (part.type === 'file')
      files[part.fieldname] = {
        name: part.filename,
        mime: part.mimetype,
        bytes: await part.toBuffer(),
      };
    else fields[part.fieldname] = String(part.value);
  return { fields, files };
}

/** Levels that a body may be nested. The specification gives no figure; deeper bodies are no honest ones. */
const DEPTH_LIMIT = 100;

/** A body, or what is wrong with it as a sentence. An empty body is no value. */
type JsonReading = { readonly body: Json | undefined } | { readonly problem: string };

/** Reads an untrusted body. */
export function readJson(bytes: Buffer): JsonReading {
  if (bytes.length === 0) return { body: undefined };
  let body: Json;
  try {
    body = JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return { problem: 'the body is not JSON' };
  }
  const problem = trouble(body);
  return problem === undefined ? { body } : { problem };
}

/** Finds what no honest body has, without recursion. Takes out members named `__proto__`. */
function trouble(body: Json): string | undefined {
  let level: readonly Json[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_LIMIT) return `the body is nested more than ${DEPTH_LIMIT} levels deep`;
    if (level.some((value) => typeof value === 'number' && !Number.isFinite(value)))
      return 'the body has a number that is too large';
    // Ignored like any unknown member; stored, it would become the prototype of its record.
    for (const value of level) if (isObject(value)) Reflect.deleteProperty(value, '__proto__');
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return undefined;
}

/** A body as the platform takes it in: its values in the forms in which they are stored (`stores`). */
function takeIn(dialect: Dialect, body: JsonObject): JsonObject {
  const { stores, inventions, nulls } = dialect;
  if (stores.length === 0) return body;
  const drawn = drawInventions(inventions).stored;
  const forms = stores.flatMap((form) => (form === 'drawn' ? drawn : form));
  // A platform that refuses null makes none of an empty text either.
  const own = new Set(forms.filter((form) => form !== 'null' || nulls === 'clears'));
  return storeMembers(body, own);
}

/** The HTML of an e-mail template is stored as given (Email templates). */
function storeMembers(members: JsonObject, forms: ReadonlySet<StoredForm>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, one]) => [
      name,
      name === 'body_html' ? one : store(one, forms),
    ]),
  );
}

function store(value: Json, forms: ReadonlySet<StoredForm>): Json {
  if (isList(value)) return value.map((item) => store(item, forms));
  if (isObject(value)) return storeMembers(value, forms);
  if (typeof value !== 'string') return value;
  const text = FORMS.reduce(
    (form, [name, change]) => (forms.has(name) ? change(form) : form),
    value,
  );
  return text === '' && forms.has('null') ? null : text;
}

const FORMS: readonly (readonly [StoredForm, (text: string) => string])[] = [
  ['lines', (text) => text.replaceAll(/\r\n?/g, '\n')],
  ['compose', (text) => text.normalize('NFC')],
  ['trim', (text) => text.trim()],
  [
    'lower',
    (text) =>
      text
        .replace(/^[^\s@]+@[^\s@]+$/, (address) => address.toLowerCase())
        .replace(/^\s*https?:\/\/[^/?#\s]+/i, (host) => host.toLowerCase()),
  ],
  ['slash', (text) => (/^https?:\/\/[^?#\s]*[^/?#\s]$/i.test(text) ? `${text}/` : text)],
];
