import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../../src/state/journal.ts';
import { nextState } from '../../../../src/state/replay.ts';
import { began, deadPid, ended, failureOf, holder, resource, stateWith } from '../../sample.ts';
import { appendAll, doRun, RUN } from '../../stores.ts';
import type { StateFixture } from './fixture.ts';

/** What is done with a state that is not as it was written. */
export function testDamage(makeFixture: () => Promise<StateFixture>): void {
  test('refuses a damaged state, salvages it, and puts another in its place', async () => {
    const fixture = await makeFixture();
    await doRun(fixture.open());
    await fixture.spoil('damaged');
    const store = fixture.open();
    const failure = await failureOf(() => store.load());
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(store.location);
    expect(failure.hint).toContain('state repair');
    expect((await store.runs()).map(({ run }) => run)).toEqual(['r1']);
    const lease = await store.acquire(holder('r2'));
    const salvage = await store.salvage();
    expect(salvage.problem?.message).toBe(failure.message);
    expect(salvage.state?.resources).toEqual({ 'agent.desk': resource('a1') });
    const rebuilt = nextState(salvage.state ?? stateWith({}), 'r2');
    const repair: JournalEntry = ended();
    const aside = await lease.replace(rebuilt, [began('r2', rebuilt.serial - 1), repair]);
    expect(aside).toHaveLength(1);
    expect((await fixture.open().load()).state).toEqual(rebuilt);
    expect((await fixture.open().runs()).map(({ run }) => run)).toEqual(['r2', 'r1']);
    await lease.commit(nextState(rebuilt));
  });

  test('files the journal of a dead run where a state is replaced', async () => {
    const fixture = await makeFixture();
    await appendAll(await fixture.open().acquire(holder('r1', deadPid())), RUN.slice(0, 3));
    const lease = await fixture.open().acquire(holder('r2'));
    await lease.replace(stateWith({}, { last_run: 'r2' }), [began('r2'), ended()]);
    expect((await fixture.open().load()).pending).toEqual([]);
    expect(
      (await fixture.open().runs()).map(({ run, status }) => `${run} ${status}`).sort(),
    ).toEqual(['r1 unfinished', 'r2 done']);
  });

  test('makes nothing of what a newer Callsheet wrote', async () => {
    const fixture = await makeFixture();
    await doRun(fixture.open());
    await fixture.spoil('newer');
    const before = await fixture.dump();
    const store = fixture.open();
    for (const work of [() => store.load(), () => store.salvage()]) {
      const failure = await failureOf(work);
      expect(failure.code).toBe('state');
      expect(failure.message).toContain('newer Callsheet');
    }
    expect(await fixture.dump()).toBe(before);
  });

  test('keeps and shows no credentials', async () => {
    const fixture = await makeFixture();
    const store = fixture.open();
    await doRun(store);
    await fixture.spoil('damaged');
    const { message, hint } = await failureOf(() => fixture.open().load());
    const shown = [store.location, message, hint ?? '', await fixture.dump()].join('\n');
    for (const credential of fixture.credentials) expect(shown).not.toContain(credential);
  });
}
