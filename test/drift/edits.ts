import { join } from 'node:path';
import type { JsonObject } from '../../src/core/value.ts';
import { openStage, type Stage, type StageOptions } from '../apply/stage.ts';
import { mint } from '../e2e/mint.ts';

/**
 * Ten agents and a policy that three actors edit between them: two people in the dashboard, and another
 * program with the account's own key.
 */
export const [MARIA, JO] = ['user:maria', 'user:jo'];

const HOUR_MS = 3_600_000;
const BEGINNING = Date.parse('2026-11-20T08:00:00Z');
/** When drift is looked for. */
export const NIGHT = new Date('2026-11-22T02:00:00Z');

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** What the actors do. An hour goes by before each of it. */
export type Edits = {
  readonly edit: (name: string, patch: JsonObject, actor: string) => Promise<number>;
  /** An update through the API, with the account's key. */
  readonly put: (name: string, body: JsonObject) => Promise<void>;
  /** The same, of a history entry that is restored. */
  readonly revert: (name: string, entry: number) => Promise<void>;
  /** The newest entry of an agent. */
  readonly newest: (name: string) => number;
  /** Takes an agent away, with its history. */
  readonly remove: (name: string) => void;
};

/** The fleet, applied one resource after the other so that ids are the same every time. */
export async function openFleet(options: Pick<StageOptions, 'dialect'> = {}) {
  const stage = await openStage({
    ...options,
    stack: join(import.meta.dirname, 'fleet'),
    seed: {
      account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
      organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
    },
    secrets: {},
    platformNow: () => new Date(BEGINNING),
  });
  await stage.apply({ concurrency: 1 });
  return { stage, ...editsOn(stage) };
}

function editsOn({ sim }: Stage): Edits {
  const idOf = (name: string) => {
    for (const [id, { record }] of sim.store.agents) if (record.name === name) return id;
    throw new Error(`there is no agent ${name}`);
  };
  const newest = (name: string) => sim.store.history.get(idOf(name))?.at(-1)?.id ?? 0;
  const send = async (method: string, path: string, body?: JsonObject) => {
    sim.advance(HOUR_MS);
    const headers = {
      authorization: `Bearer ${await mint(sim)}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const answer = await fetch(`${sim.url}/v1/agents/${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  return {
    newest,
    async edit(name, patch, actor) {
      sim.advance(HOUR_MS);
      sim.edit(idOf(name), patch, actor);
      return newest(name);
    },
    put: (name, body) => send('PUT', idOf(name), body),
    revert: (name, entry) => send('POST', `${idOf(name)}/history/${entry}/revert`),
    remove: (name) => {
      sim.store.history.delete(idOf(name));
      sim.store.agents.delete(idOf(name));
    },
  };
}
