import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

const agent = ({ sim }: Stage, name: string) => agentNamed(sim, name);

const inWords = (stage: Stage, exit: number, more: Partial<RollbackFlags> = {}) =>
  stage.run(
    (to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true, ...more }, to),
    { exit },
  );
const lastRun = async (stage: Stage): Promise<string> =>
  JSON.parse(await stage.read('.callsheet/state.json')).last_run;
const rules = ({ sim }: Stage) => JSON.stringify([...sim.store.retryPolicies.values()][0]?.rules);

describe('a part of a run', () => {
  staged('is undone, and the rest later', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    const run = await lastRun(stage);
    const lines = await stage.rollback({ target: ['agent.desk'] });
    expect(lines.map(({ address }) => address)).toEqual(['agent.desk']);
    expect(agent(stage, 'Recall').record.system_prompt).toContain('who are late');
    expect(rules(stage)).toContain('"max_attempts":5');

    const rest = await stage.rollback({ run });
    expect(rest.map(({ address }) => address).sort()).toEqual([
      'agent.recall',
      'retry_policy.gentle',
    ]);
    expect(rules(stage)).toContain('"max_attempts":3');
    const { out } = await inWords(stage, 0, { run });
    expect(out).toContain(`Nothing of run ${run} is left to roll back`);
  });

  staged('says nothing of what else of the run has lost its address to another', async (stage) => {
    const fleet = (greeting: string, names: Readonly<Record<string, string>>) => {
      const agents = Object.entries(names).map(
        ([address, name]) => `  ${address}: { name: ${name}, greeting_message: ${greeting} }\n`,
      );
      return stage.write('agents.yaml', `agents:\n${agents.join('')}`);
    };
    await fleet('Hello', { a: 'A', b: 'B', c: 'C' });
    await stage.apply({ allowDelete: true });
    await fleet('Hi', { a: 'A', b: 'B', c: 'C' });
    await stage.apply();
    const run = await lastRun(stage);
    // The second one goes, and the first has its address.
    await fleet('Hi', { a: 'A', c: 'C' });
    await stage.apply({ allowDelete: true });
    await fleet('Hi', { b: 'A', c: 'C' });
    await stage.edit(
      'callsheet.yaml',
      'callsheet: 1\n',
      'callsheet: 1\nmoved: [{ from: agent.a, to: agent.b }]\n',
    );
    await stage.apply();
    const part = await inWords(stage, 0, { run, target: ['agent.c'] });
    expect(part.out).not.toContain('belongs to another resource');
    const rest = await inWords(stage, 3, { run });
    expect(rest.out.replace(/\s+/g, ' ')).toContain('agent.b belongs to another resource of');
    expect(agent(stage, 'A').record.greeting_message).toBe('Hello');
  });

  longStaged('may be a kind', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    const lines = await stage.rollback({ target: ['retry_policy'] });
    expect(lines.map(({ address }) => address)).toEqual(['retry_policy.gentle']);
  });

  staged('cannot refer to what stays away', async (stage) => {
    await stage.apply();
    const reference = '    default_retry_policy_id: { $ref: retry_policy.gentle }\n';
    await stage.edit('agents.yaml', reference, '');
    const resources = await stage.read('resources.yaml');
    await stage.write('resources.yaml', resources.slice(resources.indexOf('email_templates:')));
    await stage.apply({ allowDelete: true });
    const since = stage.writes().length;
    const { out } = await inWords(stage, 4, { target: ['agent.recall'] });
    expect(out.replace(/\s+/g, ' ')).toContain('retry_policy.gentle');
    expect(stage.writes().length).toBe(since);
  });

  longStaged('of which a rollback can be rolled back as well', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    await stage.apply();
    await stage.rollback({ target: ['agent.desk'] });
    await stage.rollback({ run: await lastRun(stage) });
    expect(agent(stage, 'Front desk').record.greeting_message).toContain('good day!');
    expect(rules(stage)).toContain('"max_attempts":5');
  });
});

describe('a rollback with --undo-edited undoes the fields of the run alone', () => {
  const edited = async (stage: Stage, patch: { readonly [field: string]: string }) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    stage.sim.edit(agent(stage, 'Front desk').id, patch, 'user:maria');
    const { out } = await inWords(stage, 0, { undoEdited: true });
    return out.replace(/\s+/g, ' ');
  };

  staged('an update, where a revert would take back an edit', async (stage) => {
    const out = await edited(stage, { description: 'Edited by hand.' });
    expect(out).toContain(
      'a revert would also take back description, which the run did not change',
    );
    expect(agent(stage, 'Front desk').record).toMatchObject({
      description: 'Edited by hand.',
      greeting_message: 'Harbor Dental, how can I help?',
    });
  });

  staged('a revert, where history does not record the edit', async (stage) => {
    const out = await edited(stage, { outbound_greeting_message: 'Hello.' });
    expect(out).toContain('how: revert');
    expect(agent(stage, 'Front desk').record.outbound_greeting_message).toBe('Hello.');
  });
});

describe('what the run made and somebody edited since is not deleted', () => {
  const NEW = '\n  night:\n    name: Night\n    greeting_message: Good night.\n';

  staged('an agent: by whom and when is told', async (stage) => {
    await stage.apply();
    await stage.write('agents.yaml', (await stage.read('agents.yaml')) + NEW);
    await stage.apply();
    stage.sim.edit(agent(stage, 'Night').id, { greeting_message: 'Mine.' }, 'user:maria');
    const since = stage.writes().length;
    const { err } = await inWords(stage, 4);
    expect(err).toMatch(
      /Night \(agent\.night\) was edited since the run, last by user:maria via dashboard at/,
    );
    expect(stage.writes().length).toBe(since);
    await stage.rollback({ undoEdited: true });
    expect([...stage.sim.store.agents.values()]).toHaveLength(2);
  });

  staged('a template: when is told', async (stage) => {
    const text = await stage.read('resources.yaml');
    const more = '  second: { name: Second, message_type: sms, body: Hi., status: draft }\n';
    await stage.apply();
    await stage.write(
      'resources.yaml',
      text.replace('\nknowledge_bases:', `${more}\nknowledge_bases:`),
    );
    await stage.apply();
    const templates = stage.sim.store.smsTemplates;
    const [id, record] = [...templates].find(([, one]) => one.name === 'Second') ?? [];
    templates.set(id ?? '', { ...record, body: 'Mine.', updated_at: '2031-01-01T00:00:00.000Z' });
    const since = stage.writes().length;
    const { err } = await inWords(stage, 4);
    expect(err).toMatch(
      /Second \(sms_template\.second\) was edited since the run created it.*it would be deleted/s,
    );
    expect(stage.writes().length).toBe(since);
  });
});

longStaged('a voice that was renamed: the agents go back to the old one', async (stage) => {
  await stage.apply();
  const voice = () =>
    (agent(stage, 'Front desk').record.voice_settings as { voice_id: string }).voice_id;
  const before = voice();
  await stage.edit('resources.yaml', 'name: Harbor, clip', 'name: Harbor two, clip');
  await stage.apply();
  expect(voice()).not.toBe(before);
  const { out } = await inWords(stage, 3);
  expect(voice()).toBe(before);
  expect(stage.sim.store.voices.size).toBe(2);
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /custom_voice\.harbor the one \(\S+\) that the run created in its place stays, because the platform has no endpoint that deletes a custom_voice/,
  );
  // Git says the old name again: nothing is to do.
  await stage.edit('resources.yaml', 'name: Harbor two, clip', 'name: Harbor, clip');
  expect((await stage.plan()).changes).toEqual([]);
});
