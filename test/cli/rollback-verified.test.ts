import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

const agent = ({ sim }: Stage, name: string) => agentNamed(sim, name);

const desk = (stage: Stage) => agent(stage, 'Front desk');

const WEB = 'status: active\n    transfer_enabled: false\n    web_transfer_enabled: true';

describe('what a revert moves beside what is to be undone goes back as well', () => {
  staged('web transfer, which call transfer takes along', async (stage) => {
    await stage.edit('agents.yaml', 'status: active', WEB);
    await stage.apply();
    await stage.edit('agents.yaml', 'transfer_enabled: false', 'transfer_enabled: true');
    await stage.apply();
    const since = stage.writes().length;
    await stage.rollback();
    expect(desk(stage).record).toMatchObject({
      transfer_enabled: false,
      web_transfer_enabled: true,
    });
    expect(
      stage
        .writes()
        .slice(since)
        .map(({ operation }) => operation),
    ).toEqual(['revertAgent', 'updateAgent']);
  });

  staged('what an older version had, where the newest entry came late', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    // The entry that the run took for the newest one is in truth an older one of another description.
    const entries = stage.sim.store.history.get(desk(stage).id) ?? [];
    for (const entry of entries.slice(0, -1))
      Object.assign(entry, { settings: { ...entry.settings, description: 'Long ago.' } });
    await stage.rollback();
    expect(desk(stage).record.greeting_message).toBe('Harbor Dental, how can I help?');
    expect(desk(stage).record.description).not.toBe('Long ago.');
  });
});

describe('everything is read again at the end', () => {
  const inWords = (stage: Stage, exit: number) => {
    // One change after the other, so that the first agent's is over before the second's begins.
    const flags = { dir: stage.folder, format: 'text', autoApprove: true, concurrency: 1 } as const;
    return stage.run((to) => rollback(flags, to), { exit });
  };

  staged('and said to be as it was', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    const { out } = await inWords(stage, 0);
    expect(out).toMatch(/Verified: 2 resources read again, every leaf as before run\s/);
  });

  staged('and what a later write of the rollback undid again is named', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
    await stage.apply();
    // The moment the second agent is written, somebody's automation writes to the first.
    const second = agent(stage, 'Recall');
    let { record } = second;
    Object.defineProperty(second, 'record', {
      get: () => record,
      set: (next: JsonObject) => {
        record = next;
        stage.sim.edit(desk(stage).id, { greeting_message: 'Robot here.' });
      },
    });
    const { out, err } = await inWords(stage, 3);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /Not as before run \S+ 1 field of 1 resource\. agent\.desk greeting_message wanted "Harbor Dental, how can I help\?", found "Robot here\."/,
    );
    const run = /callsheet runs (\S+)/.exec(err + out)?.[1] ?? '';
    const receipt = await stage.read(`.callsheet/runs/${run}.jsonl`);
    expect(receipt).toContain('"differs":[{"address":"agent.desk","path":"greeting_message"');
  });

  longStaged('but for what could not be read', async (stage) => {
    await stage.apply();
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    // List and check before the write, read back after it; then the platform fails for good.
    const reads = stage.sim.requests.filter(({ operation }) => operation === 'getRetryPolicy');
    expect(reads.length).toBeGreaterThan(0);
    const body: JsonObject = { error: 'internal_error' };
    stage.sim.faults.add({ operation: 'getRetryPolicy', status: 500, body, skip: 2, times: 9 });
    const { out } = await inWords(stage, 3);
    expect(out).toContain('Not verified: the live resources could not be read again: 500 GET');
  });
});
