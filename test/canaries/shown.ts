import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { longRows } from '../long.ts';

/**
 * The cases of the table in decision 14: each place where something may be a secret, given in each way that the files
 * have. A case is an agent of its own, whose value has a canary of its own.
 */

const DECISION = join(import.meta.dirname, '../../docs/decisions/0014-secrets-and-credentials.md');

/** The part of a value that an output shows. */
export type Word = 'whole' | 'host' | 'part' | 'source' | 'none' | '';

/** A row of the table: words by the headings of its columns. */
type Row = Readonly<Record<string, Word>>;

/** The table, by who gives a value and why it is thought secret. */
export function readTable(): ReadonlyMap<string, Row> {
  const [, table = ''] =
    /<!-- what is shown -->\n([\s\S]*?)<!-- end -->/.exec(readFileSync(DECISION, 'utf8')) ?? [];
  const [head = [], , ...rows] = table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  return new Map(
    rows.map(([from = '', because = '', ...words]) => [
      `${from}: ${because}`,
      Object.fromEntries(words.map((word, at) => [head[at + 2] ?? '', word as Word])),
    ]),
  );
}

/** Why a value is thought secret, as the table says it. */
type Because = 'x-sensitive' | 'its name' | 'its place' | 'what it holds';

/** A place, and whether it takes a text from a file. */
type Place = {
  readonly name: string;
  readonly because: Because;
  readonly takesFiles: boolean;
  readonly takesSecrets: boolean;
  readonly put: (value: Json) => JsonObject;
};

const webhook = (more: JsonObject): JsonObject => ({
  extensions: {
    tools: [
      {
        ...{ type: 'webhook', name: 'crm', condition: 'during_call', method: 'GET' },
        url: 'https://crm.example.test/c',
        ...more,
      },
    ],
  },
});

const connection = (more: JsonObject): JsonObject => ({
  extensions: {
    mcp_servers: [
      {
        ...{ connection_name: 'Cal', transport_type: 'http' },
        mcp_endpoint_url: 'https://mcp.example.test/mcp',
        ...more,
      },
    ],
  },
});

function place(
  name: string,
  because: Because,
  put: Place['put'],
  takes: 'texts' | 'files' | 'secrets' = 'texts',
): Place {
  const isInside = because === 'its place';
  const takesFiles = takes === 'files' || isInside;
  return { name, because, takesFiles, takesSecrets: takes === 'secrets' || isInside, put };
}

export const PLACES: readonly Place[] = [
  place(
    'header',
    'x-sensitive',
    (value) => webhook({ headers: [{ key: 'X-Auth-Token', value }] }),
    'secrets',
  ),
  place(
    'auth_header',
    'x-sensitive',
    (value) => connection({ auth_headers: { 'X-Hook': value } }),
    'secrets',
  ),
  place('parameter', 'its name', (value) => webhook({ parameters: [{ key: 'token', value }] })),
  place(
    'argument',
    'its name',
    (value) =>
      connection({ pre_answer_calls: [{ tool_name: 'find', arguments: { password: value } }] }),
    'files',
  ),
  place('unchecked', 'its name', (value) => ({ unchecked: { newToken: value } }), 'files'),
  place(
    'pair',
    'its name',
    (value) => ({ config: { settings: [{ key: 'api_key', value }] } }),
    'files',
  ),
  place('provider', 'its place', (value) => ({
    integrations: { ehrProvider: { username: 'desk', endpoint: value } },
  })),
  place('url', 'what it holds', (url) => webhook({ url })),
  place('server', 'what it holds', (value) => connection({ mcp_endpoint_url: value })),
  place('prompt', 'what it holds', (value) => ({ system_prompt: value }), 'files'),
  place('new_field', 'what it holds', (value) => ({ unchecked: { hook: value } }), 'files'),
];

/** One side of a value: its canary, and the address that it is a part of. */
type Value = { readonly canary: string; readonly address: (canary: string) => string };

/** A case as a form writes it. */
type Written = {
  /** The value of the place. */
  readonly value: Json;
  /** Cells of the one row of the case. */
  readonly cells?: Readonly<Record<string, string>>;
  /** Where the rows stand: a table, or the resource itself. */
  readonly rows?: 'csv' | 'json' | 'inline' | undefined;
  readonly file?: string;
  /** Value of the variable of the case, and who gives it. */
  readonly variable?: string;
  readonly given?: 'default' | 'env' | 'var';
  readonly layer?: 'base' | 'patch';
};

type Form = {
  readonly name: string;
  readonly from: 'the files' | 'outside' | '$secret';
  readonly isFile?: boolean;
  /** `id` names the variable and the file of the case. */
  readonly write: (value: Value, id: string) => Written;
};

const whole = ({ canary, address }: Value) => address(canary);
const inCell = ({ canary }: Value, rows: Written['rows']) => ({ rows, cells: { t: canary } });

export const FORMS: readonly Form[] = [
  { name: 'literal', from: 'the files', write: (value) => ({ value: whole(value) }) },
  { name: 'base', from: 'the files', write: (value) => ({ value: whole(value), layer: 'base' }) },
  { name: 'patch', from: 'the files', write: (value) => ({ value: whole(value), layer: 'patch' }) },
  {
    name: 'cell',
    from: 'the files',
    write: (value) => ({ value: '${each.t}', rows: 'csv', cells: { t: whole(value) } }),
  },
  ...(['csv', 'json', 'inline'] as const).map(
    (rows): Form => ({
      name: `part of a cell of ${rows}`,
      from: 'the files',
      write: (value) => ({ value: value.address('${each.t}'), ...inCell(value, rows) }),
    }),
  ),
  ...(['default', 'env', 'var'] as const).flatMap((given): Form[] => {
    const from = given === 'default' ? 'the files' : 'outside';
    return [
      {
        name: `variable by ${given}`,
        from,
        write: (value, id) => ({ value: `\${var.${id}}`, variable: whole(value), given }),
      },
      {
        name: `part of a variable by ${given}`,
        from,
        write: (value, id) => ({
          value: value.address(`\${var.${id}}`),
          variable: value.canary,
          given,
        }),
      },
      {
        name: `with of a variable by ${given}`,
        from,
        isFile: true,
        write: (value, id) => ({
          value: { $template: `${id}.md`, with: { v: `\${var.${id}}` } },
          file: value.address('${v}'),
          variable: value.canary,
          given,
        }),
      },
    ];
  }),
  {
    name: 'file',
    from: 'the files',
    isFile: true,
    write: (value, id) => ({ value: { $file: `${id}.md` }, file: whole(value) }),
  },
  {
    name: 'template',
    from: 'the files',
    isFile: true,
    write: (value, id) => ({ value: { $template: `${id}.md` }, file: whole(value) }),
  },
  {
    name: 'row in a template',
    from: 'the files',
    isFile: true,
    write: (value, id) => ({
      value: { $template: `${id}.md` },
      file: value.address('${each.t}'),
      ...inCell(value, 'csv'),
    }),
  },
  {
    name: 'with',
    from: 'the files',
    isFile: true,
    write: (value, id) => ({
      value: { $template: `${id}.md`, with: { v: value.canary } },
      file: value.address('${v}'),
    }),
  },
  {
    name: 'with of a cell',
    from: 'the files',
    isFile: true,
    write: (value, id) => ({
      value: { $template: `${id}.md`, with: { v: '${each.t}' } },
      file: value.address('${v}'),
      ...inCell(value, 'csv'),
    }),
  },
  {
    name: 'secret',
    from: '$secret',
    write: (value, id) => ({
      value: { $secret: `env:SECRET_${id}` },
      variable: whole(value),
      given: 'env',
    }),
  },
];

/** A form at a place. */
export type Case = {
  readonly id: string;
  readonly title: string;
  readonly form: Form;
  readonly place: Place;
  readonly address: string;
  /** The scheme and host of its value. */
  readonly host: string;
  readonly valueOf: (generation: string) => string;
  readonly written: (generation: string) => Written;
};

const ALL: readonly Case[] = PLACES.flatMap((place, at) =>
  FORMS.flatMap((form, number): Case[] => {
    if (form.isFile === true && !place.takesFiles) return [];
    if (form.from === '$secret' && !place.takesSecrets) return [];
    const id = `p${at}f${number}`;
    const host = `https://${id}.hooks.test`;
    const path = place.because === 'what it holds' ? '/in?api_key=' : '/';
    const canary = (generation: string) => `canary-${id}-${generation}`;
    const address = (what: string) => `${host}${path}${what}`;
    const written = (generation: string) => form.write({ canary: canary(generation), address }, id);
    const isRow = written('a').rows !== undefined;
    return [
      {
        ...{ id, form, place, host, written },
        title: `${form.name}, ${place.name}`,
        address: `agent.${id}${isRow ? '["k"]' : ''}`,
        valueOf: (generation) => address(canary(generation)),
      },
    ];
  }),
);

/** Each form and each place with some of the others in `npm test`, and all of them in `npm run torture`. */
export const CASES: readonly Case[] = longRows(
  ALL,
  ({ form, place }) => (FORMS.indexOf(form) + PLACES.indexOf(place)) % 3 === 0,
);

/** The files of a stack with all cases, and what is given to it from outside. */
export type Stack = {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
};

/** `status` of all agents: a wrong one has frames drawn around what stands beside it. */
export function stackOf(generation: string, organization: string, status = 'active'): Stack {
  const files: Record<string, string> = {};
  const env: Record<string, string> = {};
  const flags = ['--env', 'e'];
  const agents: Record<string, Json> = {};
  const bases: Record<string, Json> = {};
  const patches: Record<string, Json> = {};
  const variables: Record<string, Json> = {};
  for (const { id, place, written, form } of CASES) {
    const { value, cells, rows, file, variable, given, layer } = written(generation);
    const own = place.put(value);
    const common = { name: `Case ${id}`, status: rows === undefined ? status : '${each.s}' };
    if (layer === 'base') bases[id] = own;
    if (layer === 'patch') patches[`agent.${id}`] = own;
    const row = { k: 'k', s: status, ...cells };
    const table = rows === 'csv' ? `${id}.csv` : `${id}.json`;
    agents[id] = {
      ...common,
      ...(rows && { for_each: rows === 'inline' ? [row] : { $file: table }, key: '${each.k}' }),
      ...(layer === 'base' && { base: id }),
      ...(layer === undefined && own),
    };
    if (rows === 'csv') files[table] = `${Object.keys(row).join()}\n${Object.values(row).join()}\n`;
    if (rows === 'json') files[table] = JSON.stringify([row]);
    if (file !== undefined) files[`${id}.md`] = `${file}\n`;
    if (variable === undefined) continue;
    const name = form.from === '$secret' ? `SECRET_${id}` : `CALLSHEET_VAR_${id.toUpperCase()}`;
    if (given === 'env') env[name] = variable;
    if (given === 'var') flags.push('--var', `${id}=${variable}`);
    if (form.from !== '$secret')
      variables[id] = given === 'default' ? { default: variable } : { env: name };
  }
  files['callsheet.yaml'] = JSON.stringify(
    {
      callsheet: 1,
      variables,
      organizations: { harbor: organization },
      organization: 'harbor',
      environments: { e: { patches } },
      bases,
      agents,
    },
    null,
    1,
  );
  return { files, env, flags };
}
