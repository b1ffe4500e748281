import type { TextPart } from '../../src/core/desired.ts';
import type { Change, FieldChange, PlanDocument } from '../../src/core/plan-document.ts';
import type { Json } from '../../src/core/value.ts';
import { type FindSource, groupAlike } from '../../src/plan/groups.ts';
import { changeOf, fieldOf, HARBOR, planOf } from './sample.ts';

/** Plans of every shape that a reviewer meets, with what each view has to show of them. */
export type Situation = {
  readonly name: string;
  readonly plan: PlanDocument;
  /** Words that each distinct edit consists of; none of them may be behind a click. */
  readonly words: readonly string[];
};

const TEMPLATE = (rules: readonly string[]) => `# Front desk
You are the front desk of \${each.name} in \${each.street}. Be friendly, and answer in one or two sentences.

## Hours
We open from \${each.opens} to 5, Monday to Friday.

## What you do not do
You speak for \${each.name} alone. ${rules.join(' ')}

## Closing
Thank the caller, and wish them a good day.
`;

const RULES = ['Never quote prices.', 'Never give medical advice.', 'Be brief.'];

type Row = {
  readonly key: string;
  readonly name: string;
  readonly street: string;
  readonly opens: string;
};

const TOWNS = ['Alder Bay', 'Birch Falls', 'Cedar Point', 'Dune Harbor', 'Elm Crossing'];
const PLACES = [
  'Garden Center',
  'Harbor Street',
  'Hospital Road',
  'Lakeside',
  'Main Street',
  'Market Square',
  'Northgate',
  'Old Mill',
  'Riverside',
  'Southgate',
  'Station',
  'University',
];

function listRows(count: number): readonly Row[] {
  return Array.from({ length: count }, (_, at) => {
    const town = TOWNS[at % TOWNS.length] ?? '';
    const place = PLACES[Math.floor(at / TOWNS.length) % PLACES.length] ?? '';
    const turn = Math.floor(at / (TOWNS.length * PLACES.length));
    const name = `${town} ${place}${turn === 0 ? '' : ` ${turn + 1}`}`;
    return {
      key: name.toLowerCase().replaceAll(' ', '-'),
      name,
      street: `${at + 1} ${place} Road`,
      opens: String(7 + (at % 3)),
    };
  });
}

const COLUMN = /(\$\{each\.\w+\})/;

function partsOf(text: string, row: Row): readonly TextPart[] {
  return text.split(COLUMN).map((part, at) => {
    if (at % 2 === 0) return part;
    return { expression: part, value: row[part.slice(7, -1) as keyof Row] };
  });
}

function fill(text: string, row: Row): string {
  return partsOf(text, row)
    .map((part) => (typeof part === 'string' ? part : part.value))
    .join('');
}

const rowAddress = ({ key }: Row) => `agent.clinic["${key}"]`;

/** The rows of a template from one text to another. */
function edited(rows: readonly Row[], from: string, to: string): readonly Change[] {
  return rows.map((row) =>
    changeOf({
      address: rowAddress(row),
      name: row.name,
      source: 'agents.yaml:4',
      fields: [fieldOf('system_prompt', fill(from, row), fill(to, row))],
    }),
  );
}

function templateSource(rows: readonly Row[], text: string): FindSource {
  const byAddress = new Map(rows.map((row) => [rowAddress(row), row]));
  return ({ address, path }) => {
    const row = byAddress.get(address);
    if (row === undefined || path !== 'system_prompt') return undefined;
    return { file: 'prompts/front-desk.md', parts: () => partsOf(text, row) };
  };
}

function single(name: string, fields: readonly FieldChange[], more: Partial<Change> = {}): Change {
  return changeOf({
    address: `agent.${name}`,
    name: `The ${name.replaceAll('_', ' ')} line`,
    source: 'agents.yaml:41',
    fields,
    ...more,
  });
}

const PROMPT = TEMPLATE(RULES).replaceAll(/\$\{each\.(\w+)\}/g, 'Harbor');

/** Both change the hours, each another sentence. */
const CONFLICT = {
  live: PROMPT.replace('to 5', 'to 6').replace('good day', 'good evening'),
  own: PROMPT.replace('to 5', 'to 7').replace('Be brief', 'Take your time'),
};

const night = single('night', [
  fieldOf('system_prompt', PROMPT, PROMPT.replace('Never give medical', 'You may give medical')),
]);
const desk = single('pager', [
  fieldOf(
    'extensions.tools[page_dentist].url',
    'https://pager.example.test/v2/page',
    'https://alerts.pagehost.example/v2/page',
  ),
]);

const EDITS = [
  ['one or two', 'three or four'],
  ['to 5', 'to 6'],
  ['Monday to Friday', 'Monday to Saturday'],
  ['Never quote prices', 'Always quote prices'],
  ['Be brief', 'Take your time'],
  ['good day', 'good evening'],
  ['friendly', 'formal'],
  ['in one', 'in Spanish, in one'],
  ['Thank the caller', 'Do not thank the caller'],
  ['medical advice', 'medical or legal advice'],
  ['speak for', 'are responsible for'],
  ['front desk of', 'night desk of'],
] as const;

const twelve = EDITS.map(([before, after], at) =>
  single(`line_${at}`, [fieldOf('system_prompt', PROMPT, PROMPT.replace(before, after))]),
);

/** The way back of changes. */
function turned(changes: readonly Change[]): readonly Change[] {
  const back = { create: 'delete', delete: 'create' } as const;
  return changes.map((change) => {
    const { action, before, after, fields } = change;
    return {
      ...change,
      action: action === 'create' || action === 'delete' ? back[action] : action,
      reason: 'the run changed it',
      before: after,
      after: before,
      fields: fields.map((field) => ({ ...field, before: field.after, after: field.before })),
    };
  });
}

/** The place that the plans are from. */
const PLACE = {
  stack: {
    name: 'clinics',
    commit: {
      id: '9f21ac04d1c5f6a7b8c9d0e1f2a3b4c5d6e7f809',
      subject: 'Change what the lines say',
      author: 'dana',
      at: '2026-11-28T16:10:00Z',
      is_changed: false,
    },
  },
  environment: 'production',
} as const;

/** Columns of a table that an edit changes, and where they lead. */
const HOURS = (hours: string) => `# Front desk\nBe friendly.\n\n## Hours\nWe open ${hours}.\n`;
const PAIRS = Array.from(
  { length: 15 },
  (_, at) =>
    [
      `${7 + (at % 5)} to ${4 + Math.floor(at / 5)}`,
      `${8 + (at % 5)} to ${5 + Math.floor(at / 5)}`,
    ] as const,
);
const ODD = 'We have moved. Please call our new number.';
const welcome = (at: number) => `Welcome to clinic number ${at}, how can we help?`;

/** The edit of two columns of a table, with one text that is not like the others. */
export function editedTable(count: number, odd: number) {
  const rows = listRows(count);
  const cells = new Map(
    rows.map((row, at) => {
      const [, hours = ''] = PAIRS[at % PAIRS.length] ?? [];
      const greeting = at === odd ? ODD : welcome(at);
      return [rowAddress(row), { row, hours, greeting }] as const;
    }),
  );
  const changes = rows.map((row, at) => {
    const { hours = '', greeting = '' } = cells.get(rowAddress(row)) ?? {};
    return changeOf({
      address: rowAddress(row),
      name: row.name,
      source: `clinics.csv:${at + 2}`,
      fields: [
        fieldOf('greeting_message', `Thank you for calling ${row.name}.`, greeting),
        fieldOf('system_prompt', HOURS(PAIRS[at % PAIRS.length]?.[0] ?? ''), HOURS(hours)),
      ],
    });
  });
  const findSource: FindSource = ({ address, path }) => {
    const { hours = '', greeting = '' } = cells.get(address) ?? {};
    const file = 'clinics.csv';
    if (path === 'greeting_message')
      return {
        file,
        line: 2,
        parts: () => [
          { expression: '${each.greeting}', value: greeting, column: 'greeting', file },
        ],
      };
    const [head = '', tail = ''] = HOURS('|').split('|');
    const cell = { expression: '${hours}', value: hours, column: 'hours', file };
    return { file: 'prompts/front-desk.md', parts: () => [head, cell, tail] };
  };
  return { changes, findSource, pairs: PAIRS, odd: ODD, welcome };
}

type Given = {
  readonly changes: readonly Change[];
  readonly words: readonly string[];
  /** The words of the way back, where these are others. */
  readonly back?: readonly string[];
  readonly findSource?: FindSource;
};

function situation(
  name: string,
  { changes, words, back = words, findSource = () => undefined }: Given,
) {
  const configured = changes.map(({ address }) => address);
  const plan = (some: readonly Change[], more: Partial<PlanDocument>) =>
    planOf(some, {
      groups: groupAlike(planOf(some).changes, findSource, configured),
      ...PLACE,
      ...more,
    });
  return [
    { name, plan: plan(changes, {}), words },
    {
      name: `${name}, rolled back`,
      plan: plan(turned(changes), { purpose: 'rollback', undoes: '20261128t101112z-abcdef' }),
      words: back,
    },
  ] as const satisfies readonly Situation[];
}

const PRICED = ['Only if asked: a cleaning costs $90.', ...RULES.slice(1)];
const DEARER = ['Only if asked: a cleaning costs $190.', ...RULES.slice(1)];
const removed = TEMPLATE(RULES.slice(1));
const sixty = listRows(60);
const many = listRows(2500);
const greetings = Array.from({ length: 400 }, (_, at) =>
  single(`desk_${at}`, [
    fieldOf('greeting_message', `Welcome to desk ${at}.`, `Desk ${at}, good morning.`),
  ]),
);
const transfer: Json = [{ to: '+19005550199', when: 'the caller asks for a person' }];

function made(row: Row): Change {
  const prompt = fill(TEMPLATE(RULES), row);
  return changeOf({
    address: rowAddress(row),
    name: row.name,
    action: 'create',
    fields: [
      fieldOf('name', null, row.name),
      fieldOf('model', null, 'alpha-4.1'),
      fieldOf('system_prompt', null, prompt),
    ],
    source: 'agents.yaml:4',
  });
}

const gone = single('old_front', [], {
  action: 'delete',
  reason: 'no longer configured',
  before: { greeting_message: 'Thank you for calling.' },
});

const table = editedTable(400, 17);

export const SITUATIONS: readonly Situation[] = [
  ...situation('one edit', { changes: [night], words: ['Never', 'You may'] }),
  ...situation('twelve different edits', {
    changes: twelve,
    words: EDITS.flatMap(([before, after]) => [before, after].map(lastWord)),
  }),
  ...situation('one rule of a template for 60 rows, and two by themselves', {
    changes: [...edited(sixty, TEMPLATE(RULES), removed), night, desk],
    words: ['Never quote prices.', 'You may', 'alerts.pagehost.example'],
    findSource: templateSource(sixty, removed),
  }),
  ...situation('400 greetings and one transfer', {
    changes: [...greetings, single('desk_x', [fieldOf('transfer_rules', null, transfer)])],
    words: ['+19005550199', 'Welcome to desk 0', 'Desk 399, good morning'],
  }),
  ...situation('two columns of a table', {
    changes: table.changes,
    words: ['Welcome to clinic number', 'how can we help?', table.odd],
    back: ['Thank you for calling', table.odd],
    findSource: table.findSource,
  }),
  ...situation('2,500 rows', {
    changes: [...edited(many, TEMPLATE(RULES), removed), night],
    words: ['Never quote prices.', 'You may'],
    findSource: templateSource(many, removed),
  }),
  ...situation('60 new agents', {
    changes: sixty.map(made),
    words: ['alpha-4.1'],
    back: [],
    findSource: templateSource(sixty, TEMPLATE(RULES)),
  }),
  ...situation('a delete', { changes: [gone, night], words: ['You may'] }),
  ...situation('many deletes', {
    changes: [
      ...sixty.map((row) => ({ ...gone, address: rowAddress(row), name: row.name })),
      night,
    ],
    words: ['You may'],
  }),
  ...situation('a replacement', {
    changes: [
      single('moved', [fieldOf('organization_id', HARBOR, 'other')], {
        action: 'replace',
        reason: 'its organization changed',
      }),
      night,
    ],
    words: ['You may'],
  }),
  ...situation('a conflict', {
    changes: [
      single(
        'pager',
        [
          fieldOf('greeting_message', 'Night line, please hold.', 'Night line, good evening.', {
            cause: 'conflict',
            base: 'Night line. Is this an emergency?',
          }),
          fieldOf('system_prompt', CONFLICT.live, CONFLICT.own, {
            cause: 'conflict',
            base: PROMPT,
          }),
        ],
        {
          verdict: 'refused',
          lifted_by: 'accept_conflicts',
          reason:
            'the configuration and the platform both changed since the last apply (last by user:4711 via dashboard at 2026-11-28T16:18:00Z, history entry 1196)',
        },
      ),
      night,
    ],
    words: ['please hold.', 'good evening.', 'Take your time', 'You may', 'user:4711'],
    back: ['please hold.', 'good evening.', 'You may'],
  }),
  ...situation('a price in 60 prompts', {
    changes: edited(sixty, TEMPLATE(PRICED), TEMPLATE(DEARER)).map((change, at) => ({
      ...change,
      calls: 40 + at,
    })),
    words: ['90', '190'],
    findSource: templateSource(sixty, TEMPLATE(DEARER)),
  }),
  ...situation('a stored secret that goes to a new host', {
    changes: [
      {
        ...desk,
        calls: 412,
        secrets: [
          {
            path: 'extensions.tools[page_dentist].headers[Authorization].value',
            source: null,
            to: 'alerts.pagehost.example',
            before: 'pager.example.test',
            restorable: true,
          },
        ],
      },
    ],
    words: ['alerts.pagehost.example', 'pager.example.test'],
  }),
  ...situation("somebody's edit that is undone", {
    changes: [
      ...edited(sixty, TEMPLATE(RULES), removed),
      single(
        'evening',
        [fieldOf('greeting_message', 'Closed today.', 'Hello.', { cause: 'drifted' })],
        {
          reason:
            'changed outside Callsheet (last by user:mina via dashboard at 2026-11-21T10:12:03Z, history entry 61)',
        },
      ),
    ],
    words: ['Closed today.', 'user:mina', 'Never quote prices.'],
    back: ['Closed today.', 'Never quote prices.'],
    findSource: templateSource(sixty, removed),
  }),
];

function lastWord(text: string): string {
  return text.split(' ').at(-1) ?? text;
}
