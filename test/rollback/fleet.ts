import { expect } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import type { Simulator } from '../../src/simulator/index.ts';
import type { StackCopy } from '../e2e/stack-copy.ts';

/** Agents of the fleet that a rollback is tried on. */
export const SIZE = 50;

type Version = 'before' | 'after';

/**
 * A fleet of agents. The second version changes the greeting of each, which history records, and the status of
 * every other one, which it does not; it lacks the last agent and has a new one.
 */
function agentsIn(version: Version): string {
  const isAfter = version === 'after';
  const agent = (name: string, at: number) => `  ${name}:
    name: Agent ${name}
    status: ${isAfter && at % 2 === 0 ? 'inactive' : 'active'}
    greeting_message: ${isAfter ? 'Good day' : 'Hello'} from ${name}
    default_retry_policy_id: { $ref: retry_policy.gentle }
`;
  const names = Array.from({ length: SIZE }, (_, at) => `a${String(at).padStart(2, '0')}`);
  const kept = isAfter ? [...names.slice(0, -1), 'new'] : names;
  return `agents:\n${kept.map(agent).join('')}`;
}

/** Writes a version of the fleet into a copy of the clinic's stack, a policy and templates with it. */
export async function writeFleet(
  stack: Pick<StackCopy, 'write' | 'edit'>,
  version: Version,
): Promise<void> {
  const swaps = [
    ['max_attempts: 3', 'max_attempts: 5'],
    ['body: See you', 'body: Be there'],
    ['subject: Your visit', 'subject: A visit'],
  ] as const;
  await stack.write('agents.yaml', agentsIn(version));
  if (version === 'after')
    for (const [from, to] of swaps) await stack.edit('resources.yaml', from, to);
}

/** The platform without history and timestamps, and with names in the place of ids. */
export function dumpOf(sim: Simulator): Json {
  const { history: _, ...store } = sim.dump();
  const names = new Map([...sim.store.agents].map(([id, { record }]) => [id, String(record.name)]));
  const plain = (value: Json): Json => {
    if (typeof value === 'string') return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(plain).sort(byText);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value as JsonObject)
      .filter(([key]) => !MOVING.has(key))
      .map(([key, member]) => [names.get(key) ?? key, plain(member)] as const);
    return Object.fromEntries(entries.sort(byText));
  };
  return plain(store);
}

const MOVING: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'version', 'tokens']);

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

/** What the rollback of the second version asks for, by operation. */
export function expectOneRevertEach(writes: readonly { operation: string; path: string }[]): void {
  const paths = writes
    .filter(({ operation }) => operation === 'revertAgent')
    .map(({ path }) => path);
  expect(paths).toHaveLength(SIZE - 1);
  expect(new Set(paths).size).toBe(SIZE - 1);
  const counts = Map.groupBy(writes, ({ operation }) => operation);
  expect(
    Object.fromEntries([...counts].map(([operation, all]) => [operation, all.length])),
  ).toEqual({
    revertAgent: SIZE - 1,
    // Only where the status was changed, which no revert restores.
    updateAgent: 25,
    createAgent: 1,
    deleteAgent: 1,
    updateRetryPolicy: 1,
    updateEmailTemplate: 1,
    updateSmsTemplate: 1,
  });
}
