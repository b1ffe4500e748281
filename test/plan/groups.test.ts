import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change, FieldChange } from '../../src/core/plan-document.ts';
import { parsePlan, planDigest } from '../../src/plan/document.ts';
import { groupAlike, type SourceOf, withTextSources } from '../../src/plan/groups.ts';
import { buildOverview } from '../../src/render/overview.ts';
import { runs } from '../long.ts';
import { changeOf, fieldOf, planOf } from '../render/sample.ts';

const agents = (count: number, fields: (at: number) => readonly FieldChange[]): Change[] =>
  Array.from({ length: count }, (_, at) =>
    changeOf({ address: `agent.clinic["c${at + 1}"]`, fields: fields(at + 1) }),
  );

const template: SourceOf = () => ({ file: 'prompts/desk.md' });
const own: SourceOf = ({ address }) => ({ file: `prompts/${address}.md` });

const prompt = (at: number, hours: string, rule = 'Never quote prices.') =>
  fieldOf(
    'system_prompt',
    `# Desk ${at}\nOpen until 5.\n# Rules\n${rule}\n`,
    `# Desk ${at}\nOpen until ${hours}.\n# Rules\n${rule}\n`,
  );

test('a group that was put into a plan file afterwards is noticed', () => {
  const changes = agents(3, (at) => [fieldOf('model', 'a', `b${at}`)]);
  const plan = planOf(changes);
  const { digest: _, ...rest } = plan;
  const honest = JSON.stringify({ ...plan, digest: planDigest(rest) });
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
  const sourceOf: SourceOf = (site) =>
    site.path === 'system_prompt' ? own(site) : { file: 'desk.yaml', line: 3 };
  const named = withTextSources(changes, sourceOf);
  expect(named.map(({ fields }) => fields.map(({ source }) => source))).toEqual(
    changes.map(({ address }) => [`prompts/${address}.md`, undefined]),
  );
  expect(planDigest(planOf(named))).toBe(planDigest(planOf(changes)));
  expect(buildOverview(planOf(named)).first.slice(0, 2)).toMatchObject([
    { subject: 'system_prompt of agent.clinic["c1"]', text: 'prompts/agent.clinic["c1"].md' },
    { subject: 'description of agent.clinic["c1"]', text: changes[0]?.source },
  ]);
  const alike = withTextSources(
    agents(4, (at) => [prompt(at, '6')]),
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
    const groups = groupAlike(agents(12, (at) => [prompt(at, '6')]).reverse(), template);
    expect(groups).toHaveLength(1);
    const [{ addresses, fields }] = groups as [(typeof groups)[number]];
    expect(addresses.slice(0, 3)).toEqual([1, 2, 3].map((at) => `agent.clinic["c${at}"]`));
    expect(addresses.at(-1)).toBe('agent.clinic["c12"]');
    expect(fields).toEqual([{ path: 'system_prompt', source: 'prompts/desk.md' }]);
  });

  test('what differs stands apart', () => {
    const changes = agents(6, (at) => [prompt(at, at > 3 ? '7' : '6'), fieldOf('model', 'a', 'b')]);
    const groups = groupAlike(changes, template);
    expect(groups.map(({ addresses, fields }) => [addresses.length, fields[0]?.path])).toEqual([
      [6, 'model'],
      [3, 'system_prompt'],
      [3, 'system_prompt'],
    ]);
  });

  test('a file is the source of the fields that come from it, and of no others', () => {
    const added = (at: number) => fieldOf('system_prompt', `Desk ${at}\n`, `Desk ${at}\nNew.\n`);
    const changes = agents(4, (at) => [
      added(at),
      fieldOf('model', 'a', 'b'),
      fieldOf('language', 'a', 'b'),
    ]);
    const sourceOf: SourceOf = ({ address, path }) =>
      path === 'system_prompt'
        ? { file: `prompts/${address}.md` }
        : { file: 'bases.yaml', line: path === 'model' ? 3 : 7 };
    expect(groupAlike(changes, sourceOf).map(({ fields }) => fields)).toEqual([
      [{ path: 'system_prompt', source: null }],
      [
        { path: 'model', source: 'bases.yaml:3' },
        { path: 'language', source: 'bases.yaml:7' },
      ],
    ]);
  });

  test('the same words in lines of their own are no group: what stands around them may turn the sense', () => {
    const edit = (at: number, first: string) =>
      fieldOf('system_prompt', `Desk ${at}\n${first} help.\n`, `Desk ${at}\n${first} quote.\n`);
    const changes = agents(4, (at) => [edit(at, at % 2 === 0 ? 'Always' : 'Never')]);
    expect(groupAlike(changes, own)).toEqual([]);
    expect(groupAlike(changes, template)).toHaveLength(1);
  });

  test('the same line under another heading is another edit', () => {
    const added = (at: number, section: string) =>
      fieldOf(
        'system_prompt',
        `# Do\na\n# Do not\nb ${at}\n`,
        `# Do\na\n# Do not\nb ${at}\n`.replace(`# ${section}\n`, `# ${section}\nQuote prices.\n`),
      );
    const groups = groupAlike(
      agents(6, (at) => [added(at, at > 3 ? 'Do' : 'Do not')]),
      template,
    );
    expect(groups.map(({ addresses }) => addresses.length)).toEqual([3, 3]);
  });

  test('what a limit stops for one reason is a group, what is refused by itself is none', () => {
    const stopped = agents(6, () => [fieldOf('model', 'a', 'b')]).map((change, at) => ({
      ...change,
      verdict: 'refused' as const,
      reason: at === 0 ? 'it is locked' : 'the plan touches 6 of 10 resources',
    }));
    const groups = groupAlike(stopped, template);
    expect(groups.map(({ addresses }) => addresses.length)).toEqual([5]);
    const { groups: shown, changes } = buildOverview(planOf(stopped, { groups }));
    expect(shown.map(({ title }) => title)).toEqual(['Alike in 5 agents, refused']);
    expect(changes.map(({ change: { address } }) => address)).toEqual(['agent.clinic["c1"]']);
  });

  test('a secret that was not compared is nothing that is left to read of a change', () => {
    const secret = fieldOf('extensions.tools[crm].headers[X].value', '(secret)', '(secret)', {
      cause: 'unknown_secret',
      secret: true,
    });
    const changes = agents(4, (at) => [fieldOf('model', 'a', 'b'), ...(at < 2 ? [secret] : [])]);
    const groups = groupAlike(changes, template);
    expect(buildOverview(planOf(changes, { groups })).changes).toEqual([]);
  });

  test.each(['drifted', 'conflict'] as const)('what is %s is read one by one', (cause) => {
    const changes = agents(9, () => [fieldOf('model', 'a', 'b', { cause })]);
    expect(groupAlike(changes, template)).toEqual([]);
  });

  /** A changed text of the nth agent. */
  type Texts = (at: number) => readonly [before: string, after: string];
  const alikeIn = (count: number, texts: Texts, sourceOf = template) =>
    groupAlike(
      agents(count, (at) => [fieldOf('system_prompt', ...texts(at))]),
      sourceOf,
    ).map(({ addresses }) => addresses.length);

  test.each<[string, Texts, readonly number[]]>([
    [
      'words in the middle, whatever stands before and after them',
      (at) => [
        `Desk ${at} closes at 5 at door ${at} today.`,
        `Desk ${at} closes at 6 at door ${at} today.`,
      ],
      [6],
    ],
    [
      'words that are written once where they were written twice',
      (at) => (at > 3 ? ['very very good', 'very good'] : ['so so good', 'so good']),
      [3, 3],
    ],
    [
      'a line under a heading, however many stand above it',
      (at) =>
        ['5', '6'].map((hour) => `# Desk${'\nRoom.'.repeat(at)}\n${hour}`) as [string, string],
      [6],
    ],
    [
      'a line of a text without headings, by its number',
      (at) =>
        ['5', '6'].map((hour) => `${'Room.\n'.repeat(at > 3 ? 1 : 2)}${hour}`) as [string, string],
      [3, 3],
    ],
    [
      'a line that goes to another section than others',
      (at) => [
        `# A\nold\n# B\nDesk ${at}\n# C`,
        at > 3 ? `# A\n# B\nnew\nDesk ${at}\n# C` : `# A\n# B\nDesk ${at}\n# C\nnew`,
      ],
      [3, 3],
    ],
    ['one of two equal lines', (at) => [`Hello.\nHello.\n${at}`, `Hello.\n${at}`], [6]],
    [
      'two equal lines, and one',
      (at) => [`# Desk\n${at}`, `# Desk\n${at}\n${'Hello.\n'.repeat(at > 3 ? 2 : 1)}End.`],
      [3, 3],
    ],
    [
      'lines in another order, with the text that they are',
      (at) => (at > 3 ? ['One.\nTwo.', 'Two.\nOne.'] : ['One.\nSix.', 'Six.\nOne.']),
      [3, 3],
    ],
  ])('are told by %s', (_title, texts, expected) => {
    expect(alikeIn(6, texts)).toEqual(expected);
  });

  test('are told by both values where these are no texts', () => {
    const changes = agents(7, (at) => [fieldOf('voice_settings.speed', 1, at > 3 ? 2 : 3)]);
    expect(groupAlike(changes, template).map(({ addresses }) => addresses.length)).toEqual([4, 3]);
  });

  test('in texts of their own are those whose lines are the same', () => {
    const words = [
      '',
      'Always',
      'Always',
      'Always',
      'Never',
      'Never',
      'Never',
      'Never',
      'Now',
      'Now',
    ];
    const texts: Texts = (at) => [
      `Desk ${at}\n${words[at]} help.\n`,
      `Desk ${at}\n${words[at]} quote.\n`,
    ];
    const lineOf: SourceOf = ({ address }) => ({
      file: 'bases.yaml',
      line: Number(address.match(/\d/)),
    });
    for (const sourceOf of [own, lineOf, () => undefined]) {
      expect(alikeIn(9, texts, sourceOf)).toEqual([4, 3]);
    }
  });

  test('are of creates and updates, whatever the reasons, and not of what is made anew or goes', () => {
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
    const sources: Readonly<Record<string, ReturnType<SourceOf>>> = {
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
    const sourceOf: SourceOf = ({ address, path }) =>
      path === 'status' ? { file: 'a:1.yaml', line: Number(address.match(/\d/)) } : sources[path];
    expect(groupAlike(changes, sourceOf).map(({ fields }) => fields)).toEqual([
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
    const sourceOf: SourceOf = (site) => {
      asked += 1;
      return template(site);
    };
    expect(alikeIn(2000, () => ['a', 'b'], sourceOf)).toEqual([2000]);
    expect(asked).toBe(100);
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
          ...overview.changes.flatMap(({ change: { address, fields } }) =>
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
