import { existsSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { openProgress, trackProgress } from '../../src/console/progress.ts';
import type { OperationStatus } from '../../src/state/journal.ts';
import { staged } from '../apply/stage.ts';
import { changeOf, planOf } from '../render/sample.ts';
import { quietContext } from './quiet-context.ts';

const ended = (address: string, status: OperationStatus) =>
  ({
    type: 'change_ended',
    line: { address, action: 'update', status, id: null, message: null, fields: [], history: null },
  }) as const;

test('a run is followed kind by kind, without what the plan leaves out', () => {
  const tracker = trackProgress(
    planOf([
      changeOf({ address: 'retry_policy.p', kind: 'retry_policy' }),
      changeOf({ address: 'agent.a', kind: 'agent' }),
      changeOf({ address: 'agent.b["x.y"]', kind: 'agent' }),
      changeOf({ address: 'agent.held', kind: 'agent', verdict: 'held' }),
    ]),
  );
  tracker.note({ type: 'run_started', run: 'r', changes: 3 });
  tracker.note({ type: 'change_started', address: 'agent.a', action: 'update' });
  tracker.note({ type: 'change_started', address: 'agent.b["x.y"]', action: 'update' });
  tracker.note(ended('agent.b["x.y"]', 'failed'));
  tracker.note(ended('retry_policy.p', 'done'));
  expect(tracker.view(2, 1)).toEqual({
    purpose: 'apply',
    seconds: 2,
    retries: 1,
    batches: [
      { kind: 'retry_policy', total: 1, ended: 1, failed: 0 },
      { kind: 'agent', total: 2, ended: 1, failed: 1 },
    ],
    running: ['agent.a'],
  });
});

test('on a terminal nothing is drawn once it is closed, even where the run never began', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let drawn = 0;
  const live = {
    draw() {
      drawn += 1;
    },
    end: () => undefined,
  };
  const { context } = quietContext();
  const terminal = { ...context.terminal, live };
  const progress = await openProgress(
    planOf([changeOf({})]),
    { dir: '.' },
    { ...context, terminal },
  );
  await progress.close();
  const before = drawn;
  vi.advanceTimersByTime(10_000);
  expect(drawn).toBe(before);
});

describe('without a terminal', () => {
  /** What is told of a run of which every change takes `seconds`. */
  async function told(count: number, verbose: boolean, seconds = 1, failed = -1) {
    const lines: string[] = [];
    let passed = 0;
    const { context } = quietContext();
    const { terminal } = context;
    const progress = await openProgress(
      planOf(Array.from({ length: count }, (_, at) => changeOf({ address: `agent.a${at}` }))),
      { dir: '.' },
      {
        ...context,
        now: () => new Date(passed * 1000),
        terminal: {
          ...terminal,
          err: (text) => lines.push(text),
          renderErr: { ...terminal.renderErr, verbose },
        },
      },
    );
    for (let at = 0; at < count; at += 1) {
      passed += seconds;
      progress.onEvent(ended(`agent.a${at}`, at === failed ? 'failed' : 'done'));
    }
    await progress.close();
    return lines;
  }

  test('a few changes have a line each, and so have many with --verbose', async () => {
    expect(await told(2, false)).toEqual([
      '[1/2] update agent.a0: done',
      '[2/2] update agent.a1: done',
    ]);
    expect(await told(40, true)).toHaveLength(40);
  });

  test('many have none where they are done at once, but for one that failed', async () => {
    expect(await told(48, false, 0.01, 4)).toEqual(['[5/48] update agent.a4: failed']);
  });

  test('many have a line for each tenth, and one for each that failed', async () => {
    const lines = await told(2000, false, 0.1, 4);
    expect(lines).toHaveLength(11);
    expect(lines.slice(0, 2)).toEqual([
      '[5/2000] update agent.a4: failed',
      'Applying: 200 of 2,000',
    ]);
    expect(lines.at(-1)).toBe('Applying: 2,000 of 2,000');
  });

  test('a slow run is not silent for long', async () => {
    expect((await told(1000, false, 15)).slice(0, 2)).toEqual([
      'Applying: 2 of 1,000',
      'Applying: 4 of 1,000',
    ]);
  });
});

/** A file that takes nothing: to write to it is to write on a full disk. */
const FULL = '/dev/full';

describe.runIf(existsSync(FULL))('a disk that is full under --events', () => {
  staged('ends the events with a warning, and never the run', async (stage) => {
    const flags = { dir: stage.folder, format: 'json', autoApprove: true, events: FULL } as const;
    const { out, err } = await stage.run((to) => apply(undefined, flags, to));
    const { run, status } = JSON.parse(out);
    expect(status).toBe('done');
    expect(JSON.parse(await stage.read('.callsheet/state.json')).last_run).toBe(run);
    expect(err).toContain(`Warning: --events ${FULL} ends here: the disk is full`);
  });
});
