import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../../src/cli/commands/drift.ts';
import { plan } from '../../../src/console/plan.ts';
import { longStaged, type Stage, staged } from '../../apply/stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';

const RULE = `rules:
  no-friday-greetings:
    over: change
    on: agent
    when: change.action == "update"
    require: change.fields.all(field, field.path != "greeting_message") || now.getDayOfWeek("America/New_York") != 5
    message: Greetings change on other days than Friday
`;
const friday = () => new Date('2026-11-20T20:00:00Z');
const saturday = () => new Date('2026-11-21T20:00:00Z');
const SAYS =
  /rules\.no-friday-greetings \(callsheet\.yaml:\d+\): agent\.\w+: Greetings change on other days than Friday/;

const greetingOf = ({ sim }: Stage) => agentNamed(sim).record.greeting_message;
const PROMPT = 'prompts/desk.md';
const OLD = 'Harbor Dental, how can I help?';
const NEW = 'Harbor Dental, good day!';

/** An applied stack with another greeting to apply and a rule of the team. */
async function change(stage: Stage, rules = RULE): Promise<void> {
  await stage.apply({}, { now: saturday });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.write('callsheet.yaml', `${await stage.read('callsheet.yaml')}${rules}`);
}

const planned = (stage: Stage) =>
  ({ dir: stage.folder, format: 'json', out: join(stage.folder, 'plan.json') }) as const;

describe('a rule over changes', () => {
  staged('refuses the plan and its file, by the time of each', async (stage) => {
    await change(stage);
    const made = await stage.run((to) => plan(planned(stage), to), { exit: 4, now: friday });
    expect(JSON.parse(made.out).refusals).toMatchObject([
      { guard: 'rule', message: expect.stringMatching(SAYS), until: null },
    ]);
    const refused = await stage.applyFile('plan.json', {}, { exit: 4, now: friday });
    expect(refused.err.replace(/\s+/g, ' ')).toMatch(SAYS);
    await stage.apply({ skipRefused: true }, { exit: 4, now: friday });
    expect(greetingOf(stage)).toBe(OLD);
    await stage.applyFile('plan.json', {}, { now: saturday });
    expect(greetingOf(stage)).toBe(NEW);
  });

  staged('that is written after the plan was made stops its file', async (stage) => {
    await change(stage, '');
    await stage.run((to) => plan(planned(stage), to), { now: friday });
    await stage.write('callsheet.yaml', `${await stage.read('callsheet.yaml')}${RULE}`);
    await stage.applyFile('plan.json', {}, { exit: 4, now: friday });
    expect(greetingOf(stage)).toBe(OLD);
  });

  longStaged('is shown below the plan in words', async (stage) => {
    await change(stage);
    const flags = { dir: stage.folder, format: 'text' } as const;
    const { out } = await stage.run((to) => plan(flags, to), { exit: 4, now: friday });
    expect(out.replace(/\s+/g, ' ')).toMatch(SAYS);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'Change what rules.no-friday-greetings complains about',
    );
  });

  longStaged('that is a warning is a note, and hinders nothing', async (stage) => {
    await change(stage, `${RULE}    severity: warning\n`);
    const { out } = await stage.run((to) => plan(planned(stage), to), { now: friday });
    expect(JSON.parse(out).notes).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(SAYS) },
    ]);
    await stage.applyFile('plan.json', {}, { now: friday });
    expect(greetingOf(stage)).toBe(NEW);
  });

  staged('lets be who looks, and who rolls back', async (stage) => {
    await change(stage);
    await stage.apply({}, { now: saturday });
    await stage.run((to) => drift({ dir: stage.folder, format: 'text' }, to), { now: friday });
    await stage.rollback({}, { now: friday });
    expect(greetingOf(stage)).toBe(OLD);
  });

  staged('that cannot be asked refuses', async (stage) => {
    await change(
      stage,
      'rules: { r: { over: change, require: "change.fields[99].path == string(0)", message: M } }\n',
    );
    const { out } = await stage.run((to) => plan(planned(stage), to), { exit: 4, now: friday });
    expect(JSON.parse(out).refusals[0].message).toMatch(
      /^rules\.r \(callsheet\.yaml:\d+\): agent\.\w+: M \(require could not be checked: /,
    );
  });
});

describe('a rule over call-outs', () => {
  const rule = (condition: string) =>
    `rules: { reversed: { over: change, require: ${JSON.stringify(condition)}, message: A rule says the opposite } }\n`;
  const NONE = rule('!change.callouts.exists(c, c.sort == "reversed")');

  staged('refuses a plan that reverses an instruction, and passes one without', async (stage) => {
    await change(stage, NONE);
    await stage.run((to) => plan(planned(stage), to), { now: friday });
    await stage.write(PROMPT, '# Rules\n\nDo not diagnose.\n');
    await stage.apply({}, { now: friday });
    await stage.edit(PROMPT, 'Do not', 'You may');
    const { out } = await stage.run((to) => plan(planned(stage), to), { exit: 4, now: friday });
    expect(JSON.parse(out).refusals).toMatchObject([
      { guard: 'rule', message: expect.stringMatching(/agent\.\w+: A rule says the opposite$/) },
    ]);
  });
});

describe('a rule over the plan', () => {
  staged('sees the whole document', async (stage) => {
    const rule = (limit: number) =>
      `rules: { r: { over: plan, require: "plan.summary.update + plan.summary.create <= ${limit}", message: Too much } }\n`;
    await change(stage, rule(1));
    await stage.run((to) => plan(planned(stage), to), { now: friday });
    const main = await stage.read('callsheet.yaml');
    await stage.write('callsheet.yaml', main.replace('<= 1', '<= 0'));
    const { out } = await stage.run((to) => plan(planned(stage), to), { exit: 4, now: friday });
    expect(JSON.parse(out).refusals).toMatchObject([
      { message: expect.stringMatching(/^rules\.r \(callsheet\.yaml:\d+\): Too much$/) },
    ]);
  });

  longStaged('says nothing of a plan that writes nothing', async (stage) => {
    await change(stage, 'rules: { r: { over: plan, require: "false", message: Never } }\n');
    await stage.edit('agents.yaml', 'good day!', 'how can I help?');
    await stage.run((to) => plan(planned(stage), to), { now: friday });
  });
});
