import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { validate } from '../../src/console/validate.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { stateIn } from './state-stage.ts';

// A window of Friday, 2026-11-20, 17:00 to 18:00 in New York: 22:00 to 23:00 UTC.
const WINDOW = '{ reason: Release, zone: America/New_York, weekdays: [fri], hours: 17:00-18:00 }';
const clock = (...times: readonly string[]) => {
  const left = [...times];
  const last = times.at(-1) ?? '';
  return () => new Date(`2026-11-20T${left.shift() ?? last}:00Z`);
};
const before = clock('21:00');
const within = clock('22:30');
const after = clock('23:00');
const SAYS = 'guards.freeze is in force until Fri 2026-11-20 18:00 America/New_York: "Release"';

const greetingOf = ({ sim }: Stage) => agentNamed(sim).record.greeting_message;

/** An applied stack with another greeting to apply and a window to wait for. */
async function change(stage: Stage): Promise<void> {
  await stage.apply({}, { now: before });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  const main = await stage.read('callsheet.yaml');
  await stage.write('callsheet.yaml', `${main}guards: { freeze: [${WINDOW}] }\n`);
}

const OLD = 'Harbor Dental, how can I help?';
const NEW = 'Harbor Dental, good day!';

describe('a freeze window', () => {
  staged('holds plan and apply back while it lasts, and no longer', async (stage) => {
    await change(stage);
    const file = join(stage.folder, 'plan.json');
    const flags = { dir: stage.folder, format: 'text', out: file } as const;
    const { out, err } = await stage.run((to) => plan(flags, to), { exit: 4, now: within });
    expect(out.replace(/\s+/g, ' ')).toContain(SAYS);
    const ends = 'Fri 2026-11-20 18:00 America/New_York';
    expect(err).toContain(`The plan is in ${file}. Apply refuses it until ${ends}.`);
    expect(out.replace(/\s+/g, ' ')).toContain(
      `Frozen until ${ends}: apply does not run this plan meanwhile.`,
    );
    // It is the plan that is applied afterwards: whole, and agreed to by the same digest.
    const kept = JSON.parse(await stage.read('plan.json'));
    expect(kept).toMatchObject({
      digest: (await stage.plan({}, { now: before })).digest,
      freeze: {
        until: '2026-11-20T23:00:00.000Z',
        ends,
        reason: '"Release" (callsheet.yaml:7)',
      },
    });

    const refused = await stage.applyFile('plan.json', {}, { exit: 4, now: within });
    expect(refused.err).toContain(SAYS);
    expect(JSON.parse(refused.out)).toMatchObject({
      status: 'refused',
      refusals: [{ guard: 'freeze', until: '2026-11-20T23:00:00.000Z' }],
    });
    await stage.apply({}, { exit: 4, now: within });
    expect(greetingOf(stage)).toBe(OLD);

    await stage.applyFile('plan.json', {}, { now: after });
    expect(greetingOf(stage)).toBe(NEW);
  });

  longStaged('that begins after the plan was made stops its file', async (stage) => {
    await change(stage);
    const flags = { dir: stage.folder, format: 'text', out: join(stage.folder, 'plan.json') };
    await stage.run((to) => plan({ ...flags, format: 'text' }, to), { now: before });
    const { err } = await stage.applyFile('plan.json', {}, { exit: 4, now: within });
    expect(err).toContain(SAYS);
    expect(greetingOf(stage)).toBe(OLD);
  });

  longStaged('that begins while somebody makes up their mind stops the run', async (stage) => {
    await change(stage);
    // The plan is made at 21:59; the next look at the clock is half an hour later.
    const { err } = await stage.run(
      (to) => apply(undefined, { dir: stage.folder, format: 'text', autoApprove: true }, to),
      { exit: 4, now: clock('21:59', '22:30') },
    );
    expect(err).toContain(SAYS);
    expect(greetingOf(stage)).toBe(OLD);
    expect((await stateIn(stage)).serial).toBe(1);
  });

  staged('is told by validate, which it is no problem of', async (stage) => {
    await change(stage);
    const flags = { dir: stage.folder, format: 'json' } as const;
    const told = async (now: () => Date) =>
      JSON.parse((await stage.run((to) => validate(flags, to), { now })).out).freeze;
    expect(await told(within)).toMatchObject({ until: '2026-11-20T23:00:00.000Z' });
    expect(await told(after)).toBeUndefined();
  });

  staged('is overridden with a reason, which the receipt keeps', async (stage) => {
    await change(stage);
    await stage.apply({ overrideFreeze: ' ' }, { exit: 1, now: within });
    await stage.apply({ overrideFreeze: 'INC-4711' }, { now: within });
    expect(greetingOf(stage)).toBe(NEW);
    const { last_run: run } = await stateIn(stage);
    const receipt = await stage.run((to) =>
      runs(run ?? '', { dir: stage.folder, format: 'json' }, to),
    );
    expect(JSON.parse(receipt.out).entries[0]).toMatchObject({
      overrides: [{ guard: 'freeze', message: expect.stringContaining(SAYS), reason: 'INC-4711' }],
    });
  });

  longStaged('is overridden when it is planned, not when its file is applied', async (stage) => {
    await change(stage);
    const flags = { dir: stage.folder, format: 'text', out: join(stage.folder, 'p.json') } as const;
    await stage.run((to) => plan({ ...flags, overrideFreeze: 'INC-1' }, to), { now: within });
    await stage.applyFile('p.json', { overrideFreeze: 'INC-2' }, { exit: 1, now: within });
    await stage.applyFile('p.json', {}, { now: within });
    expect(greetingOf(stage)).toBe(NEW);
  });

  staged('holds a rollback back, and hinders nobody from looking', async (stage) => {
    await change(stage);
    await stage.apply({}, { now: clock('21:30') });
    await stage.rollback({}, { exit: 4, now: within });
    expect(greetingOf(stage)).toBe(NEW);
    const flags = { dir: stage.folder, format: 'text' } as const;
    await stage.run((to) => plan(flags, to), { now: within });
    await stage.run((to) => drift(flags, to), { now: within });
    await stage.rollback({ overrideFreeze: 'INC-1' }, { now: within });
    expect(greetingOf(stage)).toBe(OLD);
  });
});
