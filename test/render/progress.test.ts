import { expect, test } from 'vitest';
import { type ProgressView, renderProgress } from '../../src/console/progress.ts';
import { textWidth } from '../../src/render/terminal.ts';

const PLAIN = { width: 80, color: false, verbose: false };

const VIEW: ProgressView = {
  purpose: 'apply',
  seconds: 8,
  retries: 3,
  batches: [
    { kind: 'retry_policy', total: 4, ended: 4, failed: 0 },
    { kind: 'agent', total: 1996, ended: 316, failed: 2 },
  ],
  running: ['agent.a', 'agent.b', 'agent.c', 'agent.d', 'agent.e'],
};

test('a run shows its batches, its rate, what it repeated and what is left', () => {
  expect(renderProgress(VIEW, PLAIN).split('\n')).toEqual([
    'Applying: 320 of 2,000  2 failed, about 42 s left, 40 a second, 3 retries',
    '  retry policies  ████████████████████          4/4',
    '  agents          ███░░░░░░░░░░░░░░░░░    316/1,996  2 failed',
    '  now: agent.a, agent.b, agent.c and 2 more',
    '',
  ]);
});

test.each<[string, Partial<ProgressView>, string]>([
  [
    'nothing is said of the rate at first',
    { seconds: 1 },
    'Applying: 320 of 2,000  2 failed, 3 retries',
  ],
  [
    'a slow one is told by the minute',
    { seconds: 640, retries: 1 },
    'Applying: 320 of 2,000  2 failed, about 56 min left, 30 a minute, 1 retry',
  ],
  [
    'a rollback',
    {
      purpose: 'rollback',
      seconds: 0,
      retries: 0,
      batches: [{ kind: 'agent', total: 2, ended: 0, failed: 0 }],
    },
    'Rolling back: 0 of 2',
  ],
  [
    'at the end nothing is left',
    { batches: [{ kind: 'agent', total: 80, ended: 80, failed: 0 }], retries: 0 },
    'Applying: 80 of 80  10 a second',
  ],
])('%s', (_, changed, head) => {
  expect(renderProgress({ ...VIEW, ...changed }, PLAIN).split('\n')[0]).toBe(head);
});

test.each([20, 40, 60, 80])('no line is as wide as %i columns', (width) => {
  const running = Array.from({ length: 5 }, (_, at) => `agent.${'字'.repeat(20)}${at}`);
  for (const line of renderProgress({ ...VIEW, running }, { ...PLAIN, width }).split('\n')) {
    expect(textWidth(line)).toBeLessThan(Math.max(width, 21));
  }
});

test('an address does nothing to the terminal', () => {
  const text = renderProgress({ ...VIEW, running: ['agent.x["\u001b[2J"]'] }, PLAIN);
  expect(text).not.toContain('\u001b');
});
