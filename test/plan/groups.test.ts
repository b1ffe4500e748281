import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change, ColumnEdit, FieldChange } from '../../src/core/plan-document.ts';
import { fillPieces, matchPieces } from '../../src/diff/form.ts';
import { parsePlan, planDigest, withDigest } from '../../src/plan/document.ts';
import { type FindSource, groupAlike, withTextSources } from '../../src/plan/groups.ts';
import { buildOverview } from '../../src/render/overview.ts';
import { isTorture, runs } from '../long.ts';
import { changeOf, fieldOf, planOf } from '../render/sample.ts';
import { type Fleet, fill, fleet } from './fleets.ts';

const agents = (count: number, fields: (at: number) => readonly FieldChange[]): Change[] =>
  Array.from({ length: count }, (_, at) =>
    changeOf({ address: `agent.clinic["c${at + 1}"]`, fields: fields(at + 1) }),
  );

const template: FindSource = () => ({ file: 'prompts/desk.md' });
const own: FindSource = ({ address }) => ({ file: `prompts/${address}.md` });

type Row = Readonly<Record<string, string>>;

const COLUMN = /(\$\{each\.\w+\})/;

/** A template that is filled in for the row of an agent. */
const fromTemplate =
  (text: string, rowOf: (at: number) => Row): FindSource =>
  ({ address }) => {
    const row = rowOf(Number(/\d+/.exec(address)));
    const parts = text.split(COLUMN).map((part, at) => {
      const value = row[part.slice(7, -1)] ?? '';
      return at % 2 === 0 ? part : { expression: part, value };
    });
    return { file: 'prompts/desk.md', parts: () => parts };
  };

const numbered = (at: number): Row => ({ n: `no. ${at}` });

test('a group that was put into a plan file afterwards is noticed', () => {
  const changes = agents(3, (at) => [fieldOf('model', 'a', `b${at}`)]);
  const plan = planOf(changes);
  const honest = JSON.stringify(withDigest(plan));
  expect(parsePlan(honest, 'plan.json').changes).toHaveLength(3);
  const addresses = changes.map(({ address }) => address);
  const group = {
    kind: 'agent',
    action: 'update',
    addresses,
    fields: [{ path: 'model', source: null }],
  };
  const forged = JSON.stringify({ ...JSON.parse(honest), groups: [group] });
  expect(() => parsePlan(forged, 'plan.json')).toThrow(/changed after it was made/);
});

test('a text is named by the file that it is read from', () => {
  const words = ['five', 'six', 'seven', 'eight', 'nine', 'ten'];
  const changes = agents(6, (at) => [
    fieldOf('system_prompt', `Desk ${at}\nOpen.\n`, `Desk ${at}\nOpen until ${words[at - 1]}.\n`),
    fieldOf('description', 'a\n', `b\n${at}`),
  ]);
  const findSource: FindSource = (site) =>
    site.path === 'system_prompt' ? own(site) : { file: 'desk.yaml', line: 3 };
  const named = withTextSources(changes, findSource);
  expect(named.map(({ fields }) => fields.map(({ source }) => source))).toEqual(
    changes.map(({ address }) => [`prompts/${address}.md`, undefined]),
  );
  expect(planDigest(planOf(named))).toBe(planDigest(planOf(changes)));
  const alike = withTextSources(
    agents(4, () => [fieldOf('system_prompt', 'Open until 5.\n', 'Open until 6.\n')]),
    own,
  );
  const groups = groupAlike(alike, own);
  const [group] = buildOverview({ ...planOf(alike), groups }).groups;
  expect(group?.sources).toEqual(alike.map(({ address }) => `prompts/${address}.md`));
  expect(group?.example.fields[0]?.source).toBeUndefined();
});

test.each([
  ['a text of an update', 'update', fieldOf('system_prompt', 'a', 'b'), 'desk.md'],
  ['a text of what is made anew', 'replace', fieldOf('system_prompt', 'a', 'b'), 'desk.md'],
  ['a text of a create', 'create', fieldOf('system_prompt', null, 'b'), undefined],
  ['a number', 'update', fieldOf('voice_settings.speed', 1, 2), undefined],
  ['a secret', 'update', fieldOf('token', 'a', 'b', { secret: true }), undefined],
] as const)('the source of %s in a change of type %s', (_title, action, field, source) => {
  const [change] = withTextSources([changeOf({ action, fields: [field] })], () => ({
    file: 'desk.md',
  }));
  expect(change?.fields[0]?.source).toBe(source);
});

describe('fields that change alike', () => {
  test('one edit of a template is one group, in natural order, with its file', () => {
    const [before, after] = ['5', '6'].map(
      (hour) => `# Desk\nYou are desk \${each.n}. Open until ${hour}.\nNever quote prices.\n`,
    ) as [string, string];
    const changes = agents(12, (at) => [
      fieldOf('system_prompt', fill(before, numbered(at)), fill(after, numbered(at))),
    ]);
    const groups = groupAlike(changes.reverse(), fromTemplate(after, numbered));
    expect(groups).toHaveLength(1);
    const [{ addresses, fields }] = groups as [(typeof groups)[number]];
    expect(addresses.slice(0, 3)).toEqual([1, 2, 3].map((at) => `agent.clinic["c${at}"]`));
    expect(addresses.at(-1)).toBe('agent.clinic["c12"]');
    expect(fields).toEqual([{ path: 'system_prompt', source: 'prompts/desk.md', before, after }]);
  });

  test('what differs stands apart', () => {
    const changes = agents(6, (at) => [
      fieldOf('system_prompt', 'Open until 5.\n', `Open until ${at > 3 ? 7 : 6}.\n`),
      fieldOf('model', 'a', 'b'),
    ]);
    const groups = groupAlike(changes, template);
    expect(groups.map(({ addresses, fields }) => [addresses.length, fields[0]?.path])).toEqual([
      [6, 'model'],
      [3, 'system_prompt'],
      [3, 'system_prompt'],
    ]);
  });

  test('a file is the source of the fields that come from it, and of no others', () => {
    const changes = agents(4, () => [
      fieldOf('system_prompt', 'Desk.\n', 'Desk.\nNew.\n'),
      fieldOf('model', 'a', 'b'),
      fieldOf('language', 'a', 'b'),
    ]);
    const findSource: FindSource = ({ address, path }) =>
      path === 'system_prompt'
        ? { file: `prompts/${address}.md` }
        : { file: 'bases.yaml', line: path === 'model' ? 3 : 7 };
    expect(groupAlike(changes, findSource).map(({ fields }) => fields)).toEqual([
      [{ path: 'system_prompt', source: null }],
      [
        { path: 'model', source: 'bases.yaml:3' },
        { path: 'language', source: 'bases.yaml:7' },
      ],
    ]);
  });

  test('what a limit stops for one reason is a group, what is refused by itself is none', () => {
    const stopped = agents(6, () => [fieldOf('model', 'a', 'b')]).map((change, at) => ({
      ...change,
      verdict: 'refused' as const,
      reason: at === 0 ? 'it is locked' : 'the plan touches 6 of 10 resources',
    }));
    const groups = groupAlike(stopped, template);
    expect(groups.map(({ addresses }) => addresses.length)).toEqual([5]);
    const { groups: shown, alone: changes } = buildOverview(planOf(stopped, { groups }));
    expect(shown).toMatchObject([{ verdict: 'refused', addresses: { length: 5 } }]);
    expect(changes.map(({ change: { address } }) => address)).toEqual(['agent.clinic["c1"]']);
  });

  test('a secret that was not compared is nothing that is left to read of a change', () => {
    const secret = fieldOf('extensions.tools[crm].headers[X].value', '(secret)', '(secret)', {
      cause: 'unknown_secret',
      secret: true,
    });
    const changes = agents(4, (at) => [fieldOf('model', 'a', 'b'), ...(at < 2 ? [secret] : [])]);
    const groups = groupAlike(changes, template);
    expect(buildOverview(planOf(changes, { groups })).alone).toEqual([]);
  });

  test('what is in conflict is read one by one', () => {
    const changes = agents(9, () => [fieldOf('model', 'a', 'b', { cause: 'conflict' })]);
    expect(groupAlike(changes, template)).toEqual([]);
  });

  test('edits of one author that are undone are a group, those of several are not', () => {
    const drifted = (who: string) =>
      agents(4, () => [fieldOf('model', 'a', 'b', { cause: 'drifted' })]).map((change, at) => ({
        ...change,
        reason: `changed outside Callsheet (last by ${at > 1 ? who : 'api:sync'} at 2026-11-2${at}T10:12:03Z, history entry ${at})`,
      }));
    expect(groupAlike(drifted('api:sync'), template)).toHaveLength(1);
    expect(groupAlike(drifted('user:mina'), template)).toEqual([]);
  });

  /** A changed text of the nth agent. */
  type Texts = (at: number) => readonly [before: string, after: string];
  const alikeIn = (count: number, texts: Texts, findSource: FindSource = own) =>
    groupAlike(
      agents(count, (at) => [fieldOf('system_prompt', ...texts(at))]),
      findSource,
    ).map(({ addresses }) => addresses.length);

  const ALWAYS = '# Desk\nAlways do this:\n- a\n- b\n- c\n\n';
  const NEVER = 'Never do this:\n- a\n- b\n- c\n\n';
  /** The edit of the first three agents, and that of the others, of one text. */
  const either =
    (before: string, some: string, others: string): Texts =>
    (at) => [before, at > 3 ? others : some];
  const added = (list: string) => list.replace('- c\n', '- c\n- d\n');
  const turned = (list: string) => list.replace('- a\n- b\n', '- b\n- a\n');

  test.each<[string, Texts, readonly number[]]>([
    [
      'nothing in lines that are far from the change',
      (at) => [`Desk ${at}\n\n\n\n5\n`, `Desk ${at}\n\n\n\n6\n`],
      [6],
    ],
    ['a line beside the changed one', (at) => [`Desk ${at}\n5\n`, `Desk ${at}\n6\n`], []],
    ['the list', either(ALWAYS + NEVER, added(ALWAYS) + NEVER, ALWAYS + added(NEVER)), [3, 3]],
    [
      'the line that introduces the list',
      (at) => {
        const list = `${at > 3 ? 'Always' : 'Never'} do this:\n- a\n- b\n- c\n- d\n`;
        return [list, `${list}- e\n`];
      },
      [3, 3],
    ],
    [
      'a heading above the next one',
      (at) => {
        const text = `# ${at > 3 ? 'Do' : 'Do not'}\n## Prices\na\nb\nc\nd\n`;
        return [text, text.replace('d', 'e')];
      },
      [3, 3],
    ],
    [
      'the list in which a line moves',
      either(ALWAYS + NEVER, turned(ALWAYS) + NEVER, ALWAYS + turned(NEVER)),
      [3, 3],
    ],
    [
      'lines that change places beside an edit that is the same',
      either(`${NEVER}Bye.`, `${NEVER}Good bye.`, `${turned(NEVER)}Good bye.`),
      [3, 3],
    ],
    [
      'which of two equal lines goes',
      either('a\nx\nb\nx\nc\n', 'a\nb\nx\nc\n', 'a\nx\nb\nc\n'),
      [3, 3],
    ],
    ['how often a line comes', either('a\n', 'a\nx\n', 'a\nx\nx\n'), [3, 3]],
    [
      'lines in another order',
      (at) => (at > 3 ? ['One.\nTwo.', 'Two.\nOne.'] : ['One.\nSix.', 'Six.\nOne.']),
      [3, 3],
    ],
  ])('are told apart by %s', (_title, texts, expected) => {
    expect(alikeIn(6, texts)).toEqual(expected);
  });

  test('of rows whose cells change are one group, which lists the edits of each column', () => {
    const text = 'We open ${each.from} to ${each.to}.\nDesk ${each.n}.\n';
    const rowOf = (at: number): Row => ({
      ...numbered(at),
      from: at > 6 ? '8' : '7',
      to: at % 2 === 0 ? '4' : '5',
    });
    const findSource = fromTemplate(text, rowOf);
    const cells: Texts = (at) => [fill(text, { ...rowOf(at), from: '9' }), fill(text, rowOf(at))];
    const changes = agents(12, (at) => [fieldOf('system_prompt', ...cells(at))]);
    const [group, ...others] = groupAlike(changes, findSource);
    expect(others).toEqual([]);
    expect(group?.addresses).toHaveLength(12);
    expect(group?.fields[0]?.columns).toEqual([
      {
        expression: '${each.from}',
        source: null,
        edits: [
          { before: '9', after: '7', addresses: changes.slice(0, 6).map(({ address }) => address) },
          { before: '9', after: '8', addresses: changes.slice(6).map(({ address }) => address) },
        ],
      },
    ]);
    // An edit of the template beside the hours is one of all rows.
    const words: Texts = (at) => [
      fill(text.replace('We open', 'Open'), rowOf(at)),
      fill(text, rowOf(at)),
    ];
    expect(alikeIn(12, words, findSource)).toEqual([12]);
    // The way back has no template, but the rows are the same.
    expect(alikeIn(12, (at) => words(at).toReversed() as [string, string], findSource)).toEqual([
      12,
    ]);
  });

  test('are told by both values where these are no texts', () => {
    const changes = agents(7, (at) => [fieldOf('voice_settings.speed', 1, at > 3 ? 2 : 3)]);
    expect(groupAlike(changes, template).map(({ addresses }) => addresses.length)).toEqual([4, 3]);
  });

  test('are of creates and updates, whatever the reasons, and not of what is made anew', () => {
    for (const action of ['create', 'update', 'replace', 'delete', 'adopt'] as const) {
      const changes = agents(3, () => [fieldOf('model', 'a', 'b')]).map((change, at) => ({
        ...change,
        action,
        reason: at === 0 ? 'found by its name and differs' : 'the configuration changed',
      }));
      const isRead = action === 'create' || action === 'update';
      expect(groupAlike(changes, template).map((group) => group.action)).toEqual(
        isRead ? [action] : [],
      );
    }
  });

  test('stand together where one file has them, on whichever lines', () => {
    const sources: Readonly<Record<string, ReturnType<FindSource>>> = {
      model: { file: 'a:1.yaml', line: 13 },
      language: { file: 'a:1.yaml', line: 170 },
      timezone: { file: 'a:2.yaml', line: 13 },
      description: undefined,
    };
    const changes = agents(3, () =>
      ['model', 'language', 'timezone', 'description', 'status'].map((path) =>
        fieldOf(path, 'a', 'b'),
      ),
    );
    const findSource: FindSource = ({ address, path }) =>
      path === 'status' ? { file: 'a:1.yaml', line: Number(address.match(/\d/)) } : sources[path];
    expect(groupAlike(changes, findSource).map(({ fields }) => fields)).toEqual([
      [
        { path: 'model', source: 'a:1.yaml:13' },
        { path: 'language', source: 'a:1.yaml:170' },
        { path: 'status', source: 'a:1.yaml' },
      ],
      [{ path: 'timezone', source: 'a:2.yaml:13' }],
      [{ path: 'description', source: null }],
    ]);
  });

  test('in thousands of resources are asked a hundred times where they come from', () => {
    let asked = 0;
    const findSource: FindSource = (site) => {
      asked += 1;
      return template(site);
    };
    expect(alikeIn(2000, () => ['a', 'b'], findSource)).toEqual([2000]);
    // Once more for what the row fills in.
    expect(asked).toBe(101);
  });

  test('whatever is put together: each field of each change is shown once', () => {
    const value = fc.constantFrom('a', 'b', 'One line.\nTwo lines.\n', 'One line.\nTwo.\n', null);
    const field = fc.record({
      path: fc.constantFrom('name', 'model', 'system_prompt'),
      before: value,
      after: value,
      cause: fc.constantFrom('changed' as const, 'drifted' as const),
    });
    const change = fc.record({
      action: fc.constantFrom('update' as const, 'create' as const),
      verdict: fc.constantFrom('ok' as const, 'ok' as const, 'refused' as const),
      fields: fc.uniqueArray(field, { maxLength: 3, selector: ({ path }) => path }),
    });
    const drawn = fc.array(change, { maxLength: 12 });
    fc.assert(
      fc.property(drawn, fc.boolean(), (some, isTemplate) => {
        const changes = some.map(({ fields, ...more }, at) =>
          changeOf({
            ...more,
            address: `agent.a${at}`,
            fields: fields.map(({ path, before, after, cause }) =>
              fieldOf(path, before, after, { cause }),
            ),
          }),
        );
        const groups = groupAlike(changes, isTemplate ? template : own);
        const overview = buildOverview(planOf(changes, { groups }));
        const shown = [
          ...overview.groups.flatMap(({ addresses, example }) =>
            addresses.flatMap((address) => example.fields.map(({ path }) => `${address} ${path}`)),
          ),
          ...overview.alone.flatMap(({ change: { address, fields } }) =>
            fields.map(({ path }) => `${address} ${path}`),
          ),
        ];
        const wanted = changes.flatMap(({ address, fields }) =>
          fields.map(({ path }) => `${address} ${path}`),
        );
        expect(shown.sort()).toEqual(wanted.sort());
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('resources that come or go', () => {
  test('rows of one block are one family, whatever else is made beside them', () => {
    const text = 'Desk ${each.n}';
    const rows = agents(6, (at) => [
      fieldOf('greeting_message', null, fill(text, numbered(at))),
      fieldOf('model', null, 'a'),
      ...(at === 6 ? [fieldOf('timezone', null, 'UTC')] : []),
    ]);
    const others = ['x', 'y'].map((name) =>
      changeOf({ address: `agent.${name}`, fields: [fieldOf('model', null, 'a')] }),
    );
    const changes = [...others, ...rows].map((one) => ({ ...one, action: 'create' as const }));
    const rowsOf = fromTemplate(text, numbered);
    const groups = groupAlike(changes, (site) =>
      site.path === 'greeting_message' ? rowsOf(site) : template(site),
    );
    expect(groups.map(({ addresses, fields }) => [addresses.length, fields.length])).toEqual([
      [6, 2],
    ]);
  });

  test('new resources are in one group at most, and have all of its fields in common', () => {
    const value = fc.constantFrom('a', 'b');
    const drawn = fc.array(fc.record({ x: value, y: value, z: value }), { maxLength: 20 });
    fc.assert(
      fc.property(drawn, (some) => {
        const changes = some.map((fields, at) =>
          changeOf({
            address: `agent.a${at}`,
            action: 'create',
            fields: Object.entries(fields).map(([path, after]) => fieldOf(path, null, after)),
          }),
        );
        const groups = groupAlike(changes, () => undefined);
        const members = groups.flatMap(({ addresses }) => addresses);
        expect(new Set(members).size).toBe(members.length);
        for (const { addresses, fields } of groups) {
          const own = changes.filter(({ address }) => addresses.includes(address));
          for (const { path } of fields) {
            const values = own.map((one) => one.fields.find((field) => field.path === path)?.after);
            expect(new Set(values).size).toBe(1);
          }
        }
      }),
      { numRuns: runs(300) },
    );
  });

  test.each(['delete', 'forget'] as const)('many to %s for one reason are a group', (action) => {
    const gone = (count: number) =>
      agents(count, () => []).map((change) => ({ ...change, action, reason: 'not configured' }));
    expect(groupAlike(gone(4), own)).toEqual([]);
    const edited = gone(6).map((change, at) =>
      at > 0 ? change : { ...change, fields: [fieldOf('model', 'a', null, { cause: 'drifted' })] },
    );
    expect(groupAlike(edited, own)).toEqual([
      expect.objectContaining({ action, addresses: edited.slice(1).map(({ address }) => address) }),
    ]);
  });
});

/**
 * Carries the edit of a group out on the old text of a member, by the hunks that another program finds in the texts of
 * the group: each where its old lines stand as often before it as in the group's own text. The lines that say what
 * stands below them must be the same. Undefined where a hunk does not fit.
 */
function makeAlike(
  [before, after]: readonly [string, string],
  member: string,
  values: Readonly<Record<string, string>>,
): string | undefined {
  // Line breaks at the end are lines like others.
  const texts = [`${before}\n`, `${after}\n`] as const;
  const { hunks } = structuredPatch('a', 'b', ...texts, '', '', { context: 3 });
  const filled = (text: string) => fill(text, values);
  const [old, lines] = [before.split('\n').map(filled), member.split('\n')];
  const leadOf = (all: readonly string[], at: number) =>
    all.slice(0, at).findLast((text) => text.startsWith('#') || text.endsWith(':'));
  let [done, doneOld, text] = [0, 0, [] as string[]];
  for (const hunk of hunks) {
    const own = hunk.lines.map(filled);
    const gone = own.filter((one) => !one.startsWith('+')).map((one) => one.slice(1));
    const come = own.filter((one) => !one.startsWith('-')).map((one) => one.slice(1));
    const first = own.findIndex((one) => !one.startsWith(' '));
    const places = (all: readonly string[], from: number) =>
      all
        .map((_, at) => at)
        .filter(
          (at) =>
            at >= from &&
            gone.every((one, index) => all[at + index] === one) &&
            leadOf(all, at + first) === leadOf(old, hunk.oldStart - 1 + first),
        );
    const which = places(old, doneOld).indexOf(hunk.oldStart - 1);
    const at = places(lines, done)[which];
    if (at === undefined) return undefined;
    text = [...text, ...lines.slice(done, at), ...come];
    done = at + gone.length;
    doneOld = hunk.oldStart - 1 + gone.length;
  }
  return [...text, ...lines.slice(done)].join('\n');
}

function findUnlike({ changes, findSource, valuesOf }: Fleet): readonly string[] {
  const fieldAt = (address: string | undefined, path: string) =>
    changes.find((one) => one.address === address)?.fields.find((field) => field.path === path);
  return groupAlike(changes, findSource).flatMap(({ addresses, fields }) =>
    fields.flatMap(({ path, columns = [], ...texts }) => {
      const own = fieldAt(addresses[0], path);
      const { before = own?.before, after = own?.after } = texts;
      return addresses.flatMap((address) => {
        const member = fieldAt(address, path);
        const rows = [valuesIn('before', columns, address), valuesIn('after', columns, address)];
        const filled = [before, after].map((text, side) =>
          columns.length === 0
            ? String(text)
            : fill(String(text), { ...valuesOf(address), ...rows[side] }),
        );
        const edit = filled as [string, string];
        const made = makeAlike(edit, String(member?.before), valuesOf(address));
        if (made === member?.after) return [];
        return `${address}: ${JSON.stringify({ edit, member, made })}`;
      });
    }),
  );
}

/** The values of a row on one side of a group's edit, by the names of their columns. */
function valuesIn(
  side: 'before' | 'after',
  columns: readonly ColumnEdit[],
  address: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    columns.flatMap(({ expression, edits }) => {
      const edit = edits.find(({ addresses }) => addresses.includes(address));
      return edit === undefined ? [] : [[expression.slice(7, -1), String(edit[side])]];
    }),
  );
}

test('whoever is said to change alike is exactly what the edit of the group makes of it', () => {
  fc.assert(
    fc.property(fleet, (drawn) => {
      expect(findUnlike(drawn)).toEqual([]);
    }),
    { numRuns: isTorture ? 5000 : 300 },
  );
});

describe('the edit of a table', () => {
  type Cells = readonly [hours: string, greeting: string, speed: number];
  const hours = fc.constantFrom('8 to 5', '7 to 4', '9 to 6', 'closed', '10 to 2, 3 to 6');
  const ODD = ['We moved.', 'Hello?', 'Desk: ask for Ann', 'All day at 5 Elm Road. Come in!'];
  const drawnRow = fc.record({
    was: fc.tuple(hours, fc.nat({ max: 2 }), fc.constantFrom(1, 1.5, 2)),
    is: fc.tuple(hours, fc.nat({ max: 9 }), fc.constantFrom(1, 1.5, 2)),
  });

  /** A table whose cells change, with greetings of one form and some that have none. */
  const table = fc.array(drawnRow, { minLength: 3, maxLength: 60 }).map((rows) =>
    rows.map(({ was, is }, at): { readonly was: Cells; readonly is: Cells } => ({
      was: [was[0], `Thank you for calling clinic ${was[1]}.`, was[2]],
      is: [is[0], ODD[is[1] - 5] ?? `Welcome to clinic number ${at}, hello!`, is[2]],
    })),
  );

  const LINES = ['# Desk', 'Be friendly.', '## Hours', 'We open |, all days.', 'Good bye.'];
  const promptOf = (own: string) => LINES.join('\n').replace('|', own);

  function planTable(rows: readonly { readonly was: Cells; readonly is: Cells }[], isBack = false) {
    const fields = (at: number): readonly FieldChange[] => {
      const { was, is } = rows[at - 1] as (typeof rows)[number];
      const sides = isBack ? [is, was] : [was, is];
      const [[oldHours, oldText, old], [newHours, newText, fresh]] = sides as [Cells, Cells];
      return [
        fieldOf('greeting_message', oldText, newText),
        fieldOf('system_prompt', promptOf(oldHours), promptOf(newHours)),
        fieldOf('voice_settings.speed', old, fresh),
      ].filter(({ before, after }) => before !== after);
    };
    const changes = agents(rows.length, fields).filter((change) => change.fields.length > 0);
    const findSource: FindSource = ({ address, path }) => {
      const cells = rows[Number(/\d+/.exec(address)) - 1]?.is ?? ['', '', 0];
      const [column, value] =
        path === 'greeting_message'
          ? (['greeting', cells[1]] as const)
          : path === 'system_prompt'
            ? (['hours', cells[0]] as const)
            : (['speed', String(cells[2])] as const);
      const file = 'clinics.csv';
      const cell = { expression: `\${each.${column}}`, value, column, file };
      const [head = '', tail = ''] = promptOf('|').split('|');
      const parts = path === 'system_prompt' ? [head, cell, tail] : [cell];
      return { ...(isBack ? {} : { file }), parts: () => parts };
    };
    return { changes, groups: groupAlike(changes, findSource) };
  }

  const cellOf = (path: string, text: unknown) =>
    path === 'system_prompt'
      ? String(text).slice(promptOf('|').indexOf('|')).split(', all')[0]
      : text;

  test('is told by columns that give each value exactly, and the same on the way back', () => {
    fc.assert(
      fc.property(table, (rows) => {
        const told = [planTable(rows), planTable(rows, true)].map(({ changes, groups }) => {
          for (const { addresses, fields } of groups) {
            for (const { path, columns = [] } of fields) {
              expect(columns).toHaveLength(1);
              const [{ edits, forms = [] }] = columns as readonly [ColumnEdit];
              const named = [...edits, ...forms].flatMap((one) => one.addresses);
              expect(named.toSorted()).toEqual(addresses.toSorted());
              const fieldAt = (address: string) =>
                changes
                  .find((one) => one.address === address)
                  ?.fields.find((field) => field.path === path);
              for (const edit of edits) {
                for (const address of edit.addresses) {
                  const own = fieldAt(address);
                  expect(cellOf(path, own?.before)).toBe(edit.before);
                  expect(cellOf(path, own?.after)).toBe(edit.after);
                }
              }
              for (const form of forms) {
                for (const address of form.addresses) {
                  for (const side of ['before', 'after'] as const) {
                    const pieces = form[side]?.pieces ?? [];
                    const text = String(fieldAt(address)?.[side]);
                    expect(fillPieces(pieces, matchPieces(pieces, text) ?? ['?'])).toBe(text);
                  }
                }
              }
            }
          }
          return groups.map(({ addresses, fields }) => [addresses, fields.map(({ path }) => path)]);
        });
        expect(told[1]).toEqual(told[0]);
      }),
      { numRuns: runs(150) },
    );
  });

  test('has all rows of a block but those that stand apart', () => {
    const changes = agents(40, (at) => [
      fieldOf(
        'greeting_message',
        'Hello.',
        at === 7 ? 'We moved.' : `Welcome to desk ${at} of ours.`,
      ),
    ]);
    const findSource: FindSource = ({ address }) => {
      const field = changes.find((one) => one.address === address)?.fields[0];
      const cell = { expression: '${each.greeting}', value: String(field?.after) };
      return { file: 'clinics.csv', parts: () => [cell] };
    };
    const addresses = changes.map(({ address }) => address);
    const [group] = groupAlike(changes, findSource, [...addresses, 'agent.other["x"]']);
    expect(group?.blocks).toEqual([{ block: 'agent.clinic', except: ['agent.clinic["c7"]'] }]);
    const [part] = groupAlike(changes, findSource, [
      ...addresses,
      ...addresses.map((address) => address.replace('["c', '["d')),
    ]);
    expect(part?.blocks).toBeUndefined();
  });

  test('whose texts have nothing in common is read row by row', () => {
    const own = (at: number) =>
      Array.from({ length: 12 }, (_, word) => ((at * 97 + word * 31) ** 3).toString(36)).join(' ');
    const changes = agents(30, (at) => [fieldOf('greeting_message', 'Hi.', own(at))]);
    const findSource: FindSource = ({ address }) => {
      const field = changes.find((one) => one.address === address)?.fields[0];
      return { parts: () => [{ expression: '${each.x}', value: String(field?.after) }] };
    };
    expect(groupAlike(changes, findSource)).toEqual([]);
  });

  test('does not put a price of another row, or a rule, behind a form', () => {
    const texts = (at: number) =>
      at === 4
        ? 'Do not name our prices. Ask for visit 4, please.'
        : `You may name our prices. Ask for visit ${at}, please.`;
    const changes = agents(40, (at) => [
      fieldOf('greeting_message', 'Hello.', `# Desk\n${texts(at)}`.replace('# Desk\n', '')),
    ]).map((change, at) =>
      at === 8
        ? {
            ...change,
            callouts: [
              {
                path: 'greeting_message',
                sort: 'reversed' as const,
                before: 'a',
                after: 'b',
                heading: null,
                line: 1,
                times: 1,
              },
            ],
          }
        : change,
    );
    const findSource: FindSource = ({ address }) => {
      const field = changes.find((one) => one.address === address)?.fields[0];
      return { parts: () => [{ expression: '${each.x}', value: String(field?.after) }] };
    };
    const [group, ...others] = groupAlike(changes, findSource);
    expect(others).toEqual([]);
    expect(group?.addresses).toHaveLength(38);
    for (const at of [4, 9]) expect(group?.addresses).not.toContain(`agent.clinic["c${at}"]`);
  });
});
