import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { SEED } from '../e2e/clinic.ts';
import { temporaryFolder } from '../temporary.ts';
import { SECRETS } from './agent-sample.ts';
import { type Sample, samples } from './samples.ts';

/** What the specification leaves open; the outcome must be the same under every one. */
export const DIALECTS: readonly (readonly [string, Partial<Dialect>])[] = [
  ['as it is by default', {}],
  ['that replaces nested objects', { merge: 'shallow' }],
  ['that refuses null', { nulls: 'rejected' }],
  ['whose lists show no times', { listUpdatedAt: false }],
  ['whose history lags', { historyLagMs: 60 }],
  ['whose ingestion takes its time', { ingestionReads: 2 }],
];

/** Takes each sample of each kind through its life on these platforms. */
export function liveOnEach(dialects: typeof DIALECTS): void {
  describe.each(dialects)('on a platform %s', (_, dialect) => {
    describe.each(samples.map((sample) => ({ name: `${sample.kind}, ${sample.title}`, sample })))(
      '$name',
      ({ sample }) => {
        test('made, changed, recognised without state, cut down and taken away: settled after each', async () => {
          const stack = temporaryFolder();
          const { seed = SEED } = sample;
          const stage = await openStage({ stack, seed, dialect, secrets: SECRETS });
          try {
            await live(stage, sample, kindNamed(sample.kind));
            expect(stage.leaks()).toEqual([]);
          } finally {
            await stage.close();
          }
        });
      },
    );
  });
}

/** Takes a sample through its life. `apply` checks each time that the second plan is empty. */
async function live(stage: Stage, sample: Sample, kind: Kind) {
  const { update, delete: remove, revert: _, ...operations } = kind.operations;
  const fields = Object.values<FieldSchema>(kind.schema.properties ?? {});
  const create = [...operations.create, ...fields.flatMap((field) => field['x-operations'] ?? [])];
  expect(operations.read).not.toEqual([]);
  const facets = kind.facets.flatMap((facet) => facet.operations);
  const isNew = sample.seed === undefined;
  await writeStack(stage, sample, undefined);
  await stage.apply();

  await writeStack(stage, sample, sample.whole);
  await expectWrites(stage, isNew ? [...create, ...facets] : [...update, ...facets]);

  const before = stored(stage);
  await stage.apply({ resendSecrets: true });
  expect(stored(stage)).toEqual(before);

  await writeStack(stage, sample, sample.changed.resource, sample.changed.files);
  await expectWrites(stage, [...update, ...facets, ...create, ...remove], { allowDelete: true });

  await stage.forget();
  const { changes } = await stage.plan();
  expect(changes.filter(({ action }) => action !== 'adopt')).toEqual([]);
  const since = stage.writes().length;
  await stage.apply();
  expect(stage.writes().length).toBe(since);

  // Clearing needs null; a platform that refuses it keeps the value, which then is nobody's.
  for (const resource of [sample.cut ?? sample.least, sample.least]) {
    await writeStack(stage, sample, resource, sample.changed.files);
    await stage.apply();
  }

  await writeStack(stage, sample, undefined);
  const [line] = await stage.apply({ allowDelete: true });
  expect(line?.action).toBe(kind.delete === undefined ? 'forget' : 'delete');
  expect((await stage.plan()).summary.no_op).toBe(neededBy(sample));
}

/** Beside every sample: a stack with nothing in it is refused when it comes to deleting. */
const KEEPER: JsonObject = { keeper: { name: 'Keeper' } };

function neededBy({ needs = {} }: Sample): number {
  const sections = Object.values({ ...needs, keeper: KEEPER });
  return sections.flatMap((section) => Object.keys(asBlock(section))).length;
}

/** Applies, and only the given operations have written. */
async function expectWrites(
  stage: Stage,
  allowed: readonly string[],
  flags: Parameters<Stage['apply']>[0] = {},
): Promise<void> {
  const since = stage.writes().length;
  await stage.apply(flags);
  const made = stage.writes().slice(since);
  expect(made).not.toEqual([]);
  expect(made.filter(({ operation }) => ![...allowed, 'upload'].includes(operation))).toEqual([]);
  expect(made.filter(({ status }) => status >= 300)).toEqual([]);
}

/** The stack with the sample in it, or without where there is none. */
async function writeStack(
  stage: Stage,
  { kind: name, needs = {}, files: own = {} }: Sample,
  resource: JsonObject | undefined,
  files: Sample['files'] = {},
): Promise<void> {
  const { section, nested } = kindNamed(name);
  const [base] = SEED.knowledge_bases ?? [];
  const [organization] = SEED.organizations ?? [];
  const resources: JsonObject = resource === undefined ? {} : { sample: resource };
  const block = { id: base?.id ?? '', [nested?.key ?? '']: resources };
  const others: JsonObject = {
    ...needs,
    retry_policies: { ...asBlock(needs.retry_policies), ...KEEPER },
  };
  const stack: JsonObject = {
    callsheet: 1,
    organization: organization?.id ?? '',
    ...others,
    [section]: nested === undefined ? { ...asBlock(others[section]), ...resources } : { block },
  };
  for (const [path, content] of Object.entries({ ...own, ...files })) {
    await mkdir(dirname(join(stage.folder, path)), { recursive: true });
    await writeFile(join(stage.folder, path), content);
  }
  // JSON is YAML.
  await stage.write('callsheet.yaml', JSON.stringify(stack, null, 2));
}

function asBlock(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** What the platform holds, without what moves on by itself or with every write. */
function stored({ sim }: Stage): unknown {
  const { history: _, sipChanges: __, sources: ___, ...store } = sim.dump();
  return JSON.parse(
    JSON.stringify(store, (key, value) => (['updated_at', 'version'].includes(key) ? null : value)),
  );
}
