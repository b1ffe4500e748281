import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import type { Fault, Simulator } from '../../src/simulator/index.ts';
import { DIALECTS } from '../fuzz/dialects.ts';
import { readContract } from '../fuzz/document.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { stepsOf } from '../fuzz/requests.ts';
import type { Body, Call, Step } from '../fuzz/step.ts';

const contract = readContract();

test('no request gets an answer that the document does not have, and every operation gets a good one', async () => {
  const tally = await fuzz(contract, { seed: 1, runs: 60 });
  const good = [...tally.keys()]
    .filter((key) => / 2\d\d$/.test(key))
    .map((key) => key.split(' ')[0]);
  expect(new Set(good)).toEqual(new Set(contract.operations.map(({ id }) => id)));
});

test.each(Object.entries(DIALECTS))('nor on a platform that %s', async (_name, dialect) => {
  await fuzz(contract, { seed: 2, runs: 4, simulator: { dialect } });
});

const everyList = { operation: 'listSttProviders', times: 1000 } as const;

test.each<readonly [string, Fault]>([
  ['the document has no 418', { ...everyList, status: 418, body: {} }],
  ['the simulator failed', { ...everyList, status: 500 }],
  ['body must have required property', { ...everyList, status: 200, body: {} }],
  ['the type of the body is text/html', { ...everyList, text: '<h1>Oops</h1>' }],
  ['the connection broke', { ...everyList, reset: 'before' }],
  ['a secret comes back', { ...everyList, status: 200, body: { data: [{ id: 'canary-secret' }] } }],
])('the fuzzer notices: %s', async (verdict, fault) => {
  const prepare = ({ faults }: Simulator) => faults.add(fault);
  const found = fuzz(contract, { seed: 3, runs: 40, shrink: false, prepare });
  await expect(found).rejects.toThrow(verdict);
});

test.each([3, 13])('a finding is as short as it can be, from seed %i', async (seed) => {
  const fault: Fault = { ...everyList, status: 418, body: {} };
  const found = fuzz(contract, { seed, runs: 40, prepare: ({ faults }) => faults.add(fault) });
  await expect(found).rejects.toThrow(
    /^seed \d+, run \d+, path \S+: the document has no 418 for listSttProviders\n\nGET \/v1\/stt-providers\n {4}authorization: Bearer account\n {4}→ 418 \{\}$/,
  );
});

const steps = stepsOf(contract);

const list = callOf('listAgents');
const create = callOf('createAgent', {
  body: json({ name: 'One', organizationId: { live: 'organization', nth: 0 } }),
});
const update = callOf('updateAgent', { path: { agentId: { live: 'agent', nth: 0 } } });
const remove = callOf('deleteAgent', { path: update.path });

type Shows = (all: readonly Step[]) => boolean;

test.each<readonly [need: string, shows: Shows, shortest: readonly Step[]]>([
  ['a request', (all) => some(all, 'listAgents'), [list]],
  [
    'another caller',
    (all) => some(all, 'listAgents', (one) => one.as !== 'account'),
    [{ ...list, as: 'reseller' }],
  ],
  [
    'a parameter',
    (all) => some(all, 'listAgents', ({ query }) => query.some(([name]) => name === 'page')),
    [{ ...list, query: [['page', 1]] }],
  ],
  [
    'a body where none belongs',
    (all) => some(all, 'listAgents', ({ body }) => body.kind !== 'none'),
    [{ ...list, body: { kind: 'text', text: '', type: 'application/json' } }],
  ],
  [
    'a member of a body',
    (all) => some(all, 'updateAgent', ({ body }) => has(body, 'greetingMessage')),
    [{ ...update, body: json({ greetingMessage: 'Front desk' }) }],
  ],
  [
    'a body without a member',
    (all) =>
      some(all, 'createAgent', ({ body }) => has(body, 'organizationId') && !has(body, 'name')),
    [{ ...create, body: json({ organizationId: { live: 'organization', nth: 0 } }) }],
  ],
  [
    'a request after another',
    (all) =>
      all.some((one, at) => some([one], 'createAgent') && some(all.slice(at), 'deleteAgent')),
    [create, remove],
  ],
])('a finding that needs %s is cut down to that', (_need, shows, shortest) => {
  for (const seed of [1, 2, 3]) {
    const property = fc.property(steps, (all) => !shows(all));
    const { counterexample } = fc.check(property, { seed, numRuns: 2000 });
    expect(counterexample, `seed ${seed}`).toEqual([shortest]);
  }
});

/** A request of which everything is as usual but what is given. */
function callOf(operation: string, given: Partial<Call> = {}): Call {
  const usual = { as: 'account', path: {}, query: [], body: { kind: 'none' } } as const;
  return { do: 'call', operation, ...usual, failing: undefined, ...given };
}

function json(value: Json): Body {
  return { kind: 'json', value, type: 'application/json' };
}

function some(
  all: readonly Step[],
  operation: string,
  is: (call: Call) => boolean = () => true,
): boolean {
  return all.some((one) => one.do === 'call' && one.operation === operation && is(one));
}

function has(body: Body, member: string): boolean {
  return body.kind === 'json' && Object.hasOwn(Object(body.value), member);
}
