import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSeed } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';

const CLINICS = fileURLToPath(new URL('../../examples/clinics', import.meta.url));
const KEY = { BRIGHTWATER_CRM_KEY: 'canary-crm-77aa10' };

/** `examples/clinics` in a copy, against the platform that its seed describes. */
async function inClinics(body: (stage: Stage) => Promise<void>): Promise<void> {
  const seed = readSeed(readFileSync(`${CLINICS}/simulator/seed.yaml`, 'utf8'));
  const stage = await openStage({ stack: CLINICS, seed, secrets: KEY });
  try {
    // It names the simulator's credentials, which are none here.
    await stage.remove('README.md');
    await body(stage);
    expect(await stage.leaks()).toEqual([]);
  } finally {
    await stage.close();
  }
}

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
        const { validate } = await import('../../src/cli/commands/validate.ts');
        const flags = { dir: stage.folder, env: 'development', format: 'json' as const };
        return validate(flags, context);
      },
      { exit: 1 },
    );
    expect(JSON.parse(out).diagnostics).toMatchObject([{ rule: 'for-each/empty' }]);
  });
});
