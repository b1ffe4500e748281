import fc from 'fast-check';
import type { TextPart } from '../../src/core/desired.ts';
import type { Change } from '../../src/core/plan-document.ts';
import type { FindSource } from '../../src/plan/groups.ts';
import { changeOf, fieldOf } from '../render/sample.ts';

/**
 * Random fleets whose prompts are edited: one template with the rows of a table, or texts of their own, with edits that
 * are the same in most agents and slightly different in some.
 */

export type Fleet = {
  readonly changes: readonly Change[];
  readonly findSource: FindSource;
  /** Values of the row of an agent. */
  readonly valuesOf: (address: string) => Readonly<Record<string, string>>;
};

type Row = { readonly name: string; readonly street: string; readonly opens: string };

const HEADINGS = ['# Desk', '## Rules', '## Hours', 'Always do this:', 'Never do this:'];
const LINES = [
  ...HEADINGS,
  '- Check who is calling',
  '- Read out card numbers',
  '- Quote prices',
  '- Give advice',
  '',
  'You are the desk of ${each.name}.',
  'We open ${each.opens} to 4.',
  'Find ${each.name} in ${each.street}, from ${each.opens} on.',
];

const line = fc.constantFrom(...LINES);

/** How the lines of a text are edited. Positions are taken modulo their number. */
type Step = readonly [what: 'insert' | 'delete' | 'move' | 'replace', at: number, to: number];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('insert', 'delete', 'move', 'replace'),
  fc.nat({ max: 30 }),
  fc.nat({ max: 30 }),
);

function edit(lines: readonly string[], [what, at, to]: Step): readonly string[] {
  const from = at % (lines.length + 1);
  const other = LINES[to % LINES.length] ?? '';
  switch (what) {
    case 'insert':
      return lines.toSpliced(from, 0, other);
    case 'delete':
      return lines.toSpliced(from, 1);
    case 'replace':
      return lines.toSpliced(from, 1, `${lines[from] ?? ''} now`);
    case 'move': {
      const [moved] = lines.slice(from, from + 1);
      const rest = lines.toSpliced(from, 1);
      return moved === undefined ? rest : rest.toSpliced(to % (rest.length + 1), 0, moved);
    }
    default:
      return what satisfies never;
  }
}

const EXPRESSION = /\$\{each\.(\w+)\}/g;

function partsOf(template: string, row: Row): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { index, 0: expression, 1: column } of template.matchAll(EXPRESSION)) {
    parts.push(template.slice(from, index), { expression, value: valueIn(row, column) });
    from = index + expression.length;
  }
  return [...parts, template.slice(from)];
}

function valueIn(row: Row, column = ''): string {
  return row[column as keyof Row];
}

export function fill(template: string, row: Readonly<Record<string, string>>): string {
  return template.replace(EXPRESSION, (_, column: string) => row[column] ?? '');
}

const row: fc.Arbitrary<Row> = fc.record({
  name: fc.constantFrom('Alder Bay', 'Birch Falls', 'Cedar', 'Quote'),
  street: fc.constantFrom('Main Street', '4 Elm Road', '9 Elm Road'),
  opens: fc.constantFrom('4', '8', '9'),
});

const member = fc.record({
  row,
  /** Where its own edit differs from that of the others. */
  odd: fc.option(fc.array(step, { maxLength: 2 }), { freq: 3 }),
  /** The hour and the street that its row had before. */
  opened: fc.option(fc.constantFrom('4', '8', '9'), { freq: 5 }),
  moved: fc.option(fc.constantFrom('Main Street', 'Mill Lane', '4 Elm Road, floor 2'), { freq: 5 }),
  /** Lines that only its own text has, where it has a text of its own. */
  own: fc.array(line, { maxLength: 2 }),
});

export const fleet: fc.Arbitrary<Fleet> = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 12 }),
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    members: fc.array(member, { minLength: 3, maxLength: 9 }),
    way: fc.constantFrom('template', 'own texts', 'rollback'),
    isEnded: fc.boolean(),
  })
  .map(({ lines, steps, members, way, isEnded }) => {
    const rows = new Map<string, Row>();
    const parts = new Map<string, readonly TextPart[]>();
    const end = isEnded ? '\n' : '';
    const changes = members.flatMap(({ row: values, odd, opened, moved, own }, at): Change[] => {
      const address = `agent.clinic["c${at}"]`;
      const old = way === 'own texts' ? [...own, ...lines] : lines;
      const fresh = (odd ?? steps).reduce(edit, old);
      const [was, is] = [old, fresh].map((text) => text.join('\n') + end) as [string, string];
      const former = { opens: opened ?? values.opens, street: moved ?? values.street };
      const texts = [fill(was, { ...values, ...former }), fill(is, values)];
      const [before, after] = (way === 'rollback' ? texts.toReversed() : texts) as [string, string];
      if (before === after) return [];
      rows.set(address, values);
      if (way !== 'own texts') parts.set(address, partsOf(is, values));
      return [changeOf({ address, fields: [fieldOf('system_prompt', before, after)] })];
    });
    return {
      changes,
      findSource: ({ address }) => ({ file: 'desk.md', parts: () => parts.get(address) }),
      valuesOf: (address) => rows.get(address) ?? {},
    };
  });
