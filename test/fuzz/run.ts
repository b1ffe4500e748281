import { Client } from 'undici';
import type { Simulator, SimulatorOptions } from '../../src/simulator/index.ts';
import type { Contract, ContractOperation } from './document.ts';
import { judgeCall, judgeStray, type Verdict } from './judge.ts';
import { deliveryOf, type Reply, send, type Wire, wireOf } from './send.ts';
import type { Step, Stray } from './step.ts';
import { createWorld, type World } from './world.ts';

/** Which operation answered with which status, and how often. */
export type Tally = Map<string, number>;

export type RunOptions = {
  readonly simulator?: SimulatorOptions;
  /** What is done to a simulator before the first request. */
  readonly prepare?: (simulator: Simulator) => void;
};

/** Milliseconds after which an answer is given up on, a busy machine's too. */
const ANSWER_MS = 20_000;

/**
 * Does the steps to one simulator and looks at every answer. Throws with the whole exchange where an
 * answer is not in the document, a connection breaks or the simulator does not go on.
 */
export async function run(
  contract: Contract,
  steps: readonly Step[],
  { simulator = {}, prepare = () => {} }: RunOptions,
  tally: Tally,
): Promise<void> {
  const world = await createWorld(simulator);
  prepare(world.simulator);
  const client = new Client(world.simulator.url, { headersTimeout: ANSWER_MS });
  const exchange: string[] = [];
  try {
    for (const step of steps) {
      const sent = prepared(contract, world, step);
      if (sent === undefined) continue;
      const { wire, operation, failing, judge } = sent;
      if (failing !== undefined) world.simulator.faults.add({ operation: '*', status: failing });
      const reply = await send(client, wire).catch((error: unknown) => {
        throw new Error(report(exchange, tell(wire), `the connection broke: ${String(error)}`));
      });
      // What could not even be read was not struck.
      if (failing !== undefined) world.simulator.faults.clear();
      const line = `${tell(wire)}\n    → ${reply.status} ${shorten(reply.text)}`;
      const verdict = judge(reply);
      if (verdict !== undefined) throw new Error(report(exchange, line, verdict));
      exchange.push(line);
      if (operation !== undefined) note(tally, `${operation.id} ${reply.status}`);
      remember(world, reply);
    }
    await goesOn(client, exchange);
  } finally {
    await client.close();
    await world.simulator.close();
  }
}

type Prepared = {
  readonly wire: Wire;
  readonly operation: ContractOperation | undefined;
  readonly failing?: number | undefined;
  readonly judge: (reply: Reply) => Verdict;
};

function prepared(contract: Contract, world: World, step: Step): Prepared | undefined {
  switch (step.do) {
    case 'call': {
      const operation = contract.operations.find(({ id }) => id === step.operation);
      if (operation === undefined) throw new Error(`no operation ${step.operation}`);
      const wire = wireOf(world, operation, step);
      // Longer heads are refused before anybody looks at them.
      if (wire.path.length > 8000) return undefined;
      return asSent(contract, operation, wire, step.failing);
    }
    case 'delivery': {
      const wire = deliveryOf(world, step);
      return wire && { wire, operation: undefined, judge: (reply) => judgeStray(wire, reply) };
    }
    case 'stray': {
      const wire = strayOf(world, step);
      const operation = operationAt(contract, wire);
      return operation === undefined
        ? { wire, operation, judge: (reply) => judgeStray(wire, reply) }
        : asSent(contract, operation, wire, undefined);
    }
  }
}

/** A path with an odd value may be that of another operation, or of none. */
function asSent(
  contract: Contract,
  meant: ContractOperation,
  wire: Wire,
  failing: number | undefined,
): Prepared {
  const operation = operationAt(contract, wire);
  return operation?.id === meant.id
    ? { wire, operation, failing, judge: (reply) => judgeCall(contract, operation, reply, failing) }
    : { wire, operation: undefined, judge: (reply) => judgeStray(wire, reply) };
}

function operationAt(
  { operations }: Contract,
  { method, path }: Wire,
): ContractOperation | undefined {
  const [bare = ''] = path.split('?');
  // A wrong escape is read by nobody, so it names no operation.
  if (/%(?![0-9a-f]{2})/i.test(bare)) return undefined;
  return operations.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]*')}$`).test(bare),
  );
}

function strayOf(world: World, { as, method, path }: Stray): Wire {
  return { method, path, headers: world.headers(as, 'authorization'), body: undefined };
}

function remember({ uploads }: World, { text }: Reply): void {
  const address = /"presignedUrl":"([^"]+)"/.exec(text)?.[1];
  if (address !== undefined) uploads.push(address);
}

/** After whatever came, an honest request is answered. */
async function goesOn(client: Client, exchange: readonly string[]): Promise<void> {
  const wire: Wire = {
    method: 'GET',
    path: '/v1/me',
    headers: { authorization: 'Bearer account' },
    body: undefined,
  };
  const { status, text } = await send(client, wire);
  if (status !== 200)
    throw new Error(
      report(exchange, `${tell(wire)}\n    → ${status} ${text}`, 'it does not go on'),
    );
  if (Object.keys(Object.prototype).length > 0)
    throw new Error(report(exchange, '', 'Object.prototype was written to'));
}

function note(tally: Tally, key: string): void {
  tally.set(key, (tally.get(key) ?? 0) + 1);
}

function tell({ method, path, headers, body }: Wire): string {
  const heads = Object.entries(headers).map(([name, value]) => `\n    ${name}: ${value}`);
  const text = body === undefined ? '' : `\n    ${shorten(String(body))}`;
  return `${method} ${shorten(path)}${heads.join('')}${text}`;
}

function shorten(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text;
}

function report(before: readonly string[], line: string, verdict: string): string {
  return [verdict, '', ...before, line].join('\n');
}
