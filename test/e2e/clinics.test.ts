import { expect, test } from 'vitest';
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
        const { validate } = await import('../../src/cli/commands/validate.ts');
        const flags = { dir: stage.folder, env: 'development', format: 'json' as const };
        return validate(flags, context);
      },
      { exit: 1 },
    );
    expect(JSON.parse(out).diagnostics).toMatchObject([{ rule: 'for-each/empty' }]);
  });
});
