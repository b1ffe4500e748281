import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  objectsIn,
  valuesIn,
} from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { ownState, restoreOn, suppliesOf, wipe } from '../features/recovery/restoring.ts';
import { isTorture, timeFor } from '../long.ts';
import { take } from '../snapshot/taking.ts';

/** A field, or a member of open settings, that takes a reference. */
type Place = {
  readonly kind: string;
  readonly path: readonly string[];
  /** The kind that it refers to; undefined: any. */
  readonly target: string | undefined;
  readonly isList: boolean;
};

/** A text in which people write ids. */
type TextField = Pick<Place, 'kind' | 'path'>;

/** Wherever a kind's schema lets a reference stand, read from the keywords alone. */
function listPlaces({ name: kind, schema: root }: Kind): readonly Place[] {
  const visit = (
    field: FieldSchema,
    path: readonly string[],
    isInside: boolean,
  ): readonly Place[] => {
    const place = (more: readonly string[], isList = false): Place => {
      return { kind, path: [...path, ...more], target: undefined, isList };
    };
    if (field.readOnly || field['x-local'] || field['x-config'] !== undefined) return [];
    if (field['x-secret'] || field['x-secrets-inside']) return [];
    const isHere = field['x-ids-inside'] === true;
    const isBelow = isInside || isHere;
    if (field['x-ref'] !== undefined)
      return [{ kind, path, target: field['x-ref'], isList: false }];
    const { type, format, additionalProperties: others, enum: values } = field;
    if (type === undefined && values === undefined)
      return isBelow
        ? [place([]), place([], true), place(['agent_id']), place(['deep', 'ids'], true)]
        : [];
    if (type === 'string') return isHere && format === undefined ? [place([])] : [];
    if (type === 'array') {
      const items = itemSchema(root, field);
      return items['x-ids-inside'] === undefined && items.properties === undefined
        ? []
        : visit(items, [...path, '[]'], isBelow);
    }
    const named = Object.keys(field.properties ?? {}).flatMap((member) =>
      visit(memberSchema(root, field, member), [...path, member], isBelow),
    );
    const isOpen = isBelow && others === true;
    return isOpen
      ? [...named, place(['linked_id']), place(['linked_ids'], true), place(['more', 'linked_id'])]
      : named;
  };
  return Object.keys(root.properties ?? {}).flatMap((member) =>
    visit(memberSchema(root, root, member), [member], false),
  );
}

/** A header has a value that no plain snapshot holds: a restore would ask for it. */
const PLACES = kinds.flatMap(listPlaces).filter(({ path }) => !path.includes('headers'));

/** Texts of agents that people write ids in. */
const TEXTS: readonly TextField[] = kinds
  .filter(({ name }) => name === 'agent')
  .flatMap(({ name: kind, schema: { properties = {} } }) =>
    Object.entries(properties).flatMap(([field, schema]) => {
      const isText = schema['x-prose'] !== undefined || schema['x-ids-inside'] === true;
      const isPlain = [schema.type].flat().includes('string') && schema.format === undefined;
      return isText && isPlain ? [{ kind, path: [field] }] : [];
    }),
  );

const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';
const VOICE = { clip: 'voices/harbor.wav', consent: true };

/** Two resources of each kind and three agents, without references. */
const NODES: Readonly<Record<string, JsonObject>> = {
  'custom_voice.v1': { name: 'Voice one', ...VOICE },
  'custom_voice.v2': { name: 'Voice two', ...VOICE },
  'retry_policy.p1': { name: 'Policy one', on_exhausted: 'hand_over' },
  'retry_policy.p2': { name: 'Policy two', on_exhausted: 'hand_over' },
  'email_template.e1': { name: 'Mail one' },
  'email_template.e2': { name: 'Mail two' },
  'sms_template.s1': { name: 'Text one', message_type: 'sms', body: 'Hello' },
  'sms_template.s2': { name: 'Text two', message_type: 'sms', body: 'Hello' },
  'knowledge_source.base.q1': { url: 'https://harbor.example.test/one' },
  'agent.a1': { name: 'Agent one' },
  'agent.a2': { name: 'Agent two' },
  'agent.a3': { name: 'Agent three' },
};
const ADDRESSES = Object.keys(NODES);
const kindOf = (address: string) => address.split('.')[0] ?? '';

/** One reference of the graph. */
type Link = { readonly from: string; readonly place: Place; readonly to: string };

/** The text that a person wrote by hand. */
type Note = { readonly from: string; readonly text: TextField; readonly to: string };

type Graph = {
  readonly links: readonly Link[];
  readonly notes: readonly Note[];
  readonly gone: readonly string[];
};

const links: fc.Arbitrary<Link> = fc.constantFrom(...PLACES).chain((place) =>
  fc.record({
    place: fc.constant(place),
    from: fc.constantFrom(...ADDRESSES.filter((one) => kindOf(one) === place.kind)),
    to: fc.constantFrom(
      ...ADDRESSES.filter((one) => place.target === undefined || kindOf(one) === place.target),
    ),
  }),
);

const graphs: fc.Arbitrary<Graph> = fc.record({
  links: fc.array(links, { minLength: 4, maxLength: 24 }).map(withoutClashes),
  notes: fc.array(
    fc.record({
      from: fc.constantFrom(...ADDRESSES.filter((one) => kindOf(one) === 'agent')),
      text: fc.constantFrom(...TEXTS),
      to: fc.constantFrom(...ADDRESSES),
    }),
    { maxLength: 4 },
  ),
  gone: fc.subarray(
    ADDRESSES.filter((one) => !/^(custom_voice|knowledge_source)/.test(one)),
    { minLength: 1, maxLength: 6 },
  ),
});

/** One value a place: what stands above or below another one's place is left out. */
function withoutClashes(all: readonly Link[]): readonly Link[] {
  const kept: Link[] = [];
  for (const link of all) {
    const text = link.place.path.join('.');
    const isFree = kept.every(({ from, place }) => {
      const other = place.path.join('.');
      return (
        from !== link.from ||
        !(`${text}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${text}.`))
      );
    });
    if (isFree) kept.push(link);
  }
  return kept;
}

/** A document with a value at a path; `[]` leads to the one element of a list, made of the schema's example. */
function placed(
  root: FieldSchema,
  schema: FieldSchema,
  at: Json | undefined,
  [segment, ...rest]: readonly string[],
  value: Json,
): Json {
  if (segment === undefined) return value;
  if (segment === '[]') {
    const [example] = (schema.examples ?? []) as readonly Json[];
    const [element] = isList(at) ? at : isList(example) ? example : [{}];
    return [placed(root, itemSchema(root, schema), element, rest, value)];
  }
  const object = isObject(at) ? at : {};
  const inner = memberSchema(root, schema, segment);
  return { ...object, [segment]: placed(root, inner, object[segment], rest, value) };
}

/** Gives the value at a path. */
function found(at: Json | undefined, [segment, ...rest]: readonly string[]): Json | undefined {
  if (segment === undefined) return at;
  if (segment === '[]') return found(objectsIn(at)[0], rest);
  return isObject(at) ? found(at[segment], rest) : undefined;
}

function stackOf({ links: all }: Graph, gone: readonly string[]): string {
  const sections = new Map<string, Record<string, Json>>();
  for (const [address, node] of Object.entries(NODES)) {
    if (gone.includes(address)) continue;
    const kind = kinds.find(({ name }) => name === kindOf(address));
    if (kind === undefined) throw new Error(address);
    const own = all.filter(({ from, to }) => from === address && !gone.includes(to));
    const document = own.reduce<Json>((whole, { place, to }) => {
      const ref = { $ref: to };
      const value = place.isList ? [ref, 'queue', ref] : ref;
      return placed(kind.schema, kind.schema, whole, place.path, value);
    }, node);
    const section = sections.get(kind.section) ?? {};
    sections.set(kind.section, section);
    const key = address.split('.').at(-1) ?? '';
    if (kind.nested === undefined) section[key] = document;
    else section.base = { id: BASE, sources: { [key]: document } };
  }
  return JSON.stringify(Object.fromEntries(sections));
}

/** Live records by the kind and the name of each. */
function recordsOf({ sim: { store } }: Stage): ReadonlyMap<string, JsonObject> {
  const all: [string, Iterable<object>][] = [
    ['agent', [...store.agents.values()].map(({ record }) => record)],
    ['retry_policy', store.retryPolicies.values()],
    ['email_template', store.emailTemplates.values()],
    ['sms_template', store.smsTemplates.values()],
    ['knowledge_source', [...store.sources.values()].map(({ record }) => record)],
    ['custom_voice', [...store.voices.values()].map(({ record }) => record)],
  ];
  return new Map(
    all.flatMap(([kind, records]) =>
      [...records].map((record): [string, JsonObject] => {
        const one: JsonObject = JSON.parse(JSON.stringify(record));
        const { name, url } = one;
        const address = ADDRESSES.find(
          (other) =>
            kindOf(other) === kind &&
            (NODES[other]?.name ?? NODES[other]?.url) ===
              (kind === 'knowledge_source' ? url : name),
        );
        return [address ?? `${kind} ${name}`, one];
      }),
    ),
  );
}

/** Ids that any resource ever had, and that a live record names though none has it now. */
function listDead(stage: Stage, ever: Set<string>): readonly string[] {
  const records = recordsOf(stage);
  const live = new Set([...records.values()].map(({ id }) => String(id)));
  for (const id of live) ever.add(id);
  const dead = [...ever].filter((id) => !live.has(id));
  return [...records].flatMap(([address, record]) => {
    const texts = valuesIn(record).filter((one) => typeof one === 'string');
    return dead
      .filter((id) => texts.some((text) => text.includes(id)))
      .map((id) => `${address}: ${id}`);
  });
}

/** Links whose place does not hold the id of what it refers to. */
function listBroken(
  stage: Stage,
  { links: all }: Graph,
  gone: readonly string[],
): readonly string[] {
  const records = recordsOf(stage);
  return all.flatMap(({ from, place, to }) => {
    if (gone.includes(from) || gone.includes(to)) return [];
    const id = records.get(to)?.id;
    const value = found(records.get(from), place.path);
    const wanted = place.isList ? [id, 'queue', id] : id;
    return JSON.stringify(value) === JSON.stringify(wanted)
      ? []
      : [`${from} ${place.path.join('.')} is ${JSON.stringify(value)}, not the id of ${to}`];
  });
}

async function play(graph: Graph): Promise<void> {
  const stage = await openStage();
  const ever = new Set<string>();
  const check = (when: string, gone: readonly string[] = []) => {
    expect([...listDead(stage, ever), ...listBroken(stage, graph, gone)], when).toEqual([]);
  };
  try {
    await stage.remove('agents.yaml');
    await stage.write('resources.yaml', stackOf(graph, []));
    await stage.apply();
    check('once it is applied');
    const configured = new Set(graph.links.map(({ from, place }) => `${from} ${place.path[0]}`));
    const notes = graph.notes.filter(
      ({ from, text }) => !configured.has(`${from} ${text.path[0]}`),
    );
    const before = recordsOf(stage);
    for (const { from, text, to } of notes) {
      const [id, other] = [before.get(from)?.id, before.get(to)?.id];
      stage.sim.edit(String(id), { [text.path[0] ?? '']: `Ask ${other} first.` });
    }
    // A later note in the same text takes the place of an earlier one.
    const last = new Map(notes.map((note) => [`${note.from} ${note.text.path[0]}`, note]));
    const users = [...last.values()].filter(
      ({ from, to }) => graph.gone.includes(to) && !graph.gone.includes(from),
    );
    await stage.write('resources.yaml', stackOf(graph, graph.gone));
    if (users.length > 0) {
      const { changes } = await stage.plan({ allowDelete: true }, { exit: 4 });
      for (const { to, from, text } of users) {
        const { reason = '', verdict } = changes.find(({ address }) => address === to) ?? {};
        expect([verdict, reason], `${from} ${text.path} names ${to}`).toEqual([
          'refused',
          expect.stringContaining('still use'),
        ]);
      }
    }
    await stage.apply({ allowDelete: true, deleteUsed: true });
    await stage.rollback();
    check('once it is rolled back');
    const { file } = await take(stage, 'then.snapshot', { knowledgeBase: [BASE] });
    const supplies = await suppliesOf(stage);
    wipe(stage.sim);
    await restoreOn(stage, file, {
      ...supplies,
      mapTexts: true,
      withoutSecrets: false,
      state: ownState(stage),
    });
    check('once it is restored');
  } finally {
    await stage.close();
  }
}

/** More with CALLSHEET_RUNS=500. */
const RUNS = Number(process.env.CALLSHEET_RUNS ?? (isTorture ? 40 : 4));
/** The same cases in every run; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

test('references of any graph are those of live resources once it is applied, rolled back and restored, and a delete names uses', {
  timeout: timeFor(RUNS),
}, async () => {
  await fc.assert(fc.asyncProperty(graphs, play), {
    seed: SEED,
    numRuns: RUNS,
    endOnFailure: true,
  });
});

/** The texts of the places that a graph has a reference in. */
const placesIn = ({ links: all }: Graph) =>
  new Set(all.map(({ place }) => `${place.kind}.${place.path.join('.')} ${place.isList}`));

test('a reference stands in each place that takes one', { timeout: 120_000 }, async () => {
  const left = new Set(PLACES);
  const seen = new Set<string>();
  for (let round = 0; left.size > 0; round += 1) {
    const all = [...left].map((place, at): Link => {
      const users = ADDRESSES.filter((one) => kindOf(one) === place.kind);
      const others = ADDRESSES.filter((one) => (place.target ?? kindOf(one)) === kindOf(one));
      const [from = '', to = ''] = [users, others].map((some) => some[(at + round) % some.length]);
      return { from, place, to };
    });
    const graph = { links: withoutClashes(all), notes: [], gone: ['agent.a2', 'retry_policy.p1'] };
    for (const { place } of graph.links) left.delete(place);
    for (const place of placesIn(graph)) seen.add(place);
    await play(graph);
  }
  for (const place of [
    'agent.voice_settings.voice_id false',
    'agent.transfer_rules false',
    'agent.config.linked_ids true',
    'retry_policy.on_exhausted_target.agent_id false',
  ])
    expect(seen).toContain(place);
});
