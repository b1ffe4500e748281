import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';

/** How platforms take what the specification leaves open. */
const DIALECTS: readonly Partial<Dialect>[] = longRows(
  [{}, { merge: 'shallow' }, { nulls: 'rejected' }, { merge: 'shallow', nulls: 'rejected' }],
  // Each reading once.
  ({ merge, nulls }) => (merge === undefined) === (nulls === undefined),
);

let count = 0;

/** In short on one of the dialects, in turn. */
function everywhere(what: string, body: (stage: Stage) => Promise<void>): void {
  count += 1;
  for (const dialect of longRows(DIALECTS, (_, at) => at === count % DIALECTS.length))
    staged(`${what} (${JSON.stringify(dialect)})`, body, { dialect });
}

const desk = ({ sim }: Stage): JsonObject => agentNamed(sim).record;

const token = (stage: Stage): Json => {
  const { integrations } = desk(stage);
  const provider = isObject(integrations) ? integrations.smsProvider : undefined;
  return (isObject(provider) ? provider.auth_token : undefined) ?? null;
};

function nullsIn(value: Json | undefined, at: string): readonly string[] {
  if (value === null) return [at];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => nullsIn(member, `${at}.${name}`));
}

const policy = ({ sim }: Stage) => [...sim.store.retryPolicies.values()][0];
const undo = (stage: Stage, exit: number, more: object = {}) =>
  stage.run(
    (to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true, ...more }, to),
    { exit },
  );

describe('a secret is never null in a body', () => {
  everywhere('a run changed it and what is beside it', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'fromNumber: "+15550100"', 'fromNumber: "+15550199"');
    const env = { SMS_TOKEN: 'canary-sms-new-11' };
    await stage.apply({}, { env });
    const since = stage.writes().length;
    const { out } = await undo(stage, 3);
    const sent = stage.writes().slice(since);
    expect(sent.flatMap(({ body }) => nullsIn(body, 'body'))).toEqual([]);
    expect(token(stage)).toBe(env.SMS_TOKEN);
    expect(out.replace(/\s+/g, ' ')).toContain('agent.desk integrations.smsProvider.auth_token');
  });
});

describe('what a run let go of is no change of it', () => {
  for (const block of ['sip: { registration_enabled: true }', 'payments: { tool_enabled: false }'])
    everywhere(block, async (stage) => {
      await stage.apply();
      const sip = { sip_registration_data: { username: 'desk', registrationEnabled: false } };
      Object.assign(desk(stage), sip);
      await stage.edit('agents.yaml', '    status: active\n', `    status: active\n    ${block}\n`);
      await stage.apply({}, { leaves: ({ address }) => address === 'agent.desk' });
      await stage.edit('agents.yaml', `    ${block}\n`, '');
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
      const since = stage.writes().length;
      await undo(stage, 0);
      const sent = stage.writes().slice(since);
      expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
      expect(sent.map(({ operation }) => operation)).toEqual(['revertAgent']);
    });
});

describe('a block that goes is cleared where the specification says so', () => {
  everywhere('interpreter_config of what is no translator', async (stage) => {
    const block = '    interpreter_config: { max: 3, tone: calm }\n';
    await stage.edit('agents.yaml', '    status: active\n', `    status: active\n${block}`);
    await stage.apply();
    await stage.edit('agents.yaml', block, '');
    const { changes } = await stage.plan();
    expect(changes[0]?.fields).toMatchObject([
      { path: 'interpreter_config', before: { max: 3, tone: 'calm' }, after: null },
    ]);
    const since = stage.writes().length;
    await stage.apply();
    expect(stage.writes().slice(since)[0]?.body).toEqual({ interpreterConfig: null });
    expect(desk(stage).interpreter_config ?? null).toBeNull();
    await undo(stage, 0);
    expect(desk(stage).interpreter_config).toEqual({ max: 3, tone: 'calm' });
  });

  everywhere("a policy's contact_policy, set and rolled back", async (stage) => {
    await stage.apply();
    const end = '    on_exhausted: end\n';
    await stage.edit('resources.yaml', end, `${end}    contact_policy: { max: 3 }\n`);
    await stage.apply();
    expect(policy(stage)?.contact_policy).toEqual({ max: 3 });
    const since = stage.writes().length;
    await undo(stage, 0);
    expect(stage.writes().slice(since)[0]?.body).toEqual({ contact_policy: null });
    expect(policy(stage)?.contact_policy ?? null).toBeNull();
  });

  everywhere('but not what somebody put beside it', async (stage) => {
    const block = '    interpreter_config: { max: 3 }\n';
    await stage.edit('agents.yaml', '    status: active\n', `    status: active\n${block}`);
    await stage.apply();
    const id = [...stage.sim.store.agents].find(([, one]) => one.record.name === 'Front desk')?.[0];
    stage.sim.edit(id ?? '', { interpreter_config: { max: 3, mine: true } }, 'user:maria');
    await stage.edit('agents.yaml', block, '');
    await stage.apply({}, { exit: 'any' });
    expect(desk(stage).interpreter_config).toMatchObject({ mine: true });
  });
});

describe('what null cannot clear stays on the way back, and is named', () => {
  staged('where no revert brings it back', async (stage) => {
    await stage.apply();
    // Of a field that the platform leaves empty until it is set.
    const recall = agentNamed(stage.sim, 'Recall');
    Object.assign(recall, { record: { ...recall.record, tts_model: null } });
    await stage.edit(
      'agents.yaml',
      'name: Recall',
      'name: Recall\n    tts_model: voxc\n    timezone: UTC',
    );
    await stage.apply();
    stage.sim.store.history.clear();
    const since = stage.writes().length;
    const { out } = await undo(stage, 3);
    const sent = stage.writes().slice(since);
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
    expect(sent.flatMap(({ body }) => nullsIn(body, 'body'))).not.toContain('body.ttsModel');
    expect(out.replace(/\s+/g, ' ')).toContain(
      'tts_model is not undone: the platform cannot clear it',
    );
  });
});
