import { parse } from 'yaml';

/** The files of the team's stack, how people change them, and how they are read without the program. */

export const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** The model whose feature is locked: a change to it is refused. */
export const LOCKED = 'alpha-4o';
const MODEL = 'alpha-4.1';

export type Texts = { readonly [path: string]: string };

const CLINICS =
  'oak elm ash fir yew bay box ivy may sage lime pear plum rose rue reed sedge dill mint flax'.split(
    ' ',
  );

const desk = (key: string, name: string) => `  ${key}:
    name: ${name}
    model: ${MODEL}
    greeting_message: Welcome to ${key}.
    system_prompt: { $file: prompts/${key}.md }
`;

export const FIRST: Texts = {
  'callsheet.yaml': `callsheet: 1
platform: { base_url: "\${var.base_url}" }
variables: { base_url: { env: CALLSHEET_BASE_URL } }
organizations: { harbor: ${ORGANIZATION} }
organization: harbor
guards:
  freeze:
    - { reason: Friday evening, zone: UTC, weekdays: [fri], hours: 14:00-20:00 }
`,
  'agents.yaml': `agents:
${desk('reception', 'Front desk')}    integrations:
      smsProvider: { account_sid: AC01, auth_token: { $secret: env:SMS_TOKEN }, fromNumber: "+15550100" }

${desk('night', 'Night desk')}
${desk('recall', 'Recall')}`,
  'clinics.yaml': `agents:
  clinic:
    for_each: { $file: clinics.csv }
    key: \${each.slug}
    name: \${each.name}
    model: ${MODEL}
    greeting_message: \${each.greeting}
    system_prompt: { $file: prompts/clinic.md }
`,
  'clinics.csv': ['slug,name,greeting', ...CLINICS.map((one) => rowOf(one, one)), ''].join('\n'),
  'prompts/clinic.md': promptOf('clinic'),
  'prompts/reception.md': promptOf('reception'),
  'prompts/night.md': promptOf('night'),
  'prompts/recall.md': promptOf('recall'),
  '.gitignore': '.callsheet/\n',
};

function rowOf(slug: string, name: string, greeting = `This is ${name}.`): string {
  return `${slug},Clinic ${name},${greeting}`;
}

function promptOf(key: string): string {
  return `# ${key}\n\nYou answer the phone.\n\nBe brief.\n\nSay goodbye.\n`;
}

/** What a person wants to change. `pick` chooses among what there is. */
export type Change =
  | {
      readonly what: 'greeting' | 'prompt' | 'add' | 'remove' | 'move' | 'rename';
      readonly pick: number;
    }
  | { readonly what: 'refused' | 'broken'; readonly pick: number };

const at = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length];

/** The files with a change in them; undefined where there is nothing to change so. `mark` is in every text that it writes. */
export function changeFiles(
  read: (path: string) => string,
  { what, pick }: Change,
  mark: string,
): Texts | undefined {
  const csv = () => read('clinics.csv').trimEnd().split('\n');
  const withRow = (chosen: number, row: readonly string[]): Texts => ({
    'clinics.csv': `${csv()
      .flatMap((line, index) => (index === chosen + 1 ? row : [line]))
      .join('\n')}\n`,
  });
  const rows = csv().slice(1);
  const chosen = pick % rows.length;
  const [slug = '', name = '', greeting = ''] = rows[chosen]?.split(',') ?? [];
  const desks = Object.keys(DESKS(read));
  switch (what) {
    case 'greeting': {
      const key = at(desks, pick);
      // Clinics are changed more often than desks.
      if (pick % 3 > 0 || key === undefined)
        return withRow(chosen, [`${slug},${name},Good day ${mark}.`]);
      return replaceIn(
        read,
        'agents.yaml',
        new RegExp(`(^  ${key}:\\n(?:    .*\\n)*?    greeting_message: ).*`, 'm'),
        `$1Good day ${mark}.`,
      );
    }
    case 'prompt': {
      const key = at([...desks, 'clinic'], pick) ?? '';
      return replaceIn(
        read,
        `prompts/${key}.md`,
        /Be brief.*|Say goodbye.*/,
        `Be brief, says ${mark}.`,
      );
    }
    case 'add':
      return withRow(chosen, [rows[chosen] ?? '', rowOf(mark, mark)]);
    case 'remove':
      return rows.length < 4 ? undefined : withRow(chosen, []);
    case 'move':
    case 'rename': {
      const texts = withRow(chosen, [`${mark},${name},${greeting}`]);
      if (what === 'rename') return texts;
      const known = tryRead(read, 'moved.yaml') ?? 'moved:\n';
      return {
        ...texts,
        'moved.yaml': `${known}  - { from: 'agent.clinic["${slug}"]', to: 'agent.clinic["${mark}"]' }\n`,
      };
    }
    case 'refused': {
      const key = at(desks, pick) ?? '';
      return replaceIn(
        read,
        'agents.yaml',
        new RegExp(`(^  ${key}:\\n(?:    .*\\n)*?    model: ).*`, 'm'),
        `$1${LOCKED}`,
      );
    }
    case 'broken':
      return { 'clinics.csv': `${csv().join('\n')}\n${rows[chosen]}\n` };
  }
}

function DESKS(read: (path: string) => string): Fields {
  return fieldsIn(parse(read('agents.yaml')), 'agents');
}

function replaceIn(
  read: (path: string) => string,
  path: string,
  from: RegExp,
  to: string,
): Texts | undefined {
  const text = read(path);
  const changed = text.replace(from, to);
  return changed === text ? undefined : { [path]: changed };
}

function tryRead(read: (path: string) => string, path: string): string | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

export type Fields = { readonly [name: string]: unknown };

/** What the files want, by address: fields as the platform has them. */
export type Wanted = ReadonlyMap<string, Fields>;

/** Undefined where the files are no sound stack. */
export function readWanted(read: (path: string) => string, secret: string): Wanted | undefined {
  const wanted = new Map<string, Fields>();
  const filled = (fields: Fields, fill: (text: string) => string): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        if (typeof value === 'string') return [[name, fill(value)]];
        const file = fieldsIn(value, '').$file;
        if (typeof file === 'string') return [[name, read(file)]];
        const sms = fieldsIn(value, 'smsProvider');
        return name === 'integrations' && sms.auth_token !== undefined ? [['secret', secret]] : [];
      }),
    );
  for (const [key, fields] of Object.entries(DESKS(read)))
    wanted.set(
      `agent.${key}`,
      filled(fieldsIn(fields, ''), (text) => text),
    );
  const {
    for_each: _,
    key: __,
    ...clinic
  } = fieldsIn(fieldsIn(parse(read('clinics.yaml')), 'agents').clinic, '');
  const [head = '', ...rows] = read('clinics.csv').trim().split('\n');
  const columns = head.split(',');
  for (const row of rows) {
    const cells = row.split(',');
    const each = new Map(columns.map((column, index) => [column, cells[index] ?? '']));
    const address = `agent.clinic["${each.get('slug')}"]`;
    if (wanted.has(address)) return undefined;
    wanted.set(
      address,
      filled(clinic, (text) =>
        text.replace(/\$\{each\.(\w+)\}/g, (_, column) => each.get(column) ?? ''),
      ),
    );
  }
  return wanted;
}

/** A member that is a map; the value itself where no member is named. */
function fieldsIn(value: unknown, name: string): Fields {
  const found: unknown = name === '' ? value : Object(value)[name];
  return typeof found === 'object' && found !== null ? (found as Fields) : {};
}
