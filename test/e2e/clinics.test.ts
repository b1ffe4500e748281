import { expect, test } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import type { Stage } from '../apply/stage.ts';
import { longTest } from '../long.ts';
import { inClinics } from './in-clinics.ts';

// What it does with all of its three hundred agents is told by `npm run torture`.
test('a row that is gone is a delete that waits, and an empty table is refused', async () => {
  await inClinics(async (stage) => {
    await stage.apply({ env: 'development' });
    const csv = await stage.read('clinics.development.csv');
    const [header = '', ...rows] = csv.trimEnd().split('\n');
    await stage.write('clinics.development.csv', `${[header, ...rows.slice(1)].join('\n')}\n`);
    const { changes } = await stage.plan({ env: 'development' });
    expect(changes.map(({ action, verdict }) => [action, verdict])).toEqual([['delete', 'held']]);

    await stage.write('clinics.development.csv', `${header}\n`);
    const { out } = await stage.run(
      async (context) => {
        const { validate } = await import('../../src/console/validate.ts');
        const flags = { dir: stage.folder, env: 'development', format: 'json' as const };
        return validate(flags, context);
      },
      { exit: 1 },
    );
    expect(JSON.parse(out).diagnostics).toMatchObject([{ rule: 'for-each/empty' }]);
  });
});

/** The stack with so many clinics, and no limit on how many of them one plan changes. */
async function withClinics(stage: Stage, count: number): Promise<void> {
  const [header, ...rows] = (await stage.read('clinics.csv')).split('\n');
  await stage.write('clinics.csv', `${[header, ...rows.slice(0, count)].join('\n')}\n`);
  await edit(stage, 'callsheet.yaml', 'max_change_percent: 20', 'max_change_percent: 100');
}

async function edit(stage: Stage, file: string, from: string, to: string): Promise<void> {
  const text = await stage.read(file);
  expect(text).toContain(from);
  await stage.write(file, text.replace(from, to));
}

async function planned(stage: Stage, format: 'text' | 'markdown'): Promise<string> {
  const flags = { dir: stage.folder, env: 'production', format };
  return (await stage.run((to) => plan(flags, to))).out;
}

longTest('one edit of a template that thirty rows share is read once, with its file', async () => {
  await inClinics(async (stage) => {
    await withClinics(stage, 30);
    await stage.apply({ env: 'production' });
    await edit(stage, 'prompts/front-desk.md', 'Do not quote prices.', 'Quote the price list.');
    const text = await planned(stage, 'text');
    expect(text).toContain('30 agents alike  prompts/front-desk.md');
    // As a call-out, and where it stands.
    expect(text.split('Quote the price list.')).toHaveLength(3);
    expect(text.split('\n').length).toBeLessThanOrEqual(60);
    const markdown = await planned(stage, 'markdown');
    expect(markdown).toContain('prompts/front-desk.md');
    expect(markdown.length).toBeLessThanOrEqual(8000);
  });
});

test('forty agents with one line of a base, a prompt and a hand edit are read in two screens', async () => {
  await inClinics(async (stage) => {
    await withClinics(stage, 40);
    await stage.write('night.yaml', NIGHT);
    await stage.apply({ env: 'production' });
    const [edited = ''] = [...stage.sim.store.agents.values()].flatMap(({ id, record }) =>
      String(record.name).includes('Alder Bay, Station') ? [id] : [],
    );
    stage.sim.edit(edited, { greeting_message: 'Hi, this is Maria.' }, 'user:maria');
    await edit(stage, 'bases.yaml', 'enable_recording: true', 'enable_recording: false');
    await edit(stage, 'night.yaml', 'You cannot give advice.', 'You may give advice.');
    await edit(stage, 'night.yaml', 'Your visit is', 'Your next visit is');
    const text = await planned(stage, 'text');
    const lines = text.split('\n');
    expect(lines.length).toBeLessThanOrEqual(90);
    expect(lines.slice(0, 10).join('\n')).toContain('user:maria');
    for (const said of ['41 agents alike  bases.yaml', '+ You [may] give advice.'])
      expect(text).toContain(said);
    expect(text).toContain('+ Your [next] visit is tomorrow.');
  });
});

test('the edit of two columns of thirty rows is read by column', async () => {
  await inClinics(async (stage) => {
    await withClinics(stage, 30);
    const old = await stage.read('clinics.csv');
    await stage.apply({ env: 'production' });
    const [header = '', ...rows] = old.trimEnd().split('\n');
    const edited = rows.map((row, at) => {
      const cells = (row.match(/("[^"]*"|[^,]*)(?:,|$)/g) ?? []).map((one) =>
        one.replace(/,$/, ''),
      );
      const greeting = at === 7 ? 'We have moved.' : `"Welcome to clinic number ${at}, hello."`;
      return [...cells.slice(0, 7), at % 2 === 0 ? '7 to 3' : '9 to 6', greeting].join(',');
    });
    await stage.write('clinics.csv', `${[header, ...edited].join('\n')}\n`);
    const { groups = [] } = await stage.plan({ env: 'production' });
    const columns = groups.flatMap(({ fields }) => fields.flatMap((field) => field.columns ?? []));
    expect(columns.map(({ column, expression, source }) => [column, expression, source])).toEqual([
      ['hours', '${hours}', 'clinics.csv'],
      ['greeting', '${each.greeting}', 'clinics.csv'],
    ]);
    expect(groups.map(({ blocks }) => blocks?.[0]?.block)).toEqual([
      'agent.clinic',
      'agent.clinic',
    ]);
    for (const format of ['text', 'markdown'] as const) {
      const shown = await planned(stage, format);
      expect(shown).toContain('2 columns of clinics.csv');
      expect(shown).toMatch(/"Welcome to clinic number (?:<|&#60;)n(?:>|&#62;), hello\."/);
      expect(shown.split('We have moved.')).toHaveLength(2);
    }
  });
});

const NIGHT = `agents:
  night:
    base: brightwater
    name: Night desk
    transfer_enabled: true
    transfer_rules: "To the desk: +12075550100"
    system_prompt: |
      # Night
      You answer at night.
      You cannot give advice.
sms_templates:
  reminder: { name: Reminder, message_type: sms, body: Your visit is tomorrow. }
`;
