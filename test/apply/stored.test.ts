import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { plan as showPlan } from '../../src/console/plan.ts';
import { isAlike } from '../../src/core/alike.ts';
import { computeDigest } from '../../src/core/digest.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { without } from '../../src/simulator/json.ts';
import { SEED } from '../e2e/clinic.ts';
import { EVERYTHING_SEED, WHOLE_VERSION } from '../e2e/everything.ts';
import { pulled } from '../features/writing/pull/stage.ts';
import { SECRETS } from '../kinds/agent-sample.ts';
import { isTorture, timeFor } from '../long.ts';
import { forgedState } from '../state/tamper/table.ts';
import { temporaryFolder } from '../temporary.ts';
import { openStage, type Stage, staged } from './stage.ts';

/** Platforms change values on the way (`stores`), and Callsheet remembers both. */

/** Members of every kind that people write freely. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['name', 'description', 'greeting_message', 'outbound_greeting_message'],
  ...['outbound_static_greeting', 'voicemail_message', 'warm_transfer_handoff_instructions'],
  ...['system_prompt', 'transfer_rules', 'friendlyName', 'connection_name', 'calendar_name'],
  ...['email_tool_instructions', 'on_exhausted_target', 'subject', 'body_html'],
  ...['from_name', 'body', 'tags', 'location'],
]);
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['url', 'mcp_endpoint_url', 'voicemail_message_audio_url', 'knowledgebase_links'],
  'success_url',
]);
/** Members that may be empty. */
const EMPTIED: ReadonlySet<string> = new Set([
  ...['description', 'voicemail_message', 'transfer_rules', 'outbound_static_greeting'],
]);

type Spoil = (name: string, text: string) => string;

/** Texts as people have them, spoilt by a draw. */
function spoilBy(draws: () => number): Spoil {
  const pick = (forms: readonly ((text: string) => string)[]) => (text: string) =>
    forms[draws() % forms.length]?.(text) ?? text;
  const same = (text: string) => text;
  const spoilText = pick([
    same,
    (text) => ` ${text} `,
    (text) => `${text}\n\n`,
    (text) => `${text} Cafe\u0301`,
    (text) => `\u00a0${text}\t`,
  ]);
  const spoilLines = pick([same, (text) => `${text}\r\nSecond line.\r\n`]);
  const spoilAddress = pick([
    same,
    (text) => text.replace('harbor.example', 'Harbor.Example'),
    (text) => text.replace(/^https:\/\/([^/]+)\/.*$/, 'https://$1'),
  ]);
  const spoilEmail = pick([same, (text) => text.toUpperCase(), (text) => `Front.${text}`]);
  return (name, text) => {
    if (text.includes('@')) return spoilEmail(text);
    if (ADDRESSES.has(name)) return spoilAddress(text);
    if (!TEXTS.has(name)) return text;
    if (EMPTIED.has(name) && draws() % 4 === 0) return '';
    const isLong = name === 'system_prompt' || name === 'body_html';
    return spoilText(isLong ? spoilLines(text) : text);
  };
}

function spoilt(value: Json, spoil: Spoil, name = ''): Json {
  if (typeof value === 'string') return spoil(name, value);
  if (isList(value)) return value.map((one) => spoilt(one, spoil, name));
  if (!isObject(value) || Object.keys(value).some((key) => key.startsWith('$'))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, spoilt(one, spoil, key)]),
  );
}

/** The stack with everything in it, its texts spoilt. */
function stackOf(draws: () => number): JsonObject {
  const { stack } = WHOLE_VERSION;
  const whole = spoilt(stack, spoilBy(draws)) as JsonObject;
  const agents = Object(whole.agents);
  // It is on the platform already.
  const wired = { ...agents.wired, name: ' Wired\t' };
  return { ...whole, organization: stack.organization ?? '', agents: { ...agents, wired } };
}

/** The records of the platform without what moves by itself: null and an empty text are read as nothing, and a connection made again has another id. */
function liveOf({ sim }: Stage): Json {
  const still = ({ record }: { record: JsonObject }) =>
    without(record, 'updated_at', 'call_count', 'place_fetched_at');
  const { agents, retryPolicies, emailTemplates, smsTemplates, sources, voices } = sim.store;
  return JSON.parse(
    JSON.stringify(
      [
        ...[...agents.values()].map((agent) => [still(agent), agent.payments]),
        ...[retryPolicies, emailTemplates, smsTemplates].map((table) =>
          [...table.values()].map((one) => without(one, 'updated_at', 'version')),
        ),
        [...sources.keys()],
        [...voices.keys()],
      ],
      (key, value) => ([null, ''].includes(value) || key === 'id' ? undefined : value),
    ),
  );
}

const causes = ({ changes }: PlanDocument) =>
  changes.flatMap(({ address, fields }) =>
    fields.map(({ cause, path, before, after }) => [address, path, cause, before, after]),
  );

async function driftOf(stage: Stage): Promise<PlanDocument> {
  const said = await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to));
  return JSON.parse(said.out);
}

async function live(stage: Stage, draws: () => number): Promise<void> {
  for (const [path, content] of Object.entries(WHOLE_VERSION.files))
    await writeFile(join(stage.folder, path), content);
  const write = (stack: JsonObject) => stage.write('callsheet.yaml', JSON.stringify(stack));
  const first = stackOf(draws);
  await write(first);
  await stage.apply();

  // Nothing is left of it: not in a plan that reads everything, not as drift, not for a pull.
  const quiet = async () => {
    // No two runs of a team fall into one second.
    stage.sim.advance(60_000);
    expect(causes(await stage.plan({ refresh: 'full' }))).toEqual([]);
    expect((await driftOf(stage)).changes).toEqual([]);
    const text = await stage.read('callsheet.yaml');
    const { status, kept, refused } = await pulled(stage);
    expect({ status, kept, refused }).toEqual({ status: 'nothing', kept: [], refused: [] });
    expect(await stage.read('callsheet.yaml')).toBe(text);
  };
  await quiet();

  // A real edit is seen, and put back.
  for (const [id, { record }] of stage.sim.store.agents)
    if (String(record.name).trim() === 'Sample' || String(record.name).startsWith('Sample '))
      stage.sim.edit(id, { greeting_message: 'By hand.' });
  const seen = (document: PlanDocument) =>
    document.changes.flatMap(({ address, fields }) =>
      fields.map(({ path, cause, is_alike: isAlike }) => ({ address, path, cause, isAlike })),
    );
  const edit = { address: 'agent.sample', path: 'greeting_message', cause: 'drifted' };
  expect(seen(await driftOf(stage))).toEqual([edit]);
  expect(seen(await stage.plan())).toEqual([edit]);
  await stage.apply();
  await quiet();

  // A real change of the files is planned, and a rollback of it is exact.
  const before = liveOf(stage);
  const second = stackOf(draws);
  const { agents, retry_policies: policies } = second as { [section: string]: JsonObject };
  const longer: JsonObject = {
    ...second,
    agents: { ...agents, sample: { ...Object(agents?.sample), transfer_rules: ' Never. ' } },
    retry_policies: {
      ...policies,
      sample: { ...Object(policies?.sample), on_exhausted_target: 'Elsewhere\r\n' },
    },
    // These are replaced by others, which no rollback takes back.
    custom_voices: first.custom_voices ?? {},
    knowledge_bases: first.knowledge_bases ?? {},
  };
  await write(longer);
  await stage.apply();
  await quiet();
  await stage.rollback();
  expect(liveOf(stage)).toEqual(before);
  await write(first);
  // The second stack had what is live in some places, so that no run wrote it and none is undone there.
  for (const { fields } of (await stage.plan()).changes)
    for (const { before, after } of fields) expect(isAlike(before, after, true)).toBe(true);
  await stage.apply();
  await quiet();

  // Without its state a plan shows the differences once, as ones that the platform may have made.
  await stage.forget();
  const lost = await stage.plan();
  const differing = lost.changes.filter(({ action }) => action !== 'adopt');
  expect(
    [...new Set(differing.map(({ action }) => action))].filter((one) => one !== 'update'),
  ).toEqual([]);
  for (const { fields } of differing)
    for (const field of fields.filter(({ cause }) => cause === 'changed'))
      expect(field, field.path).toMatchObject({ is_alike: true });
  await stage.apply();
  expect(causes(await stage.plan({ refresh: 'full' }))).toEqual([]);
  expect(liveOf(stage)).toEqual(before);
}

const FORMS = ['trim', 'lines', 'compose', 'lower', 'slash', 'null'] as const;

const dialects = (counters: Dialect['counters']) =>
  fc.record({
    stores: fc.uniqueArray(fc.constantFrom(...FORMS), { minLength: 1 }),
    merge: fc.constantFrom('deep', 'shallow'),
    emptyText: fc.constantFrom('kept', 'null', 'absent'),
    unset: fc.constantFrom('absent', 'null'),
    listFields: fc.constantFrom('some', 'fewest', 'all'),
    historyLagMs: fc.constantFrom(0, 40),
    counters: fc.constant(counters),
  });

describe.each(['still', 'moving'] as const)(
  'what a platform stores otherwise, counters %s',
  (counters) => {
    const count = isTorture ? 20 : counters === 'still' ? 2 : 1;
    test(
      'is remembered: nothing is planned, drifted or pulled for it, and everything else is',
      () =>
        fc.assert(
          fc.asyncProperty(
            dialects(counters),
            fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 }),
            async (dialect, numbers) => {
              let at = 0;
              const draws = () => numbers[at++ % numbers.length] ?? 0;
              const stage = await openStage({
                stack: temporaryFolder(),
                seed: EVERYTHING_SEED,
                dialect: dialect as Partial<Dialect>,
                secrets: SECRETS,
              });
              try {
                await live(stage, draws);
                expect(stage.leaks()).toEqual([]);
              } finally {
                await stage.close();
              }
            },
          ),
          { numRuns: count, endOnFailure: true },
        ),
      timeFor(count * 20),
    );
  },
);

const lines = (...names: readonly string[]) =>
  JSON.stringify({
    callsheet: 1,
    retry_policies: Object.fromEntries(
      names.map((name, at) => [
        `p${at}`,
        { name, on_exhausted_target: 'desk', on_exhausted: 'notify' },
      ]),
    ),
  });

const small = { stack: temporaryFolder(), seed: SEED, secrets: {} } as const;

staged(
  'a name is found again whatever the platform made of it, and nothing is made twice',
  async (stage) => {
    await stage.write('callsheet.yaml', lines(' Gentle ', 'Cafe\u0301\t'));
    await stage.apply();
    await stage.forget();
    const plan = await stage.plan();
    expect(causes(plan)).toEqual([
      ['retry_policy.p0', 'name', 'changed', 'Gentle', ' Gentle '],
      ['retry_policy.p1', 'name', 'changed', 'Caf\u00e9', 'Cafe\u0301\t'],
    ]);
    const { out } = await stage.run((to) => showPlan({ dir: stage.folder, format: 'text' }, to));
    expect(out.match(/the platform may have changed this on the way/g)).toHaveLength(2);
    await stage.apply();
    expect(stage.sim.store.retryPolicies.size).toBe(2);
  },
  { ...small, dialect: { stores: ['trim', 'compose'] } },
);

staged(
  'a pair that somebody forged hides no edit from who reads the plan',
  async (stage) => {
    const env = { CALLSHEET_FINGERPRINT_KEY: '' };
    await stage.write('callsheet.yaml', lines('Gentle'));
    await stage.apply({}, { env });
    for (const policy of stage.sim.store.retryPolicies.values())
      policy.on_exhausted_target = 'somebody-else';
    const stored = computeDigest('somebody-else');
    const forge = (document: JsonObject): JsonObject =>
      JSON.parse(JSON.stringify(document), (key, value) =>
        key === 'on_exhausted_target' ? { ...value, stored } : value,
      );
    const text = await stage.read('.callsheet/state.json');
    await stage.write('.callsheet/state.json', forgedState(text, forge as never, 'left out'));
    for (const { changes, notes } of [
      await stage.plan({ refresh: 'full' }, { env }),
      JSON.parse(
        (await stage.run((to) => drift({ dir: stage.folder, format: 'json' }, to), { env })).out,
      ),
    ]) {
      expect(changes).toEqual([]);
      expect(JSON.stringify(notes)).toContain('on_exhausted_target is \\"somebody-else\\"');
    }
  },
  { ...small, ways: ['apply'] },
);
