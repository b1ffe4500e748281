import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  collectFigures,
  problemsOf,
  readKept,
  withFigures,
} from '../../scripts/reliability/collect.ts';
import { foldersIn } from '../../scripts/reliability/figures.ts';
import { renderReliability } from '../../scripts/reliability/render.ts';
import { matrixResult } from '../kill/table.ts';
import { temporaryFolder } from '../temporary.ts';
import { writeResult } from '../torture/result.ts';

async function folder(): Promise<string> {
  const path = temporaryFolder();
  return path;
}

const mutants = (...statuses: readonly string[]) => ({
  mutants: statuses.map((status) => ({ status })),
});

/** The rows of the page's tables that have figures. */
const rowsOf = (page: string) => page.split('\n').filter((line) => /^\| .*\d/.test(line));

test('mutants are counted by folder, those that never ran for nothing', () => {
  const files = {
    'src/diff/a.ts': mutants('Killed', 'Timeout', 'Survived', 'Ignored', 'CompileError'),
    'src/diff/b.ts': mutants('NoCoverage', 'RuntimeError', 'Pending'),
    'src/plan/c.ts': mutants('Killed'),
  };
  expect(foldersIn(files)).toEqual([
    { folder: 'src/diff', files: 2, detected: 2, undetected: 2 },
    { folder: 'src/plan', files: 1, detected: 1, undetected: 0 },
  ]);
});

const killed = (scenario: string, name: string, nth: number, converged = true) => ({
  scenario,
  name,
  nth,
  converged,
});

test('what the long tests write is what the page shows', async () => {
  const path = await folder();
  const tortured = join(path, 'torture.json');
  vi.stubEnv('CALLSHEET_TORTURE_OUT', tortured);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const outcomes = [
    killed('apply', 'before journal intent createAgent', 1),
    killed('apply', 'within journal intent createAgent', 1),
    killed('apply', 'before journal intent updateAgent', 1),
    killed('apply', 'before request POST createAgent', 1),
    killed('apply', 'after request POST createAgent', 1, false),
    killed('rollback', 'before write draft', 1),
    killed('rollback', 'within write draft', 1),
    killed('rollback', 'before rename draft to state.json', 1),
  ];
  await writeResult('kill_matrix', matrixResult(outcomes));
  const made = { requests: 12, cells: 132, platforms: 3, points: 396, converged: 395 };
  await writeResult('makings', made);
  await writeResult('worlds', { worlds: 1500, steps: 3100, faults: 900, seed: 7 });
  await writeResult('stores', {
    file: { 'away for 3 s': '–', 'eight at once': 'right' },
    PostgreSQL: { 'away for 3 s': 'goes on', 'eight at once': 'right' },
  });
  await writeResult('canaries', { positions: 28, commands: 400, checks: 11_200, leaks: 0 });
  const played = { fleet: '40 agents', change: 'nothing', rollouts: 2000, early: 30 };
  await writeResult('rollouts', [
    { ...played, stopped: 33, finished: 1600, hours_to_stop: 153, hours_to_finish: 1308 },
    { ...played, stopped: 0, early: 0, finished: 0, hours_to_stop: null, hours_to_finish: null },
  ]);
  const reports = [join(path, 'pure.json'), join(path, 'way-back.json')];
  const plan = { 'src/plan/a.ts': mutants('Killed', 'Killed', 'Killed', 'Survived') };
  await writeFile(join(path, 'pure.json'), JSON.stringify({ files: plan }));
  expect((await collectFigures(tortured, reports)).mutation).toBeUndefined();
  const back = { 'src/rollback/b.ts': mutants('Killed') };
  await writeFile(join(path, 'way-back.json'), JSON.stringify({ files: back }));

  const measured = { on: '2026-11-22', at: 'abc1234' };
  const figures = withFigures({}, await collectFigures(tortured, reports), measured);
  expect(rowsOf(renderReliability(figures))).toEqual([
    '| apply | 5 | 4 | 1 |',
    '| rollback | 3 | 3 | 0 |',
    '| **all** | 8 | 7 | 1 |',
    '| file: rename | 1 | 0 | 0 | 1 | 0 |',
    '| file: write | 1 | 1 | 0 | 2 | 0 |',
    '| journal `intent` | 2 | 1 | 0 | 3 | 0 |',
    '| request `POST` | 1 | 0 | 1 | 1 | 1 |',
    '| 12 | 132 | 3 | 396 | 395 |',
    '| 1,500 | 3,100 | 900 | 1,500 |',
    '| away for 3 s | – | goes on |',
    '| 28 | 400 | 11,200 | 0 |',
    '| 40 agents | nothing | 2,000 | 1.6 % | 1.5 % | 80.0 % | 18.4 % | 153 | 1,308 |',
    '| 40 agents | nothing | 2,000 | 0.0 % | 0.0 % | 0.0 % | 100.0 % | – | – |',
    '| `src/plan` | 1 | 4 | 3 | 75.0 % |',
    '| `src/rollback` | 1 | 1 | 1 | 100.0 % |',
    '| **all** | 2 | 5 | 4 | 80.0 % |',
  ]);
  expect(problemsOf([{ command: 'npm run torture', exit: 0 }], figures)).toEqual([]);
});

test('what is missing or was never finished is shown as not measured, and named', async () => {
  const path = await folder();
  await writeFile(join(path, 'torn.json'), '{"worlds": {"wor');
  const found = await collectFigures(join(path, 'torn.json'), [join(path, 'none.json')]);
  const figures = withFigures({}, found, { on: '2026-11-22', at: 'abc1234' });
  expect(renderReliability(figures).match(/Not measured/g)).toHaveLength(7);
  const ended = [
    { command: 'npm run torture', exit: 1 },
    { command: 'npm run mutation', exit: null },
    { command: 'npm run other', exit: 0 },
  ];
  expect(problemsOf(ended, figures)).toEqual([
    'npm run torture failed with exit code 1',
    'npm run mutation failed',
    'not measured: kill matrix',
    'not measured: what takes several requests',
    'not measured: random worlds',
    'not measured: stores',
    'not measured: canary secrets',
    'not measured: rollouts judged by calls',
    'not measured: mutation testing',
  ]);
});

test('what one run does not measure stays, with when it was measured', () => {
  const worlds = { worlds: 200, steps: 400, faults: 270, seed: 1 };
  const before = withFigures({}, { worlds }, { on: '2026-11-20', at: 'aaaaaaa' });
  const canaries = { positions: 28, commands: 1, checks: 28, leaks: 0 };
  const page = renderReliability(
    withFigures(before, { canaries }, { on: '2026-11-22', at: 'bbbbbbb' }),
  );
  expect(rowsOf(page)).toEqual(['| 200 | 400 | 270 | 200 |', '| 28 | 1 | 28 | 0 |']);
  expect(page).toContain('Measured on 2026-11-20, at commit aaaaaaa.');
  expect(page).toContain('Measured on 2026-11-22, at commit bbbbbbb.');
});

test('the page shows what is kept beside it', async () => {
  const docs = join(import.meta.dirname, '../../docs/contributing');
  const kept = await readKept(join(docs, 'reliability.json'));
  expect(Object.keys(kept)).not.toEqual([]);
  expect(await readFile(join(docs, 'reliability.md'), 'utf8')).toBe(renderReliability(kept));
});
