import { expect, test } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import { kinds } from '../../src/kinds/index.ts';
import { stateIn } from '../cli/state-stage.ts';
import { staged } from './stage.ts';

/** Fields of a kind that need not be given and cannot be changed, but for those that name it. */
const IMMUTABLE = kinds.flatMap(({ name, naturalKey, schema }) =>
  Object.entries(schema.properties ?? {})
    .filter(([field, one]) => {
      const isGiven = schema.required?.includes(field) || naturalKey.flat().includes(field);
      return one['x-immutable'] === true && !isGiven;
    })
    .map(([field, one]) => ({ kind: name, field, clearable: one['x-clearable'] })),
);

test('what cannot be changed cannot be cleared', () => {
  expect(IMMUTABLE.length).toBeGreaterThan(0);
  expect(IMMUTABLE.filter(({ clearable }) => clearable !== false)).toEqual([]);
});

const VOICE = 'voices/harbor.wav, consent: true';

for (const line of ['description: The desk', 'language: fr'])
  staged(`a voice lets go of ${line}`, async (stage) => {
    await stage.remove('agents.yaml');
    await stage.remove('resources.yaml');
    const write = (more: string) =>
      stage.write('voice.yaml', `custom_voices: { one: { name: One, clip: ${VOICE}${more} } }\n`);
    await write(`, ${line}`);
    await stage.apply();
    const [voice] = [...stage.sim.store.voices.values()];
    await write('');
    const { changes, notes } = await stage.plan();
    expect(changes).toEqual([]);
    const [field = ''] = line.split(':');
    expect(notes.map(({ message }) => message)).toContain(
      `${field} is no longer configured; the platform cannot clear it, so its value stays`,
    );
    const flags = { dir: stage.folder, format: 'text', detailedExitcode: true } as const;
    await stage.run((to) => plan(flags, to), { exit: 0 });
    await stage.apply();
    expect([...stage.sim.store.voices.values()]).toEqual([voice]);
    const { leaves } = (await stateIn(stage)).resources['custom_voice.one'] ?? {};
    expect(Object.keys(leaves ?? {})).not.toContain(field);
    expect((await stage.plan()).notes).toEqual([]);
  });
