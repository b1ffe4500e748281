import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { formatBeat, formatLockRecord, identify } from '../../src/state/lock.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { began, deadPid, failureOf, holder, intent } from '../state/sample.ts';
import { stateCommands, stateIn, storeOf } from './state-stage.ts';

/** A run of this process that holds the state. */
async function held(stage: Stage) {
  await stage.apply();
  const { lineage } = await stateIn(stage);
  const lease = await storeOf(stage).acquire(holder('r2'));
  await lease.append(began('r2', 1, lineage));
  return lease;
}

describe('state unlock without an id', () => {
  staged('shows who holds the state, since when, and how to end it', async (stage) => {
    const lease = await held(stage);
    const { out } = await stateCommands(stage, 'text').unlock();
    expect(out).toMatch(/The state .+ is\s+locked:/);
    expect(out).toMatch(new RegExp(`lease +${lease.id}`));
    expect(out).toMatch(/held by +apply, run r2/);
    expect(out).toMatch(new RegExp(`of +sam on desk, process ${process.pid}`));
    expect(out).toMatch(/since +2026-03-02T08:30:00\.000Z/);
    expect(out).toMatch(/heartbeat +20\S+Z \((just now|\d+ s ago)\)/);
    expect(out).toMatch(/process +runs on this machine/);
    expect(out).toMatch(new RegExp(`callsheet state unlock ${lease.id}\\s+--stop-run`));
    const told = JSON.parse((await stateCommands(stage).unlock()).out);
    expect(told).toMatchObject({
      format: 'callsheet-lock',
      unlocked: false,
      held: { lease: lease.id, owner: 'running', holder: holder('r2') },
    });
    await lease.append(intent(1, 'agent.desk'));
    await lease.release();
  });

  staged('says so where nobody does', async (stage) => {
    const { out } = await stateCommands(stage, 'text').unlock();
    expect(out).toMatch(/is\s+not\s+locked\./);
  });

  staged('says that a dead one needs no unlocking', async (stage) => {
    await stage.apply();
    const store = storeOf(stage);
    await store.acquire(holder('r2', deadPid()));
    const { out } = await stateCommands(stage, 'text').unlock();
    expect(out).toMatch(/process +has ended\nThere is nothing to do/);
    await store.close();
  });
});

describe('state unlock with an id', () => {
  staged(
    'spares a run that lives here, and --stop-run stops it before its next write',
    async (stage) => {
      const lease = await held(stage);
      const { unlock } = stateCommands(stage);
      const { err } = await unlock(lease.id, false, { exit: 6 });
      expect(err).toMatch(
        new RegExp(`process ${process.pid}, which holds .* runs on this machine`),
      );
      expect(err).toContain(`callsheet state unlock ${lease.id} --stop-run`);
      await lease.append(intent(1, 'agent.desk'));

      expect(JSON.parse((await unlock(lease.id, true)).out).unlocked).toBe(true);
      const failure = await failureOf(() => lease.append(intent(2, 'agent.recall')));
      expect([failure.code, failure.message]).toEqual([
        'locked',
        expect.stringContaining('state unlock of '),
      ]);
      await lease.release();
      // The next command takes the state, settles what was open, and converges.
      await stage.apply();
    },
  );

  staged('ends the lease of another machine', async (stage) => {
    await stage.apply();
    const beat = formatBeat(Date.now());
    const owner = identify(41, 'elsewhere');
    await stage.write(
      join('.callsheet', 'state.lock', '9'),
      formatLockRecord({ beat, id: 'lease-9', owner, holder: holder('r9', 41) }),
    );
    const shown = await stateCommands(stage, 'text').unlock();
    expect(shown.out).toMatch(/process +on another machine/);
    await stateCommands(stage).unlock('lease-9');
    await stage.apply();
  });

  staged('is refused for another id, or for none that holds', async (stage) => {
    const lease = await held(stage);
    const { unlock } = stateCommands(stage);
    const other = await unlock('lease-1', true, { exit: 1 });
    expect(other.err).toContain('lease lease-1 does not hold the state');
    expect(other.err).toContain(`under lease ${lease.id}`);
    await lease.release();
    expect((await unlock(lease.id, true, { exit: 1 })).err).toContain('is not locked');
  });
});
