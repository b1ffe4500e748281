import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../../src/cli/commands/drift.ts';
import { rm, runs } from '../../../src/cli/commands/state.ts';
import { apply } from '../../../src/console/apply.ts';
import { plan } from '../../../src/console/plan.ts';
import type { PlanDocument } from '../../../src/core/plan-document.ts';
import { log } from '../../../src/features/log/show.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { EXAMPLES } from '../../ci/place.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { mortal } from '../../kill/mortal.ts';

const { findPending } = await import(join(EXAMPLES, 'github/actions/callsheet/pending.mjs'));

const NIGHT = `
  night:
    name: Night desk
    status: active
    system_prompt: You take messages.
`;

/** Adds an agent, has the dashboard set something in it, and deletes it by a run, whose id is returned. */
async function deleteNight(stage: Stage): Promise<string> {
  const agents = await stage.read('agents.yaml');
  await stage.write('agents.yaml', agents + NIGHT);
  await stage.apply();
  stage.sim.edit(agentNamed(stage.sim, 'Night desk').id, { language: 'es-US' }, 'user:maria');
  await stage.write('agents.yaml', agents);
  await stage.apply({ allowDelete: true });
  const { state } = await stage.plan();
  expect(state.serial).toBeGreaterThan(1);
  return newestRun(stage);
}

async function newestRun(stage: Stage): Promise<string> {
  const { out } = await stage.run((to) =>
    runs(undefined, { dir: stage.folder, format: 'json' }, to),
  );
  return JSON.parse(out).runs[0].run;
}

const changeOf = ({ changes }: PlanDocument, address = 'agent.night') =>
  changes.find((one) => one.address === address);

async function show(
  stage: Stage,
  format: 'text' | 'markdown',
  command: typeof plan | typeof drift = plan,
): Promise<string> {
  const { out } = await stage.run((to) => command({ dir: stage.folder, format }, to));
  return out
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/<\/?code>|\u200b/g, '')
    .replace(/`/g, '')
    .replace(/\s+/g, ' ');
}

describe('a create of what an earlier run deleted', () => {
  staged('names the run, and the rollback that brings back more', async (stage) => {
    await stage.apply();
    const run = await deleteNight(stage);
    const before = await stage.read('agents.yaml');
    await stage.write('agents.yaml', before + NIGHT);
    const made = await stage.plan();
    const { deleted_by: by } = changeOf(made) ?? {};
    expect(by).toMatchObject({ run, settings: expect.any(Number) });
    expect(by?.settings).toBeGreaterThan(0);
    const command = `callsheet rollback ${run} --target agent.night`;
    for (const format of ['text', 'markdown'] as const) {
      const shown = await show(stage, format);
      expect(shown).toContain(`run ${run} deleted it at `);
      expect(shown).toContain(`${by?.settings} settings that this create does not set`);
      expect(shown).toContain(command);
    }
    // The command does what it says.
    await stage.write('agents.yaml', before);
    await stage.rollback({ target: ['agent.night'] }, {});
    expect(agentNamed(stage.sim, 'Night desk').record.language).toBe('es-US');
  });

  staged('is found by its name, under another address', async (stage) => {
    await stage.apply();
    const run = await deleteNight(stage);
    const agents = await stage.read('agents.yaml');
    await stage.write('agents.yaml', agents + NIGHT.replace('  night:', '  evening:'));
    expect(changeOf(await stage.plan(), 'agent.evening')?.deleted_by).toMatchObject({
      run,
      address: 'agent.night',
    });
  });

  staged('is told only of the last that became of it', async (stage) => {
    await stage.apply();
    await deleteNight(stage);
    const agents = await stage.read('agents.yaml');
    await stage.write('agents.yaml', agents + NIGHT.replace('Night desk', 'Late desk'));
    const digest = (await stage.plan()).digest;
    expect(changeOf(await stage.plan())?.deleted_by).toBeDefined();
    await stage.apply();
    stage.sim.store.agents.delete(agentNamed(stage.sim, 'Late desk').id);
    // It is gone from the platform, and no run deleted it.
    const again = changeOf(await stage.plan());
    expect(again).toMatchObject({ action: 'create', missing_id: expect.any(String) });
    expect(again?.deleted_by).toBeUndefined();
    expect(digest).toMatch(/^sha256:/);
  });

  staged(
    'is told after any number of runs, and after one that died',
    async (stage) => {
      await stage.apply();
      const agents = await stage.read('agents.yaml');
      await stage.write('agents.yaml', agents + NIGHT);
      await stage.apply();
      const { id } = agentNamed(stage.sim, 'Night desk');
      await stage.write('agents.yaml', agents);
      const { outside, isDead } = mortal({ name: 'after request DELETE deleteAgent', nth: 1 });
      const flags = { dir: stage.folder, format: 'json', autoApprove: true } as const;
      await stage.run((to) => apply(undefined, { ...flags, allowDelete: true }, to), {
        exit: 'any',
        outside,
      });
      expect(isDead()).toBe(true);
      expect(stage.sim.store.agents.has(id)).toBe(false);
      for (let greeting = 0; greeting < 3; greeting += 1) {
        await stage.write('agents.yaml', agents.replace('how can I help?', `hello ${greeting}.`));
        await stage.apply();
      }
      await stage.write('agents.yaml', agents + NIGHT);
      expect(changeOf(await stage.plan())?.deleted_by).toMatchObject({
        settings: expect.any(Number),
      });
    },
    { ways: ['apply'] },
  );

  staged(
    'asks the platform nothing more, and the store for the receipt of that run alone',
    async (stage) => {
      await stage.apply();
      await deleteNight(stage);
      const agents = await stage.read('agents.yaml');
      const requestsOf = async () => {
        const before = stage.sim.requests.length;
        let asked = 0;
        await stage.plan(
          {},
          {
            outside: {
              timed: (store) => ({
                ...store,
                run: (id) => {
                  asked += 1;
                  return store.run(id);
                },
              }),
            },
          },
        );
        const reads = stage.sim.requests.slice(before).map(({ operation }) => operation);
        return { asked, reads: reads.filter((one) => one !== 'createToken').sort() };
      };
      const quiet = await requestsOf();
      expect(quiet.asked).toBe(0);
      await stage.write(
        'agents.yaml',
        agents + NIGHT.replace('Night desk', 'Another desk').replace('  night:', '  other:'),
      );
      const unknown = await requestsOf();
      expect(unknown.asked).toBe(0);
      await stage.write('agents.yaml', agents + NIGHT);
      const known = await requestsOf();
      expect(known).toEqual({ ...unknown, asked: 1 });
    },
  );
});

type Again = {
  readonly name: string;
  /** What becomes of the agent's name after its run of deletion. */
  readonly happens: (stage: Stage) => void | Promise<void>;
  readonly isTold: boolean;
};

/** An agent that somebody makes on the platform. */
function plant({ sim }: Stage, name: string, at: string): void {
  const desk = [...sim.store.agents.values()][0];
  if (desk === undefined) throw new Error('no agent is live');
  const id = '6f1c7a52-9d5e-4c11-8a3b-2f0e1d9c8b7a';
  const record = { ...desk.record, id, name, created_at: at, updated_at: at };
  sim.store.agents.set(id, { ...desk, id, record });
}

const soon = () => new Date(Date.now() + 60_000).toISOString();

const AGAIN: readonly Again[] = [
  { name: 'nothing', happens: () => {}, isTold: false },
  {
    name: 'somebody makes it again',
    happens: (stage) => plant(stage, 'Night desk', soon()),
    isTold: true,
  },
  {
    name: 'somebody makes it again, and the platform tells whole seconds',
    happens: (stage) => plant(stage, 'Night desk', new Date().toISOString().replace(/\.\d+/, '')),
    isTold: true,
  },
  {
    name: 'one that was there before has its name',
    happens: (stage) => plant(stage, 'Night desk', '2026-01-01T00:00:00.000Z'),
    isTold: false,
  },
  {
    name: 'somebody makes another one',
    happens: (stage) => plant(stage, 'Late desk', soon()),
    isTold: false,
  },
  {
    name: 'it is configured again',
    async happens(stage) {
      await stage.write('agents.yaml', (await stage.read('agents.yaml')) + NIGHT);
      await stage.apply();
    },
    isTold: false,
  },
  {
    name: 'somebody makes it again, and its address is forgotten',
    async happens(stage) {
      plant(stage, 'Night desk', soon());
      await stage.run((to) => rm(['agent.night'], { dir: stage.folder, format: 'text' }, to));
    },
    isTold: false,
  },
];

describe('a live resource with the name of what a run deleted', () => {
  for (const { name, happens, isTold } of AGAIN)
    staged(`${isTold ? 'is' : 'is not'} told after: ${name}`, async (stage) => {
      await stage.apply();
      await deleteNight(stage);
      await happens(stage);
      const document = await stage.plan();
      expect(document.changes).toEqual([]);
      const returned = document.notes.filter((note) => note.returned !== undefined);
      expect(returned.map(({ address }) => address)).toEqual(isTold ? ['agent.night'] : []);
      // Text, page and drift say the same, and so does the list of what is pending.
      const ways = [plan, drift].flatMap((command) => [
        show(stage, 'text', command),
        show(stage, 'markdown', command),
      ]);
      const shown = await Promise.all(ways);
      for (const text of shown)
        if (isTold) expect(text).toContain('a live agent has its name "Night desk" again');
        else expect(text).not.toContain('has its name');
      const pending = findPending(document, stage.folder);
      expect(pending.map(({ address }: { address: string }) => address)).toEqual(
        isTold ? ['agent.night'] : [],
      );
      // An apply leaves it alone.
      const before = stage.sim.store.agents.size;
      await stage.apply();
      expect(stage.sim.store.agents.size).toBe(before);
    });
});

staged(
  'the log of a rollback that put an edit back names no value that it did not write',
  async (stage) => {
    await stage.apply();
    const { id } = [...stage.sim.store.agents.values()][0] ?? { id: '' };
    stage.sim.edit(id, { greeting_message: 'By hand.' }, 'user:maria');
    await stage.apply();
    await stage.rollback();
    const { out } = await stage.run((to) =>
      log(undefined, { dir: stage.folder, format: 'json' }, to),
    );
    const [newest] = JSON.parse(out).data;
    const field = newest.fields.find((one: { path: string }) => one.path === 'greeting_message');
    expect(newest.purpose).toBe('rollback');
    expect(stage.sim.store.agents.get(id)?.record.greeting_message).toBe('By hand.');
    expect(field.kept.after ? field.after : 'By hand.').toBe('By hand.');
  },
);
