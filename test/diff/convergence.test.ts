import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Path, startsWith } from '../../src/core/path.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { rememberLeaf } from '../../src/diff/applied.ts';
import { compare, isWritten, type LeafChange } from '../../src/diff/compare.ts';
import { type Leaf, listLeaves, liveForm } from '../../src/diff/leaves.ts';
import { mergeDocuments } from '../../src/diff/merge.ts';
import { agent } from '../../src/kinds/agent.ts';
import type { AppliedLeaf } from '../../src/state/model.ts';
import { runs } from '../long.ts';
import { world } from '../world.ts';

/**
 * Whatever is wanted, live and remembered: one write brings the platform to what is wanted, whether it
 * merges what it is sent or replaces it, and leaves alone what nobody configured.
 */
const RUNS = { seed: 20260302, numRuns: runs(400) };
const NOWHERE = world().given();

const text = fc.constantFrom('one', 'two', 'three\n', 'a longer text '.repeat(9));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const nullable = <T>(value: fc.Arbitrary<T>) => optional(fc.option(value, { nil: null, freq: 6 }));
const record = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members).map(compact);
const keyed = (key: string, members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.uniqueArray(record({ [key]: fc.constantFrom('a', 'b', 'c'), ...members }), {
    selector: (element) => element[key],
    maxLength: 3,
  });

const tools = keyed('name', {
  url: text,
  friendlyName: nullable(text),
  headers: optional(keyed('key', { value: optional(text) })),
});
const servers = keyed('connection_name', {
  mcp_endpoint_url: text,
  allowed_tool_names: optional(fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 })),
  auth_headers: optional(record({ A: optional(text), B: optional(text) })),
  initialization_options: optional(record({ a: nullable(text), b: optional(text) })),
});
const documents = record({
  greeting_message: nullable(text),
  description: nullable(text),
  echo_detection: optional(fc.boolean()),
  email: nullable(fc.array(fc.constantFrom('a@x', 'b@x', 'c@x'), { maxLength: 3 })),
  voice_settings: nullable(record({ speed: nullable(fc.integer()), language: nullable(text) })),
  config: optional(
    record({
      deep: nullable(record({ x: nullable(text), y: optional(text) })),
      open: nullable(
        fc.oneof(
          text,
          fc.array(text, { maxLength: 2 }),
          record({ x: nullable(fc.oneof(text, record({ z: text }))), y: optional(text) }),
        ),
      ),
    }),
  ),
  extensions: optional(record({ tools: nullable(tools), mcp_servers: optional(servers) })),
});

/** Without members that are undefined: those were left out. */
function compact(value: Readonly<Record<string, unknown>>): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function remember(document: JsonObject): Record<string, AppliedLeaf> {
  const entries = [...listLeaves(agent.schema, document).leaves.values()].map(
    (leaf) => [leaf.text, rememberLeaf(leaf, 'agent.a', NOWHERE)] as const,
  );
  return Object.fromEntries(
    entries.filter((entry): entry is [string, AppliedLeaf] => entry[1] !== undefined),
  );
}

type Three = {
  readonly desired: JsonObject;
  readonly live: JsonObject;
  readonly applied: JsonObject;
};

function changesOf({ desired, live, applied }: Three): readonly LeafChange[] {
  const sides = {
    address: 'agent.a',
    applied: remember(applied),
    ignore: [],
    isPartial: false,
    resend: false,
  };
  return compare(agent.schema, desired, live, sides, NOWHERE).filter(isWritten);
}

/** What is live after the top-level fields that changed were written. */
function write(three: Three, changes: readonly LeafChange[], merging: 'deep' | 'shallow') {
  const intent = {
    secrets: new Set<string>(),
    cleared: new Set(
      changes.filter(({ after }) => (after ?? null) === null).map(({ text }) => text),
    ),
    ignore: [],
  };
  const merged = mergeDocuments(agent.schema, three.desired, three.live, intent, NOWHERE);
  const after: Record<string, Json> = { ...three.live };
  for (const field of new Set(changes.map(({ path }) => path[0] ?? ''))) {
    const value = merged[field] ?? null;
    after[field] = merging === 'deep' ? mergeDeep(after[field], value) : value;
  }
  return after;
}

function mergeDeep(before: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergeDeep(merged[key], value);
  }
  return merged;
}

/** Paths of what neither the configuration nor the state speaks of. */
function unowned({ desired, live, applied }: Three): readonly (readonly [string, Json])[] {
  const { leaves, lists } = listLeaves(agent.schema, desired);
  const own = [...leaves.values()];
  // A value is displaced by what is wanted in its place, be it an empty object.
  const displaces = (path: Path) => own.some((leaf) => startsWith(leaf.path, path));
  const claims = [
    ...own.filter(ownsBelow).map(({ path }) => path),
    ...[...lists.values()].map(({ path }) => path),
    ...[...listLeaves(agent.schema, applied).leaves.values()].map(({ path }) => elementOf(path)),
  ];
  const found = listLeaves(agent.schema, live).leaves;
  return [...liveForm(agent.schema, live)].filter(([path]) => {
    const at = found.get(path)?.path ?? [];
    const isClaimed = claims.some((claim) => startsWith(at, claim) || startsWith(claim, at));
    return !isClaimed && !displaces(at);
  });
}

/** An empty object owns nothing of what is live below it, unless it is one leaf by its schema. */
function ownsBelow({ value, schema }: Leaf): boolean {
  return !isObject(value) || schema['x-whole'] === true || Object.keys(value).length > 0;
}

/** An element of a list goes as a whole. */
function elementOf(path: readonly string[]): readonly string[] {
  const at = path.findIndex((segment) => segment.startsWith('['));
  return at < 0 ? path : path.slice(0, at + 1);
}

describe.each(['deep', 'shallow'] as const)('a platform with a %s merge', (merging) => {
  test('is what is wanted after one write, and keeps what nobody configured', () => {
    fc.assert(
      fc.property(
        fc.record({ desired: documents, live: documents, applied: documents }),
        (three) => {
          const changes = changesOf(three);
          const live = write(three, changes, merging);
          expect(changesOf({ ...three, live })).toEqual([]);
          expect(changesOf({ ...three, live, applied: three.desired })).toEqual([]);
          const after = liveForm(agent.schema, live);
          for (const [path, value] of unowned(three))
            expect([path, after.get(path)]).toEqual([path, value]);
        },
      ),
      RUNS,
    );
  });
});

test('nothing is to be done where live is what is wanted, whatever was written before', () => {
  fc.assert(
    fc.property(documents, documents, (desired, applied) => {
      const changes = changesOf({ desired, live: desired, applied });
      expect(changes).toEqual([]);
    }),
    RUNS,
  );
});

test('a comparison does not depend on the order of keys or elements', () => {
  const turn = (value: Json): Json => {
    if (Array.isArray(value)) return [...value].reverse().map(turn);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, member]: [string, Json]) => [key, turn(member)]),
    );
  };
  const turned = (document: JsonObject) => turn(document) as JsonObject;
  const causes = (changes: readonly LeafChange[]) =>
    changes.map((change) => `${change.text} ${change.cause}`).sort();
  fc.assert(
    fc.property(documents, documents, documents, (desired, live, applied) => {
      const other = { desired: turned(desired), live: turned(live), applied };
      expect(causes(changesOf(other))).toEqual(causes(changesOf({ desired, live, applied })));
    }),
    RUNS,
  );
});
