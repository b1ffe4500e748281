import { expect, test } from 'vitest';
import { load, said } from './stack-folder.ts';
import { stackWith, UNUSUAL } from './unusual.ts';

test('what the specification allows is allowed, and what it forbids is refused', async () => {
  const files = Object.fromEntries(
    UNUSUAL.flatMap((row, at) => [
      [
        `${at}.yaml`,
        JSON.stringify(
          stackWith(row, `r${at}`, `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`),
        ),
      ],
      ...Object.entries(row.files ?? {}),
    ]),
  );
  const { diagnostics } = await load(files);
  const wrong = UNUSUAL.flatMap((row, at) => {
    const errors = diagnostics.filter(
      ({ severity, position }) => severity === 'error' && position?.file === `${at}.yaml`,
    );
    return errors.length > 0 === (row.refused !== undefined)
      ? []
      : [`${row.title}: ${errors.map(said).join('; ') || 'not refused'}`];
  });
  expect(wrong).toEqual([]);
});
