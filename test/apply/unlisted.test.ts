import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { plan } from '../../src/console/plan.ts';
import { isList, isObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Transport } from '../../src/platform/transport.ts';
import { stateIn } from '../cli/state-stage.ts';
import { longRows } from '../long.ts';
import { take } from '../snapshot/taking.ts';
import { idsInState, prepare, SAMPLES, write } from './one-of-each.ts';
import { type Stage, staged } from './stage.ts';

/**
 * A list that leaves out what is there, as a page of one that shifts does, or one that hides what is archived: a list is
 * never the only witness of a deletion.
 */

/** The wire to a platform whose lists leave out what has an id. */
function hiding(id: string) {
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      const answer = await transport.send(request);
      const { body } = answer;
      if (request.method !== 'GET' || !isObject(body) || !isList(body.data)) return answer;
      const data = body.data.filter((one) => !isObject(one) || one.id !== id);
      const { pagination } = body;
      // As if it were not there at all: what a list counts and does not give is noticed.
      const counted = isObject(pagination) && { pagination: { ...pagination, total: data.length } };
      return { ...answer, body: { ...body, data, ...counted } };
    },
  });
  return { outside: { wire } };
}

/** A stage with one resource of the kind, and its id. */
async function begin(stage: Stage, sample: (typeof SAMPLES)[number]): Promise<string> {
  await prepare(stage, sample);
  await write(stage, sample, 'Own', false);
  await stage.apply();
  return (await stateIn(stage)).resources[`${sample.kind}.one`]?.id ?? '';
}

const HAVING_READ = SAMPLES.filter(({ kind }) => kindNamed(kind).get !== undefined);

// In short: one kind whose read is specified, and one whose read is assumed.
for (const sample of longRows(HAVING_READ, ({ kind }) => /^(agent|email_template)$/.test(kind)))
  describe(sample.kind, () => {
    const { get, operations } = kindNamed(sample.kind);
    const read = get?.('').operation;

    staged('is there: one read more tells, and nothing is made', async (stage) => {
      const id = await begin(stage, sample);
      const asked = async (options = {}) => {
        stage.sim.forgetRequests();
        const { changes } = await stage.plan({}, options);
        expect(changes).toEqual([]);
        return stage.sim.requests.map(({ operation }) => operation).sort();
      };
      await asked();
      const before = await asked();
      const hidden = await asked(hiding(id));
      expect(hidden).toEqual([...before, read].sort());
      await stage.apply({}, hiding(id));
      expect(await idsInState(stage)).toEqual([id]);
    });

    staged('is there and no longer configured: it is deleted, not forgotten', async (stage) => {
      await stage.write('other.yaml', 'email_templates: { other: { name: Other } }\n');
      const id = await begin(stage, sample);
      await stage.remove('one.yaml');
      const { changes } = await stage.plan({ allowDelete: true }, hiding(id));
      expect(changes).toMatchObject([{ action: 'delete', id }]);
      await stage.apply({ allowDelete: true }, hiding(id));
      expect(stage.writes().at(-1)?.operation).toBe(operations.delete[0]);
      expect(await idsInState(stage)).not.toContain(id);
    });

    staged('is there and unknown: lifecycle.adopt takes it', async (stage) => {
      const id = await begin(stage, sample);
      await stage.forget();
      await write(stage, sample, 'Own', false, id);
      const { changes } = await stage.plan({}, hiding(id));
      expect(changes).toMatchObject([{ action: 'adopt', id }]);
      await stage.apply({}, hiding(id));
      expect(await idsInState(stage)).toEqual([id]);
    });

    for (const state of ['kept', 'lost'])
      staged(
        `is there, its state ${state}: a rollback to a snapshot finds it as it was`,
        async (stage) => {
          const id = await begin(stage, sample);
          const { file } = await take(stage);
          if (state === 'lost') await stage.forget();
          const flags = { dir: stage.folder, format: 'json', autoApprove: true, to: file } as const;
          const roll = (exit: number, more = {}) =>
            stage.run((to) => rollback({ ...flags, ...more }, to), { exit, ...hiding(id) });
          const since = stage.writes().length;
          await roll(0);
          expect(stage.writes().length).toBe(since);
          expect(await idsInState(stage)).toEqual([id]);
        },
      );

    if (kindNamed(sample.kind).history !== undefined)
      staged(
        'is there and was edited: a rollback to a snapshot names the author',
        async (stage) => {
          const id = await begin(stage, sample);
          const { file } = await take(stage);
          stage.sim.edit(id, { greeting_message: 'By hand' }, 'kim');
          const flags = { dir: stage.folder, format: 'json', autoApprove: true, to: file } as const;
          const { err } = await stage.run((to) => rollback(flags, to), { exit: 4, ...hiding(id) });
          expect(err).toContain('was edited since the last run, last by kim');
        },
      );

    staged('is gone: it is created again', async (stage) => {
      const id = await begin(stage, sample);
      const { store } = stage.sim;
      for (const table of [store.agents, store.retryPolicies, store.emailTemplates])
        table.delete(id);
      store.smsTemplates.delete(id);
      const { changes } = await stage.plan();
      expect(changes).toMatchObject([{ action: 'create', missing_id: id }]);
      await stage.apply();
      expect(await idsInState(stage)).not.toContain(id);
    });

    staged('that cannot be asked for: nothing is planned', async (stage) => {
      const id = await begin(stage, sample);
      stage.sim.faults.add({ operation: read as 'getAgent', status: 500, times: 40 });
      const context = { dir: stage.folder, format: 'text' } as const;
      const { err } = await stage.run((to) => plan(context, to), { exit: 1, ...hiding(id) });
      expect(err).toContain('answered 500');
    });
  });
