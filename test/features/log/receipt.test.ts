import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { findBegan, type JournalEntry, listLedger } from '../../../src/state/journal.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { STATE } from '../../cli/state-stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { openKeyed } from '../../state/keyed.ts';

/** The journal of the newest run. */
async function readNewestRun({ folder }: Stage): Promise<readonly JournalEntry[]> {
  const store = openKeyed(join(folder, STATE));
  try {
    const [newest] = await store.runs();
    return (await store.run(newest?.run ?? '')) ?? [];
  } finally {
    await store.close();
  }
}

async function undidBy(stage: Stage, address = 'agent.desk') {
  const line = listLedger(await readNewestRun(stage)).find((one) => one.address === address);
  expect(line).toMatchObject({ status: 'done' });
  return line?.undid;
}

const desk = ({ sim }: Stage) => agentNamed(sim).id;

describe('a receipt', () => {
  staged('names the pull request and who approved it', async (stage) => {
    const env = {
      CALLSHEET_PULL_REQUEST: 'https://git.example.test/harbor/pull/412',
      CALLSHEET_APPROVED_BY: 'jo, mina,,jo',
    };
    await stage.apply({}, { env });
    const { actor } = findBegan(await readNewestRun(stage)) ?? {};
    expect(actor).toMatchObject({
      pull_request: 'https://git.example.test/harbor/pull/412',
      approved_by: ['jo', 'mina'],
    });
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    expect(findBegan(await readNewestRun(stage))?.actor).toMatchObject({
      pull_request: null,
      approved_by: [],
    });
  });

  staged('names the edits that the run undid, by field', async (stage) => {
    await stage.apply();
    expect(await undidBy(stage)).toBeUndefined();
    stage.sim.edit(desk(stage), { greeting_message: 'Moin!' }, 'user:maria');
    const [, entry] = (stage.sim.store.history.get(desk(stage)) ?? []).map(({ id }) => id);
    await stage.apply();
    expect(await undidBy(stage)).toEqual({
      fields: ['greeting_message'],
      edits: [{ entry, actor: 'user:maria', source: expect.any(String), at: expect.any(String) }],
    });
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    expect(await undidBy(stage)).toBeUndefined();
  });

  staged('names the edits that a delete took along', async (stage) => {
    await stage.apply();
    stage.sim.edit(desk(stage), { greeting_message: 'Moin!' }, 'user:maria');
    const whole = await stage.read('agents.yaml');
    await stage.write('agents.yaml', whole.replace(/^ {2}desk:\n(?: {4}.*\n|\n)*/m, ''));
    await stage.apply({ allowDelete: true });
    expect(await undidBy(stage)).toMatchObject({
      fields: ['greeting_message'],
      edits: [{ actor: 'user:maria' }],
    });
  });

  staged('says when an edit was made whose author the platform does not keep', async (stage) => {
    await stage.apply();
    const [policy] = stage.sim.store.retryPolicies.values();
    if (policy === undefined) throw new Error('no policy was made');
    const updated_at = '2026-11-21T10:12:03.000Z';
    Object.assign(policy, { on_exhausted: 'leave_voicemail', updated_at });
    await stage.apply();
    expect(await undidBy(stage, 'retry_policy.gentle')).toEqual({
      fields: ['on_exhausted'],
      edits: [{ entry: null, actor: null, source: null, at: updated_at }],
    });
  });
});
