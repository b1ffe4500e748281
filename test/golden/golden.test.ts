import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../src/platform/operation.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { loadStack, readSecrets } from '../../src/stack/index.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { type JsonObject, Secret } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import { openCallouts } from '../../src/run/context.ts';
import { makePlan } from '../../src/plan/make.ts';
import { parsePlan, parsePlanLines } from '../../src/plan/document.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import { renderPlanJson } from '../../src/render/json.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { TABLES } from '../../src/simulator/index.ts';
import type { State } from '../../src/state/model.ts';
import { emptyState } from '../../src/state/replay.ts';
import { linesIn } from '../../src/state/journal-text.ts';
import { formatState, parseState } from '../../src/state/state-text.ts';
import { memoryReader } from '../memory-reader.ts';
import { fingerprinter, LINEAGE, NO_OPTIONS } from '../world.ts';

/**
 * Plans as people see them. Every folder beside this file is a case; the README says what it holds.
 * `UPDATE_GOLDEN=1` writes the plans anew: read what they then say before it is committed.
 */
const CASES = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The kind of each section of `live.json`, which is in the form of a simulator's seed. */
const KINDS = new Map(TABLES.map(({ kind, seeded }) => [seeded, kind.name]));

/** What secrets of a case are read from. None of it may stand in a plan. */
const ENV = { SMS_TOKEN: 'canary-sms-token', CRM_KEY: 'canary-crm-key', MCP_KEY: 'canary-mcp-key' };

const OPERATIONS: Readonly<Record<string, Operation>> = operations;

function readJson<T>(folder: string, name: string, otherwise: T): T {
  const file = join(folder, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : otherwise;
}

/** `live.json` by kind, and what people did since, by id, from `history.json`. */
function liveOf(folder: string) {
  const live = readJson<Readonly<Record<string, readonly JsonObject[]>>>(folder, 'live.json', {});
  const records = Object.entries(live).map(([section, items]) => {
    const kind = KINDS.get(section);
    if (kind === undefined) throw new Error(`live.json has an unknown section: ${section}`);
    return [kind, items] as const;
  });
  const history = readJson<Readonly<Record<string, readonly HistoryEntry[]>>>(
    folder,
    'history.json',
    {},
  );
  return { records: Object.fromEntries(records), history };
}

/** A state as it stands in a case, without the checksum of a stored one, yet checked like one. */
async function stateOf(folder: string): Promise<State> {
  const state = { ...emptyState(LINEAGE), ...readJson<Partial<State>>(folder, 'state.json', {}) };
  return parseState(await formatState(state), 'state.json');
}

async function planOf(folder: string): Promise<PlanDocument> {
  const loaded = await loadStack({ dir: join(folder, 'stack'), env: ENV, secrets: 'check' });
  expect(loaded.diagnostics).toEqual([]);
  const { stack } = loaded;
  if (stack === undefined) throw new Error('the stack was not loaded');
  const secrets = stack.secrets.map(({ source }) => new Secret(source));
  const { values } = await readSecrets(stack, secrets, ENV);
  const { plan } = await makePlan({
    purpose: 'apply',
    desired: stack.resources,
    prune: true,
    isPreflighted: true,
    claims: [],
    state: await stateOf(folder),
    reader: memoryReader(liveOf(folder)),
    world: {
      findSecret: (source) => values.get(source),
      fingerprints: fingerprinter('the key of golden plans'),
    },
    now: new Date('2026-03-02T08:30:00.000Z'),
    options: NO_OPTIONS,
    guards: stack.guards,
    rules: stack.rules,
    platform: { base_url: 'https://platform.example.test', account_id: 'account-1' },
    organizations: Object.fromEntries(
      Object.entries(stack.organizations).map(([name, id]) => [id, name]),
    ),
    configDigest: stack.digest,
    versions: new Map(),
    findCallouts: await openCallouts(features),
    findAssumption: (operation) => OPERATIONS[operation]?.assumption,
    secondsPerRequest: () => 0.1,
  });
  return plan;
}

function expectGolden(file: string, text: string): void {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

const RENDERERS = {
  'plan.txt': (plan: PlanDocument) =>
    `${renderPlanText(plan, { width: 100, color: false, verbose: false })}\n`,
  'plan.json': renderPlanJson,
  'plan.md': renderPlanMarkdown,
};

// Each test plans on its own, so that whoever breaks the planner on purpose sees which ones notice.
describe.each(CASES)('the plan of %s', (name) => {
  const folder = join(import.meta.dirname, name);

  test.each(Object.entries(RENDERERS))('is %s', async (file, render) => {
    expectGolden(join(folder, file), render(await planOf(folder)));
  });

  test('holds no secret in any form', async () => {
    const plan = await planOf(folder);
    for (const render of Object.values(RENDERERS)) expect(render(plan)).not.toContain('canary');
  });

  test('is read back from its file as it is', async () => {
    const text = renderPlanJson(await planOf(folder));
    expect(renderPlanJson(parsePlan(text, 'plan.json'))).toBe(text);
    expect(await parsePlanLines(linesIn([text]), 'plan.json')).toEqual(parsePlan(text, 'plan.json'));
  });

  test('comes out the same again', async () => {
    expect((await planOf(folder)).digest).toBe((await planOf(folder)).digest);
  });
});

test('there are cases', () => {
  expect(CASES.length).toBeGreaterThan(9);
});
