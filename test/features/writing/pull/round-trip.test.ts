import fc from 'fast-check';
import { expect, test } from 'vitest';
import { validate } from '../../../../src/console/validate.ts';
import type { JsonObject } from '../../../../src/core/value.ts';
import { openStage, type Stage } from '../../../apply/stage.ts';
import { isTorture, timeFor } from '../../../long.ts';
import { agentId, pulled } from './stage.ts';

const RUNS = Number(process.env.CALLSHEET_RUNS ?? (isTorture ? 60 : 6));
const SEED = Number(process.env.CALLSHEET_SEED ?? 2323);

const maybe = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(members, { requiredKeys: [] });
const orNull = (...values: readonly unknown[]) => fc.constantFrom(null, ...values);
const mostly = (one: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: one, weight: 6 }, fc.constant(null));

/** An edit in the dashboard; a member of null takes away what is there. */
const edits = maybe({
  greeting_message: orNull('', 'Good day: {{name}}', 'Two\nlines'),
  description: orNull('# not a comment', 'null'),
  system_prompt: orNull('New prompt.\n\nSecond part.'),
  timezone: orNull('Europe/Oslo'),
  status: fc.constantFrom('active', 'inactive'),
  voice_settings: mostly(maybe({ speed: orNull(0.9), language: orNull('en'), voice_id: orNull() })),
  config: mostly(maybe({ user_timezone: orNull('UTC') })),
  integrations: mostly(
    maybe({
      smsProvider: mostly(maybe({ account_sid: orNull('AC09'), fromNumber: orNull('+15550199') })),
      ehrProvider: mostly(maybe({ username: orNull('desk') })),
    }),
  ),
  extensions: mostly(maybe({ tools: orNull([]), mcp_servers: orNull([]) })),
}) as fc.Arbitrary<JsonObject>;

const dialects = fc.record({
  merge: fc.constantFrom('deep', 'shallow'),
  emptyText: fc.constantFrom('kept', 'null', 'absent'),
  unset: fc.constantFrom('absent', 'null'),
} as const);

/** What a person then changes in the files that pull wrote. */
const OWN: readonly (readonly [RegExp, string])[] = [
  // Another account needs its token.
  [/account_sid: \S+?(?=, auth_token)/, 'account_sid: AC77'],
  [/speed: [\d.]+/, 'speed: 1.1'],
  [/status: \w+/, 'status: inactive'],
];

test(
  'what pull writes is valid, plans nothing, and is applied with a change beside it',
  async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, dialects, async (first, second, dialect) => {
        const stage = await openStage({ dialect });
        try {
          await stage.apply();
          for (const edit of [first, second]) await pullEdit(stage, edit);
        } finally {
          await stage.close();
        }
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: process.env.CALLSHEET_SHRINK === undefined },
    );
  },
  timeFor(RUNS),
);

async function pullEdit(stage: Stage, edit: JsonObject): Promise<void> {
  stage.sim.edit(agentId(stage, 'Front desk'), edit);
  stage.sim.advance(60_000);
  await pulled(stage, { allowDirty: true, theirs: true });
  await stage.run((to) => validate({ dir: stage.folder, format: 'json' }, to));
  const planned = await stage.plan();
  expect(planned.changes.filter(({ fields }) => fields.length > 0)).toEqual([]);
  await stage.apply();
  const text = await stage.read('agents.yaml');
  const changed = OWN.reduce((yaml, [from, to]) => yaml.replace(from, to), text);
  await stage.write('agents.yaml', changed);
  await stage.apply({ resendSecrets: true });
}
