import type { Contract, ContractOperation } from './document.ts';
import type { Reply, Wire } from './send.ts';
import { SECRET } from './values.ts';

/** What is wrong with an answer; undefined where nothing is. */
export type Verdict = string | undefined;

/**
 * Whether an operation may give this answer: status, type and body as the document has them. `failing` is
 * the status that it was told to fail with.
 */
export function judgeCall(
  contract: Contract,
  operation: ContractOperation,
  reply: Reply,
  failing: number | undefined,
): Verdict {
  const answer = operation.answers.get(String(reply.status));
  if (reply.status >= 500 && reply.status !== failing) return 'the simulator failed';
  if (answer === undefined) return `the document has no ${reply.status} for ${operation.id}`;
  if (answer.anything) return undefined;
  if (answer.schemas.length === 0)
    return reply.text === '' ? undefined : 'the document has no body';
  const body = readBody(reply);
  if ('wrong' in body) return body.wrong;
  const faults = answer.schemas.map((schema) => contract.faultOf(schema, body.value));
  if (!faults.includes(undefined)) return faults.join('; or ');
  // The SIP flag's answer has the password (SIP registration).
  return reply.text.includes(SECRET) && operation.id !== 'setSipRegistration'
    ? 'a secret comes back'
    : undefined;
}

/** Whether what no operation answers is refused in a way that a client can read. */
export function judgeStray({ method }: Wire, reply: Reply): Verdict {
  if (reply.status >= 500) return 'the simulator failed';
  if (reply.status < 400)
    return method === 'HEAD' || method === 'PUT' ? undefined : 'nothing is there';
  if (reply.text === '') return method === 'HEAD' ? undefined : 'an error without a body';
  const body = readBody(reply);
  if ('wrong' in body) return body.wrong;
  return typeof Object(body.value).error === 'string' ? undefined : 'an error without a code';
}

function readBody({ text, type }: Reply): { readonly value: unknown } | { readonly wrong: string } {
  if (!type?.startsWith('application/json')) return { wrong: `the type of the body is ${type}` };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { wrong: 'the body is not JSON' };
  }
}
