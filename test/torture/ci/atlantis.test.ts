import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStage } from '../../ci/atlantis.ts';
import { edited, openPlace } from '../../ci/place.ts';

test('Atlantis applies the plan of the comment, with a state beside its clones', async () => {
  const place = await openPlace();
  const kept = join(place.folder, 'atlantis');
  mkdirSync(kept);
  let clones = 0;
  const clone = () => {
    clones += 1;
    const folder = join(place.folder, `clone-${clones}`);
    execFileSync('git', ['clone', '--quiet', place.origin, folder], { stdio: 'pipe' });
    return folder;
  };
  const first = clone();
  const planned = await runStage('plan', place, first, kept);
  expect(planned, planned.log).toMatchObject({ exit: 0 });
  expect(planned.log).toContain('2 new');
  const applied = await runStage('apply', place, first, kept);
  expect(applied, applied.log).toMatchObject({ exit: 0 });
  expect(place.greeting('Front desk')).toBe('Harbor Dental.');

  // The next pull request has a clone of its own, and the same state.
  place.commit(edited(place, 'agents.yaml', 'Harbor Dental.', 'Good day.'));
  const next = clone();
  const update = await runStage('plan', place, next, kept);
  expect(update.log).toContain('1 agent changes');
  place.sim.edit(place.agent('Front desk'), { greeting_message: 'By hand.' });
  const stale = await runStage('apply', place, next, kept);
  expect(stale, stale.log).toMatchObject({ exit: 5 });
  expect(place.greeting('Front desk')).toBe('By hand.');
});
