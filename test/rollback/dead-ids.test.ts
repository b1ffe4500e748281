import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { kinds } from '../../src/kinds/index.ts';
import { recordsIn } from '../../src/simulator/index.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { ownState, restoreOn } from '../features/recovery/restoring.ts';
import { coveringRows } from '../long.ts';
import { take } from '../snapshot/taking.ts';

/**
 * Something that an agent named was deleted by hand, and a way back leads to the agent that named it: no way writes the id
 * of what is gone. What comes back is linked by its new id, what does not is named.
 */

/** Resources that an agent refers to, by kind: the member of the agent that does, and two of the kind. */
const TARGETS: Readonly<
  Record<
    string,
    { readonly field: (ref: string) => object; readonly yaml: object; readonly path: string }
  >
> = {
  custom_voice: {
    field: (ref) => ({ voice_settings: { voice_id: { $ref: ref } } }),
    yaml: { custom_voices: pair({ clip: 'voices/harbor.wav', consent: true }) },
    path: 'voice_settings.voice_id',
  },
  retry_policy: {
    field: (ref) => ({ default_retry_policy_id: { $ref: ref } }),
    yaml: { retry_policies: pair({ on_exhausted: 'end' }) },
    path: 'default_retry_policy_id',
  },
  email_template: {
    field: (ref) => ({ config: { linked_id: { $ref: ref } } }),
    yaml: { email_templates: pair({ subject: 'Hello' }) },
    path: 'config.linked_id',
  },
  sms_template: {
    field: (ref) => ({ config: { linked_id: { $ref: ref } } }),
    yaml: { sms_templates: pair({ message_type: 'sms', body: 'Hello' }) },
    path: 'config.linked_id',
  },
  agent: {
    field: (ref) => ({ config: { linked_id: { $ref: ref } } }),
    yaml: { agents: pair({}) },
    path: 'config.linked_id',
  },
  knowledge_source: {
    field: (ref) => ({
      config: { linked_id: { $ref: ref.replace('knowledge_source', 'knowledge_source.clinic') } },
    }),
    yaml: {
      knowledge_bases: {
        clinic: {
          id: '7c346549-f8c6-406a-809e-72392ed69b41',
          sources: {
            one: { file: 'documents/prices.csv' },
            two: { url: 'https://harbor.example.test/two' },
          },
        },
      },
    },
    path: 'config.linked_id',
  },
};

function pair(fields: object): object {
  return { one: { name: 'One', ...fields }, two: { name: 'Two', ...fields } };
}

/** Configurations after the change: with what was named, or without. */
const LEFT = ['is still configured', 'is no longer configured'] as const;
const WAYS = ['rollback', 'rollback --to', 'rollback --to, with media', 'restore'] as const;

type Row = {
  readonly kind: string;
  readonly left: (typeof LEFT)[number];
  readonly way: (typeof WAYS)[number];
};
const ROWS: readonly Row[] = Object.keys(TARGETS).flatMap((kind) =>
  LEFT.flatMap((left) => WAYS.map((way) => ({ kind, left, way }))),
);

async function goThrough(stage: Stage, { kind, left, way }: Row): Promise<void> {
  const target = TARGETS[kind];
  if (target === undefined) throw new Error(`${kind} has no row`);
  await stage.remove('agents.yaml');
  await stage.remove('resources.yaml');
  await stage.write('targets.yaml', JSON.stringify(target.yaml));
  const write = (to: string, greeting: string) =>
    stage.write(
      'user.yaml',
      JSON.stringify({
        agents: {
          user: { name: 'User', greeting_message: greeting, ...target.field(`${kind}.${to}`) },
        },
      }),
    );
  await write('one', 'Then');
  await stage.apply();
  const user = () => recordsIn(stage.sim.store, 'agent').find(({ name }) => name === 'User');
  const text = () => JSON.stringify(user());
  const gone = recordsIn(stage.sim.store, kind).find(({ id }) => text().includes(String(id)));
  const id = String(gone?.id);
  const { file } = await take(stage, 'then.snapshot', { media: way.endsWith('media') });
  await write('two', 'Since');
  if (left === 'is no longer configured') {
    const yaml = JSON.stringify(target.yaml, (name, value) => (name === 'one' ? undefined : value));
    await stage.write('targets.yaml', yaml);
    const { store } = stage.sim;
    for (const all of [store.agents, store.retryPolicies, store.emailTemplates, store.smsTemplates])
      if (all.has(id)) all.delete(id);
  }
  await stage.apply({ allowDelete: true });
  const { store } = stage.sim;
  const { agents, retryPolicies, emailTemplates, smsTemplates, voices, sources } = store;
  for (const all of [agents, retryPolicies, emailTemplates, smsTemplates, voices, sources])
    all.delete(id);
  const since = stage.writes().length;
  const said =
    way === 'restore'
      ? await restoreOn(
          stage,
          file,
          { state: ownState(stage), format: 'text', over: true, mapTexts: true },
          { exit: [0, 3] },
        )
      : await stage.run(
          (to) => {
            const flags: RollbackFlags = {
              ...{ dir: stage.folder, format: 'text', autoApprove: true },
              ...(way === 'rollback' ? {} : { to: file }),
            };
            return rollback(flags, to);
          },
          { exit: [0, 3] },
        );
  const all = `${said.out} ${said.err}`.replace(/\s+/g, ' ');
  const sent = stage.writes().slice(since);
  expect(JSON.stringify(sent.map(({ body }) => body ?? null)), 'no request has it').not.toContain(
    id,
  );
  expect(text(), 'the agent has no dead id').not.toContain(id);
  expect(text(), all).toContain('Then');
  const [linked] = recordsIn(stage.sim.store, kind).filter(
    ({ name, id: now }) =>
      ['One', 'prices.csv'].includes(String(name)) && text().includes(String(now)),
  );
  // Where nothing is linked again, the place that had the id is named.
  if (linked === undefined) expect(all).toContain(target.path);
}

describe('what was deleted by hand', () => {
  const covered = Object.keys(TARGETS).sort();
  expect(covered).toEqual(kinds.map(({ name }) => name).sort());

  for (const row of coveringRows(ROWS, ({ kind, left, way }) => [kind, left, way]))
    staged(`${row.kind} that ${row.left}: ${row.way}`, (stage) => goThrough(stage, row));
});
