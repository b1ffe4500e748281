import { expect, test } from 'vitest';
import { inClinics } from '../e2e/in-clinics.ts';

test('300 agents come from one table, and a row that changes is one agent that changes', async () => {
  await inClinics(async (stage) => {
    const first = await stage.plan({ env: 'production' });
    expect(first.summary).toMatchObject({ create: 301 });
    await stage.apply({ env: 'production' });

    const csv = await stage.read('clinics.csv');
    const row = 'cedar-point-lakeside,Cedar Point,';
    expect(csv).toContain(row);
    const line = csv.split('\n').findIndex((text) => text.startsWith(row)) + 1;
    await stage.edit('clinics.csv', row, 'cedar-point-lakeside,Cedar Point East,');
    const { changes } = await stage.plan({ env: 'production' });
    expect(changes.map(({ address, action, source }) => [action, address, source])).toEqual([
      ['update', 'agent.clinic["cedar-point-lakeside"]', `clinics.csv:${line}`],
    ]);
    expect(changes[0]?.fields.map(({ path }) => path)).toEqual([
      'name',
      'greeting_message',
      'system_prompt',
    ]);
    await stage.apply({ env: 'production' });

    // Another environment neither knows nor touches what the first one made.
    const development = await stage.plan({ env: 'development' });
    expect(development.summary).toMatchObject({ create: 4, delete: 0, adopt: 0 });
    await stage.apply({ env: 'development' });
    expect((await stage.plan({ env: 'production' })).changes).toEqual([]);
  });
});
