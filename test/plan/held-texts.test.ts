import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharingTexts } from '../../src/core/texts.ts';
import type { Json } from '../../src/core/value.ts';
import type { LeafChange } from '../../src/diff/compare.ts';
import { groupAlike, withTextSources } from '../../src/plan/groups.ts';
import { extended, heldLightly } from '../../src/plan/held-texts.ts';
import { runs } from '../long.ts';
import { changeOf, fieldOf } from '../render/sample.ts';

/** Characters from which on a text is held lightly. */
const LONG = 10_000;

const line = fc.oneof(
  fc.string({ maxLength: 40 }),
  // Halves of pairs, which no encoding of the wire would keep.
  fc.constantFrom('\ud83d', '\ude00', '\ud83d\ude00', 'Grüße', '\0'),
);
const lines = fc.array(line, { maxLength: 6 }).map((some) => some.join('\n'));
const long = fc
  .tuple(lines, fc.integer({ min: 0, max: 2 }), lines)
  .map(([first, size, end]) => first + 'Greet the caller.\n'.repeat(size * 800) + end);
const edited = fc.tuple(long, long, lines, lines).map(([a, b, was, is]) => {
  return { before: a + was + b, after: a + is + b };
});

function planned(before: Json, after: Json) {
  const text = { before, after };
  const leaf = { path: ['system_prompt'], text: 'system_prompt', cause: 'changed', ...text };
  const change = changeOf({
    before: { name: 'Desk', system_prompt: before, tools: [{ name: 'a', text: before }, before] },
    after: { name: 'Desk', system_prompt: after, tools: [{ name: 'a', text: after }] },
    fields: [fieldOf('system_prompt', before, after), fieldOf('name', 'Desk', 'Desk')],
  });
  return { change, leaves: [leaf as unknown as LeafChange] };
}

/** The long texts that an object itself holds, what is put together when it is read left out. */
function textsHeld(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length < LONG ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(Object.getOwnPropertyDescriptors(value)).flatMap((one) =>
    textsHeld(one.value),
  );
}

describe('the long texts of a change', () => {
  test('read as they were, wherever they differ', () => {
    fc.assert(
      fc.property(edited, ({ before, after }) => {
        const given = planned(before, after);
        const light = heldLightly(given);
        expect(light).toEqual(given);
        expect(JSON.stringify(light)).toBe(JSON.stringify(given));
        expect(Object.keys(light.change)).toEqual(Object.keys(given.change));
      }),
      { numRuns: runs(60) },
    );
  });

  test.each([
    ['an edit of a line', 'Open until five.\n', 'Open until six.\n'],
    ['another text', 'a'.repeat(LONG), 'b'.repeat(LONG)],
    ['a text that goes', 'a'.repeat(LONG), null],
  ])('are held once, on the side of the configuration: %s', (_, was, is) => {
    const whole = 'Greet the caller.\n'.repeat(1000);
    const after = is && whole + is + whole;
    const { change, leaves } = heldLightly(planned(whole + was + whole, after));
    const [field] = withTextSources([change], () => ({ file: 'desk.md' }))[0]?.fields ?? [];
    const there = [...textsHeld(change.fields), ...textsHeld(leaves), ...textsHeld(field)];
    expect(new Set(there)).toEqual(new Set(is === null ? [] : [after]));
    expect(textsHeld(change.before)).toEqual(
      // An element of a list has no getter.
      [whole + was + whole],
    );
  });

  test('that are short or the same on both sides stay what they are', () => {
    const same = 'Greet the caller.\n'.repeat(1000);
    for (const given of [planned('a', 'b'), planned(same, same)]) {
      const { change, leaves } = given;
      const plain = {
        change: { ...change, before: { system_prompt: change.before?.system_prompt ?? null } },
        leaves,
      };
      expect(heldLightly(plain)).toBe(plain);
    }
  });
});

test('a copy with other members reads none of those that are put together', () => {
  const reads: string[] = [];
  const one = {
    get text() {
      reads.push('text');
      return 'a';
    },
    path: 'x',
  };
  const copy = extended<{ text: string; path: string; source?: string }>(one, {
    source: 'desk.md',
  });
  expect(reads).toEqual([]);
  expect(copy).toEqual({ text: 'a', path: 'x', source: 'desk.md' });
});

test('a record that shares the texts of another document is the same record', () => {
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('a', 'b'.repeat(2000), 'c'.repeat(2000), 1, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), tie('value')),
    ),
  })).value;
  const record = fc.dictionary(fc.constantFrom('x', 'y', 'z'), json);
  fc.assert(
    fc.property(record, record, (one, other) => {
      expect(sharingTexts(one, other)).toEqual(one);
    }),
    { numRuns: runs(100) },
  );
});

test.each(['create', 'update'] as const)(
  'the parts of a long text are asked for a bounded number of times, in groups of %s',
  (action) => {
    const asked = new Map<string, number>();
    const rest = 'Greet the caller, and ask for the reason of the call.\n'.repeat(2000);
    const changes = Array.from({ length: 40 }, (_, at) => {
      const text = (word: string) => `${word} clinic ${at} of the group.\n${rest}`;
      const field = fieldOf('system_prompt', action === 'create' ? null : text('Old'), text('New'));
      return changeOf({ address: `agent.clinic["c${at}"]`, action, fields: [field] });
    });
    const groups = groupAlike(changes, ({ address }) => ({
      file: 'desk.md',
      parts: () => {
        asked.set(address, (asked.get(address) ?? 0) + 1);
        const at = /\d+/.exec(address)?.[0] ?? '';
        return ['New clinic ', { expression: '${each.n}', value: at }, ` of the group.\n${rest}`];
      },
    }));
    expect(groups.map(({ addresses }) => addresses.length)).toEqual([40]);
    expect(Math.max(...asked.values())).toBeLessThanOrEqual(3);
  },
);
