import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { type Stage, staged } from './stage.ts';

/** What somebody sets in the dashboard while a change is applied, and where it is then. */
const EDITS: readonly (readonly [string, JsonObject, (record: JsonObject) => unknown, unknown])[] =
  [
    ['another field', { language: 'es-US' }, ({ language }) => language, 'es-US'],
    [
      'beside the field, in the same object',
      { voice_settings: { voice_id: 'v1', speed: 1, language: 'fr' } },
      ({ voice_settings: settings }) => (settings as JsonObject | undefined)?.language,
      'fr',
    ],
  ];

const CHANGES = [
  ['a text', 'Hello', 'Good day'],
  ['a member of an object', 'speed: 1 ', 'speed: 1.1 '],
] as const;

const AGENT = `agents:
  desk:
    name: Desk
    greeting_message: Hello
    voice_settings: { voice_id: v1, speed: 1 }
`;

/**
 * A change of one agent is applied as often as that takes requests, and somebody edits it as each of them arrives: what
 * they set is live afterwards, or the run says that it is not as it was.
 */
export function editAtEveryStep(
  dialects: Readonly<Record<string, Partial<Dialect>>>,
  changes: readonly (typeof CHANGES)[number][0][] = CHANGES.map(([what]) => what),
): void {
  for (const [name, dialect] of Object.entries(dialects))
    for (const [what, is, will] of CHANGES.filter(([one]) => changes.includes(one)))
      for (const edit of EDITS)
        staged(
          `${name}: ${what} is applied, and somebody edits ${edit[0]}`,
          (stage) => editAtEach(stage, is, will, edit),
          { dialect },
        );
}

async function editAtEach(
  stage: Stage,
  is: string,
  will: string,
  [, patch, valueIn, value]: (typeof EDITS)[number],
): Promise<void> {
  const file = join(stage.folder, 'agents.yaml');
  const run = (exit: readonly number[]) =>
    stage.run(
      (to) => apply(undefined, { dir: stage.folder, format: 'json', autoApprove: true }, to),
      {
        exit,
      },
    );
  await rm(join(stage.folder, 'resources.yaml'));
  const { strike } = stage.sim.faults;
  let outcomes = 0;
  for (let step = 1; ; step += 1) {
    await writeFile(file, AGENT);
    await run([0, 5]);
    stage.sim.edit(agentNamed(stage.sim, 'Desk').id, {
      language: 'en-US',
      voice_settings: { voice_id: 'v1', speed: 1, language: 'en' },
    });
    await run([0, 5]);
    stage.sim.advance(60_000);
    await writeFile(file, AGENT.replace(is.trimEnd(), will.trimEnd()));
    let seen = 0;
    Object.assign(stage.sim.faults, {
      strike: (target: Parameters<typeof strike>[0]) => {
        seen += 1;
        if (seen === step) stage.sim.edit(agentNamed(stage.sim, 'Desk').id, patch, 'user:mina');
        return strike(target);
      },
    });
    const { out } = await run([0, 3, 5]);
    Object.assign(stage.sim.faults, { strike });
    if (seen < step) break;
    const isKept = valueIn(agentNamed(stage.sim, 'Desk').record) === value;
    const { ledger = [] } = JSON.parse(out);
    const isTold = out.includes('user:mina') || ledger.length === 0;
    expect({ step, isKeptOrTold: isKept || isTold, out }).toMatchObject({ isKeptOrTold: true });
    outcomes += 1;
  }
  expect(outcomes).toBeGreaterThan(4);
}
