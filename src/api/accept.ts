import { CallsheetError } from '../core/errors.ts';
import { ownOf } from '../core/own.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { ApiError } from './errors.ts';
import type { Hide } from './hide.ts';
import { hintFor, type Refusal } from './hints.ts';
import { NOT_THE_PLATFORM, plainUrl, type RequestLine } from './line.ts';
import type { Operation } from './operation.ts';
import { jsonOf } from './transport.ts';

/**
 * The body of a good answer; an error for every other.
 *
 * @param hide keeps what the request carried in confidence out of the error: refusals may repeat it
 */
export function acceptAnswer(line: RequestLine, called: Refusal, hide: Hide): Json {
  const { answer } = called;
  if (answer.status >= 300 && answer.status < 400) {
    throw new CallsheetError(
      'api',
      `${line.method} ${line.url} answered ${answer.status}, a redirect to ${plainUrl(answer.location ?? 'nowhere')}`,
      { hint: 'Credentials are not sent on. Set base_url to the address that it redirects to.' },
    );
  }
  if (answer.status < 400) return checkShape(line, called, jsonOf(line, answer));
  const { status, body, requestId } = answer;
  throw new ApiError(line, status, body === undefined ? undefined : hide.json(body), {
    requestId: requestId === undefined ? undefined : hide.text(requestId),
    hint: hintFor(called),
  });
}

/** Throws where a body is not what the contract says of the operation's good answer. */
function checkShape(line: RequestLine, { endpoint, answer }: Refusal, body: Json): Json {
  const lack = lackOf(endpoint, body);
  if (lack === undefined) return body;
  const { assumption } = endpoint;
  const basis =
    assumption === undefined ? '' : ` What it should look like is assumption ${assumption}.`;
  throw new CallsheetError('api', `${line.method} ${line.url} answered ${answer.status} ${lack}`, {
    hint: `${NOT_THE_PLATFORM}${basis}`,
  });
}

/**
 * Throws where an answer is about another resource than was asked for: its `id` where the path ends in one, and ids of
 * what it belongs to (`agent_id` of a call log). What names none is taken.
 */
export function checkIds(
  line: RequestLine,
  { path }: Operation,
  { path: ids = {} }: Call,
  body: Json,
): void {
  const data = isObject(body) ? body.data : undefined;
  const records = isList(data) ? data : [isObject(data) ? data : body];
  for (const [name, id] of Object.entries(ids)) {
    const isOwn = path.endsWith(`{${name}}`);
    const member = isOwn ? 'id' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const record of records) {
      const said = isObject(record) ? ownOf(record, member) : undefined;
      if (typeof said !== 'string' || said.toLowerCase() === id.toLowerCase()) continue;
      throw new CallsheetError(
        'api',
        `${line.method} ${line.url} answered about something else: its \`${member}\` is ${JSON.stringify(said.slice(0, MOST_SHOWN))}`,
        {
          hint: `Nothing was taken from the answer. If it stays so, something between here and the platform mixes answers up. ${NOT_THE_PLATFORM}`,
        },
      );
    }
  }
}

/** Characters of a foreign id that are shown: a UUID has 36. */
const MOST_SHOWN = 64;

function isListOfObjects(value: Json | undefined): boolean {
  return isList(value) && value.every((item) => isObject(item));
}

function lackOf(
  { answer, requires, assumption }: Refusal['endpoint'],
  body: Json,
): string | undefined {
  if (answer === 'any') return undefined;
  if (body === null) return 'with an empty body';
  if (!isObject(body)) return `with a ${isList(body) ? 'list' : typeof body} instead of an object`;
  if (answer === 'data-object' && !isObject(body.data)) return 'without a `data` object';
  if (answer === 'data-list' && !isListOfObjects(body.data))
    return 'without a `data` list of objects';
  // Where the wrapper is assumed, the members may as well stand under `data`.
  const holder = assumption !== undefined && isObject(body.data) ? body.data : body;
  const missing = requires.find((name) => holder[name] === undefined);
  return missing === undefined ? undefined : `without \`${missing}\``;
}
