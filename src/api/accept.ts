import { CallsheetError } from '../core/errors.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import { ApiError } from './errors.ts';
import type { Hide } from './hide.ts';
import { hintFor, type Refusal } from './hints.ts';
import { NOT_THE_PLATFORM, plainUrl, type RequestLine } from './line.ts';
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
