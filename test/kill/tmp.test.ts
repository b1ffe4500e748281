import pLimit from 'p-limit';
import { test } from 'vitest';
import { CELLS, runCell } from './makings.ts';

const d = JSON.parse(process.env.DIALECT ?? '{}');
test('x', async () => {
  const limit = pLimit(3);
  const out = await Promise.all(
    CELLS.filter((c) => JSON.stringify(c).includes(process.env.ONLY ?? '')).map((c) =>
      limit(() => runCell(c, d)),
    ),
  );
  console.log('cells', out.length);
  for (const { problem, converged, ...c } of out)
    if (!converged) console.log(JSON.stringify(c), problem?.slice(0, 1200));
}, 600000);
