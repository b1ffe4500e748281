import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import type { Change, PlanDocument } from '../../src/core/plan-document.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { viewFields } from '../../src/render/fields.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { standsForOther } from '../../src/render/value-text.ts';
import { samples } from '../kinds/samples.ts';
import { runs } from '../long.ts';
import { HARBOR, world } from '../world.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

/** What the renderers show, wide enough that no line is broken. The page shows whatever is in a view. */
const VIEWS: Readonly<Record<string, (plan: PlanDocument) => string>> = {
  text: (plan) => renderPlanText(plan, { width: 20_000, color: false, verbose: false }),
  Markdown: (plan) => asSeen(renderPlanMarkdown(plan, { limit: 10_000_000 })),
  HTML: (plan) =>
    plan.changes
      .flatMap((change) => [
        change.name,
        change.organization_id,
        ...viewFields(change, plan, false),
      ])
      .map((view) => JSON.stringify(view))
      .join('\n'),
};

/** A cell as a browser shows it: without its marks, with characters for their numbers, but those that only keep links away. */
function asSeen(markdown: string): string {
  return markdown
    .replace(/<\/?(?:ins|del)>|&#8203;/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

/** Everything that a value is made of, line by line, as far as it can be read anywhere. */
function piecesOf(value: Json): readonly string[] {
  if (value === null || value === '') return [];
  if (isList(value)) return value.flatMap(piecesOf);
  if (isObject(value)) {
    if (standsForOther(value)) return [String(value.path ?? value.$secret ?? value.$ref)];
    return Object.entries(value).flatMap(([key, member]) => [key, ...piecesOf(member)]);
  }
  return String(value)
    .split(/["\n]/)
    .filter((line) => line.trim() !== '');
}

const TOLD = /^(?:key|(?:\w+_)?name|(?:\w+_)?url|method|transport_type)$/;

/** Names and values of a change that a view does not show. */
function missing(change: Change, shown: string): readonly string[] {
  return change.fields.flatMap(({ path, before, after, cause }) => {
    if (cause === 'released' || cause === 'unknown_secret' || path === 'organization_id') return [];
    const names = (parsePath(path) ?? []).map((name) => name.replace(/^\["?|"?\]$/g, ''));
    // An element's path has what it is named by, and `GET https://…` names neither part.
    const wanted = [...names.slice(0, -1), ...piecesOf(after), ...piecesOf(before)];
    const last = names.at(-1) ?? '';
    return [...wanted, last]
      .filter((piece) => !TOLD.test(piece) && !shown.includes(piece))
      .map((piece) => `${path}: ${piece}`);
  });
}

function asLive(value: Json): Json {
  if (isList(value)) return value.map(asLive);
  if (!isObject(value)) return value;
  if ('$secret' in value) return 'canary';
  if ('$ref' in value) return 'an-id';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asLive(member)]));
}

/** A document without elements in any list. */
function emptied(value: Json): Json {
  if (isList(value)) return [];
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, emptied(member)]));
}

describe.each(samples.map((sample) => [`${sample.kind} ${sample.title}`, sample] as const))(
  'a plan of %s',
  (_, { kind, whole, changed }) => {
    const address = kind === 'knowledge_source' ? `${kind}.kb.sample` : `${kind}.sample`;
    const scope = kind === 'knowledge_source' ? { knowledge_base_id: 'kb1' } : {};
    const desired: JsonObject = { ...scope, ...whole };
    const other: JsonObject = { ...desired, ...changed.resource };
    const at = (document: Json) => ({
      [kind]: [
        {
          id: 'a1',
          organization_id: HARBOR,
          ...(asLive(document) as JsonObject),
          name: desired.name ?? 'x',
        },
      ],
    });
    const cases = {
      'that is new': world().desired({ [address]: desired }),
      'with new elements': world()
        .desired({ [address]: { ...desired, lifecycle: { adopt: 'a1' } } })
        .live(at(emptied(desired))),
      'without its elements': world()
        .desired({ [address]: { ...(emptied(desired) as JsonObject), lifecycle: { adopt: 'a1' } } })
        .live(at(desired)),
      'that changes': world()
        .desired({ [address]: { ...other, lifecycle: { adopt: 'a1' } } })
        .live(at(desired)),
    };
    test.each(Object.entries(cases))('%s is shown whole in every view', async (title, made) => {
      const { plan } = await made.plan();
      for (const [name, view] of Object.entries(VIEWS)) {
        const shown = view(plan);
        // A new text of several lines is opened with --verbose; of a changed sentence the changed words are marked.
        const isSentence = (piece: string) => /^\S+: (?:\S+\s+){3}\S/.test(piece);
        const isMarked = (piece: string) =>
          title === 'that changes'
            ? /prompt|body_html/.test(piece) || isSentence(piece)
            : /prompt|body_html/.test(piece) && name === 'text';
        const lost = plan.changes.flatMap((change) => missing(change, shown));
        expect(
          lost.filter((piece) => !isMarked(piece)),
          name,
        ).toEqual([]);
      }
    });
  },
);

test('whatever a new element holds is shown in every view', () => {
  const word = fc.stringMatching(/^[a-z]{6,40}$/);
  const leaf = fc.oneof(word, fc.stringMatching(/^[a-z]{300,1500}$/), fc.integer(), fc.boolean());
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('any'), { maxLength: 20 }),
      fc.dictionary(word, tie('any'), { maxKeys: 20 }),
    ),
  })).any as fc.Arbitrary<Json>;
  const members = fc.dictionary(word, value, { minKeys: 1, maxKeys: 30 });
  fc.assert(
    fc.property(members, fc.boolean(), fc.boolean(), (given, isNew, hasAddress) => {
      const all = { ...given, ...(hasAddress ? { url: 'https://crm.example.test/c' } : {}) };
      const fields = Object.entries(all).map(([key, one]) => fieldOf(`tools[x].${key}`, null, one));
      const change = changeOf({ fields, ...(isNew ? { action: 'create' as const } : {}) });
      for (const [name, view] of Object.entries(VIEWS))
        expect(missing(change, view(planOf([change]))), name).toEqual([]);
    }),
    // Smaller examples take hours to find, and the first one says which piece is missing.
    { numRuns: runs(40), endOnFailure: true },
  );
});
