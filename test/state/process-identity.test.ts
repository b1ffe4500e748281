import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { identify, isGone, thisMachine } from '../../src/state/lock.ts';
import { withReason } from '../long.ts';
import { deadPid } from './sample.ts';

const here = thisMachine();
const own = identify(process.pid, here);

describe('a process is gone', () => {
  test.each([
    ['when it has ended', identify(deadPid(), here), true],
    ['not while it runs', own, false],
    ['not as far as one knows, on another machine', { ...identify(deadPid(), 'elsewhere') }, false],
    ['not as far as one knows, when its start is unknown', { ...own, started: null }, false],
    ['not as far as one knows, when its number means many', { ...own, pid: -1 }, false],
  ])('%s', (_name, one, gone) => {
    expect(isGone(one, here)).toBe(gone);
  });

  const hasStarts = existsSync('/proc/self/stat');
  const reused = 'when its number has another process';
  test.runIf(hasStarts)(withReason(reused, hasStarts, 'there is no /proc'), () => {
    expect(own.started).toMatch(/^\d+$/);
    expect(isGone({ ...own, started: '1' }, here)).toBe(true);
  });
});
