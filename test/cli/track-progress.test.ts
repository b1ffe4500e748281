import { expect, test } from 'vitest';
import { trackProgress } from '../../src/console/progress.ts';
import type { OperationStatus } from '../../src/state/journal.ts';
import { changeOf, planOf } from '../render/sample.ts';

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
