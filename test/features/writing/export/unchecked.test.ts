import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apply } from '../../../../src/console/apply.ts';
import type { Json } from '../../../../src/core/value.ts';
import type { Simulator, SimulatorOptions } from '../../../../src/simulator/index.ts';
import { type ExportStage, expectFaithful, openExportStage, type Secrets } from './stage.ts';

/** A field that nobody documented, as an agent returns it when it is read for the nth time. */
type Field = {
  readonly value: (agent: number, nth: number) => Json;
  readonly isOwned: boolean;
};

const VALUES: Readonly<Record<string, Field>> = {
  shared: { value: () => 'eu', isOwned: true },
  object: { value: () => ({ shard: 7, self: null, tags: ['a'] }), isOwned: true },
  own: { value: (agent) => `shard ${agent}`, isOwned: true },
  counter: { value: (_, nth) => nth + 1, isOwned: false },
  one_counter: { value: (agent, nth) => (agent === 0 ? nth + 1 : 1), isOwned: false },
  inner_counter: { value: (agent, nth) => ({ agent, calls: nth }), isOwned: false },
  time: { value: () => '2026-05-01T09:00:00Z', isOwned: false },
  at_times: { value: (_, nth) => (nth % 2 === 0 ? null : 7), isOwned: false },
};

/** How the platform may spell a name, and how it stands in the files. */
const SPELLINGS: readonly (readonly [returned: string, written: string])[] = [
  ['shard_*', 'shard_*'],
  ['_*', '_*'],
  ['*_2', '*_2'],
  ['*Text', '*Text'],
  ['*_in_words', '*InWords'],
  ['*Twin', '*Twin'],
  ['*_twin', '*_twin'],
];

const camel = (name: string) => name.replace(/(?<=[a-z])_([a-z])/g, (_, a) => a.toUpperCase());
const FIELDS = Object.entries(VALUES).flatMap(([name, field]) =>
  SPELLINGS.map(([returned, written]) => {
    const isCamel = !returned.includes('*_twin');
    return {
      ...field,
      name: returned.replace('*', /[A-Z]/.test(returned) ? camel(name) : name),
      written: isCamel ? camel(written.replace('*', name)) : written.replace('*', name),
    };
  }),
);
/** The write name of a field that the schema has. */
const KNOWN = 'systemPrompt';

async function staged(options: SimulatorOptions): Promise<ExportStage> {
  const stage = await openExportStage(options);
  onTestFinished(stage.close);
  return stage;
}

/** Has every agent return fields that it was never given. */
function invent({ store }: Simulator): void {
  for (const [agent, { record }] of [...store.agents.values()].entries()) {
    Object.assign(record, { [KNOWN]: 'Speak up.' });
    for (const { name, value } of FIELDS) {
      let nth = 0;
      Object.defineProperty(record, name, { enumerable: true, get: () => value(agent, nth++) });
    }
  }
}

/** Applies what was exported; the requests that wrote something. */
async function writesOfApply(stage: ExportStage, name: string, env: Secrets) {
  const before = stage.sim.requests.length;
  const flags = { dir: join(stage.folder, name), format: 'json' as const, autoApprove: true };
  await stage.run((context) => apply(undefined, flags, context), { env });
  const sent = stage.sim.requests.slice(before);
  return sent.filter(({ method, path }) => method !== 'GET' && !path.includes('token'));
}

/** Exported, planned and exported again by `expectFaithful`, then applied with the state lost and kept. */
async function expectAtRest(stage: ExportStage, unchecked: boolean, factor: boolean) {
  const flags = { unchecked, factor };
  const { document, secrets } = await expectFaithful(stage, flags);
  expect(await writesOfApply(stage, 'first', secrets)).toEqual([]);
  await stage.export('kept', flags);
  expect(await writesOfApply(stage, 'kept', secrets)).toEqual([]);
  await rm(join(stage.folder, 'kept'), { recursive: true });
  const files = [...(await stage.files('first'))].filter(([path]) => path.endsWith('.yaml'));
  return { remarks: document.remarks, text: files.map(([, text]) => text).join('\n') };
}

const rows = [1, 2, 20].flatMap((agents) =>
  [false, true].map((unchecked) => ({ agents, unchecked, factor: agents !== 2 })),
);

test.each(rows)(
  '$agents with undocumented fields, --unchecked $unchecked: in the files as told, or in neither files nor state',
  { timeout: 120_000 },
  async ({ agents, unchecked, factor }) => {
    const stage = await staged({ organizations: 1, agents });
    invent(stage.sim);
    const { remarks, text } = await expectAtRest(stage, unchecked, factor);

    const told = (name: string) =>
      remarks
        .filter(({ path }) => path === name)
        .map(({ reason }) => reason.includes('it is written under unchecked'));
    for (const { name, written, isOwned } of FIELDS) {
      expect(told(name).includes(true), name).toBe(unchecked && isOwned);
      // What was null when it was written needs no remark.
      if (!name.match(/at_?times/i))
        expect(told(name), name).toEqual(Array(agents).fill(unchecked && isOwned));
      expect(new RegExp(`(?<!\\w)${written}:`).test(text), written).toBe(unchecked && isOwned);
    }
    // The write name beside the name that is read is that field.
    expect(told(KNOWN)).toEqual([]);
    expect(text).not.toContain(KNOWN);
    expect(text.includes('unchecked:')).toBe(unchecked);
  },
);

test.each([
  [false, true],
  [true, true],
  [true, false],
])(
  'what every answer has beside what is documented, --unchecked %s, bases %s',
  {
    timeout: 120_000,
  },
  async (unchecked, factor) => {
    const dialect = { unknownFields: true, inventions: 3 };
    const stage = await staged({ organizations: 2, agents: 6, dialect });
    const { text } = await expectAtRest(stage, unchecked, factor);
    expect(text.includes('unchecked:')).toBe(unchecked);
  },
);
