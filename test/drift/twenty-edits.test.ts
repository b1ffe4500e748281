import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DriftCommandFlags, drift } from '../../src/cli/commands/drift.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { Stage } from '../apply/stage.ts';
import { longTest } from '../long.ts';
import { type Edits, JO, MARIA, NIGHT, openFleet } from './edits.ts';

/** Twenty edits by three actors, and an agent that somebody deletes. */
async function editTwenty(stage: Stage, { edit, put, revert, newest, remove }: Edits) {
  await edit('Alpha', { greeting_message: 'Alpha here.' }, MARIA);

  await edit('Bravo', { greeting_message: 'Bravo here.' }, MARIA);
  await edit('Bravo', { voice_settings: { speed: 1.2 } }, MARIA);

  await edit('Charlie', { greeting_message: 'Charlie here.' }, MARIA);
  await edit('Charlie', { model: 'alpha-4o' }, JO);

  await edit('Delta', { outbound_greeting_message: 'Hi!' }, JO);
  await put('Delta', { systemPrompt: 'You answer the phone of a large dental practice.' });

  await edit('Echo', { status: 'inactive' }, JO);

  const foxtrot = newest('Foxtrot');
  await edit('Foxtrot', { greeting_message: 'asdf', model: 'alpha-4o' }, MARIA);
  await revert('Foxtrot', foxtrot);
  await edit('Foxtrot', { greeting_message: 'Foxtrot here.' }, JO);

  const golf = await edit('Golf', { model: 'alpha-4o' }, JO);
  await edit('Golf', { greeting_message: 'Golf here.' }, MARIA);
  await revert('Golf', golf);

  await edit('Hotel', { greeting_message: 'Hotel here.' }, MARIA);
  await edit('Hotel', { greeting_message: 'Harbor Dental, this is Hotel.' }, JO);

  stage.sim.dialect.historyRetention = 2;
  await edit('India', { greeting_message: 'India here.' }, MARIA);
  await edit('India', { model: 'alpha-4o' }, JO);
  await edit('India', { voice_settings: { speed: 0.9 } }, JO);
  stage.sim.dialect.historyRetention = null;

  const [policy] = stage.sim.store.retryPolicies.values();
  if (policy) policy.on_exhausted = 'notify';
  remove('Juliet');
}

async function openEdited() {
  const fleet = await openFleet();
  onTestFinished(fleet.stage.close);
  await editTwenty(fleet.stage, fleet);
  return fleet.stage;
}

const look = async (stage: Stage, format: DriftCommandFlags['format']) =>
  (
    await stage.run((to) => drift({ dir: stage.folder, format, detailedExitcode: true }, to), {
      exit: 2,
      now: () => NIGHT,
    })
  ).out;

/** Each leaf with how sure it is whose edit it was, and the actors that it may have been. */
function attributed({ changes }: PlanDocument): readonly string[] {
  return changes.flatMap(({ address, edits = [], attribution, fields }) =>
    [...fields, ...(attribution ? [{ path: '(gone)', attribution }] : [])].map((leaf) => {
      const { certainty, because, entries } = leaf.attribution ?? { entries: [] };
      const actors = entries.map((id) => edits.find((edit) => edit.id === id)?.actor);
      const named = [...new Set(actors)].join(' ');
      return `${address} ${leaf.path}: ${because ?? certainty} ${named}`.trimEnd();
    }),
  );
}

const API = 'api:e7ac14dd-6755-4b7f-bb6b-7319e7f7b316';

test('twenty edits by three actors: each is attributed, or marked as not attributable', async () => {
  const stage = await openEdited();
  expect(attributed(JSON.parse(await look(stage, 'json')))).toEqual([
    'retry_policy.gentle on_exhausted: no_history',
    `agent.alpha greeting_message: entry ${MARIA}`,
    `agent.bravo greeting_message: actor ${MARIA}`,
    `agent.bravo voice_settings.speed: actor ${MARIA}`,
    `agent.charlie greeting_message: one_of ${JO} ${MARIA}`,
    `agent.charlie model: one_of ${JO} ${MARIA}`,
    `agent.delta outbound_greeting_message: not_recorded ${API} ${JO}`,
    `agent.delta system_prompt: one_of ${API} ${JO}`,
    `agent.echo status: not_recorded ${JO}`,
    `agent.foxtrot greeting_message: entry ${JO}`,
    `agent.golf model: entry ${API}`,
    `agent.india greeting_message: retention ${JO}`,
    `agent.india model: retention ${JO}`,
    `agent.india voice_settings.speed: retention ${JO}`,
    'agent.juliet (gone): gone',
  ]);
  expectGolden('twenty-edits.80.txt', await look(stage, 'text'));
  expectGolden('twenty-edits.md', plainDigest(await look(stage, 'markdown')));
});

test('without times and oldest first, the same is said as far as ids tell it', async () => {
  const { stage, ...edits } = await openFleet({
    dialect: { historyCreatedAt: false, historyOrder: 'oldest' },
  });
  onTestFinished(stage.close);
  await editTwenty(stage, edits);
  const found = attributed(JSON.parse(await look(stage, 'json')));
  expect(found).toContain(`agent.alpha greeting_message: entry ${MARIA}`);
  expect(found).toContain(`agent.charlie model: one_of ${JO} ${MARIA}`);
  expect(found).toContain(`agent.foxtrot greeting_message: entry ${JO}`);
  expect(found).toContain(`agent.india model: retention ${JO}`);
});

longTest('a state that was thrown away is made up for by the times of entries', async () => {
  const { stage, ...edits } = await openFleet();
  onTestFinished(stage.close);
  await stage.forget();
  await stage.apply();
  await edits.edit('Alpha', { greeting_message: 'Alpha here.' }, MARIA);
  const found = attributed(JSON.parse(await look(stage, 'json')));
  expect(found).toEqual([`agent.alpha greeting_message: entry ${MARIA}`]);
});

test('without a state nobody can be named', async () => {
  const { stage, ...edits } = await openFleet();
  onTestFinished(stage.close);
  await stage.forget();
  await edits.edit('Alpha', { greeting_message: 'Alpha here.' }, MARIA);
  const found = attributed(JSON.parse(await look(stage, 'json')));
  expect(found).toEqual(['agent.alpha greeting_message: no_beginning']);
});

test('an actor may be anything: neither a terminal nor a page acts on it', async () => {
  const { stage, edit } = await openFleet();
  onTestFinished(stage.close);
  await edit('Alpha', { greeting_message: 'a' }, '</details>@all <img src=x> \u001b[31m|`x`');
  await edit('Bravo', { greeting_message: 'a' }, MARIA);
  await edit('Bravo', { greeting_message: 'b' }, '\u202e[x](https://x.example.test)\n# x');
  const said = await look(stage, 'text');
  const page = await look(stage, 'markdown');
  for (const unseen of ['\u001b', '\u202e']) expect(said + page).not.toContain(unseen);
  expect(page).not.toMatch(/<img|@all|\]\(|^# x/m);
  // The assumptions.
  expect(page.match(/<\/details>/g)).toHaveLength(1);
});

/** The digest covers the platform's address, whose port is another one every time. */
function plainDigest(text: string): string {
  return text.replace(/sha256:[0-9a-f]{64}/, 'sha256:…');
}

function expectGolden(name: string, text: string): void {
  const file = join(import.meta.dirname, 'golden', name);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
  expect(text, `differs from golden/${name}`).toBe(readFileSync(file, 'utf8'));
}
