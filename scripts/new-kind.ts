/**
 * `npm run new-kind -- call_script` writes what a new kind of resource takes, with plain REST endpoints and two
 * fields to start from: its schema, its file in `src/kinds/` with a line in the list, its operations, its row in
 * the simulator's tables, and a golden case. What the platform's specification says goes in by hand afterwards.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [, , name = ''] = process.argv;
const root = new URL('../', import.meta.url);
const problem = problemOf();
if (problem === undefined) {
  for (const [path, text] of Object.entries(written())) write(path, text);
  console.log(`next:
  npm run generate
  UPDATE_GOLDEN=1 npx vitest run test/golden -t new-${name.replaceAll('_', '-')}
  npm run check`);
} else {
  console.error(problem);
  process.exitCode = 2;
}

function problemOf(): string | undefined {
  if (!/^[a-z]+(_[a-z]+)*$/.test(name))
    return 'usage: npm run new-kind -- <name>, in the singular and in snake_case, such as call_script';
  return existsSync(new URL(`schemas/kinds/${name}.schema.json`, root))
    ? `there is a kind ${name} already`
    : undefined;
}

/** Contents by path. */
function written(): { readonly [path: string]: string } {
  const section = name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`;
  const [one, many] = [pascal(name), pascal(section)];
  const kind: Names = {
    section,
    one,
    many,
    constant: one.charAt(0).toLowerCase() + one.slice(1),
    words: name.replaceAll('_', ' '),
    plural: section.replaceAll('_', ' '),
    file: name.replaceAll('_', '-'),
    path: section.replaceAll('_', '-'),
  };
  return {
    [`schemas/kinds/${name}.schema.json`]: schemaText(kind),
    [`src/kinds/${kind.file}.ts`]: kindText(kind),
    'src/kinds/index.ts': sortImports(
      edit('src/kinds/index.ts', [
        [
          "import type { Kind } from './kind.ts';\n",
          `import { ${kind.constant} } from './${kind.file}.ts';\n`,
        ],
        ['  agent,\n];', `  ${kind.constant},\n`],
      ]),
    ),
    'schemas/platform.openapi.yaml': edit('schemas/platform.openapi.yaml', [
      [
        '  - name: reports\n',
        `  - name: ${kind.plural}\n    description: What the platform calls ${kind.plural}.\n`,
      ],
      ['components:\n', pathsText(kind)],
      ['    organizationFilter:\n', parameterText(kind)],
      ['    VoiceCreated:\n', conflictText(kind)],
      ['    RetryPolicyAnswer:\n', schemasText(kind)],
    ]),
    'src/simulator/tables.ts': edit('src/simulator/tables.ts', [
      ['} as const satisfies', rowText(kind)],
    ]),
    [`test/golden/new-${kind.file}/stack/callsheet.yaml`]: stackText(kind),
    [`test/golden/new-${kind.file}/live.json`]: '{}\n',
  };
}

type Names = {
  /** `call_scripts` */
  readonly section: string;
  /** `CallScript` and `CallScripts` */
  readonly one: string;
  readonly many: string;
  /** `callScript` */
  readonly constant: string;
  /** `call script` and `call scripts` */
  readonly words: string;
  readonly plural: string;
  /** `call-script` and `call-scripts` */
  readonly file: string;
  readonly path: string;
};

function pascal(text: string): string {
  return text.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A file with a text put in before the last place of each mark. Throws where one is gone. */
function edit(
  path: string,
  insertions: readonly (readonly [mark: string, text: string])[],
): string {
  let text = readFileSync(new URL(path, root), 'utf8');
  for (const [mark, inserted] of insertions) {
    const at = text.startsWith(mark) ? 0 : text.lastIndexOf(`\n${mark}`) + 1;
    if (at === 0 && !text.startsWith(mark)) throw new Error(`${path} has no line ${mark.trim()}`);
    text = text.slice(0, at) + inserted + text.slice(at);
  }
  return text;
}

/** The imports that a file begins with, by their paths, which is how they are linted. */
function sortImports(text: string): string {
  const lines = text.split('\n');
  const imports = lines.slice(0, lines.indexOf(''));
  const path = (line: string) => /'(.*)'/.exec(line)?.[1] ?? '';
  return [
    ...imports.sort((a, b) => (path(a) < path(b) ? -1 : 1)),
    ...lines.slice(imports.length),
  ].join('\n');
}

function write(path: string, text: string): void {
  const file = new URL(path, root);
  mkdirSync(dirname(file.pathname), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${path}`);
}

/** Two examples of each field: the contract suite makes a resource of the first and changes it to the second. */
function schemaText({ words, plural }: Names): string {
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:callsheet:kind:${name}",
  "title": "${title}",
  "description": "What the platform calls ${plural}.",
  "type": "object",
  "required": ["name"],
  "additionalProperties": false,
  "properties": {
    "id": {
      "type": "string",
      "format": "uuid",
      "readOnly": true,
      "description": "The ${words}'s identifier."
    },
    "organization_id": {
      "type": "string",
      "format": "uuid",
      "x-config": "organization",
      "x-immutable": true,
      "description": "The organization that owns the ${words}. Configured as \`organization\`.",
      "examples": ["harbor"]
    },
    "name": {
      "type": "string",
      "x-clearable": false,
      "description": "Unique in the organization.",
      "examples": ["First ${words}", "Second ${words}"]
    },
    "note": {
      "type": "string",
      "description": "What it is for.",
      "examples": ["For the front desk.", "For the night line."]
    },
    "created_at": {
      "type": "string",
      "format": "date-time",
      "readOnly": true,
      "description": "When the ${words} was made."
    },
    "updated_at": {
      "type": "string",
      "format": "date-time",
      "readOnly": true,
      "description": "When the ${words} was last written."
    }
  }
}
`;
}

function kindText({ section, one, many, constant }: Names): string {
  return `import schema from '../../schemas/kinds/${name}.schema.json' with { type: 'json' };
import type { Kind } from './kind.ts';
import { restCalls } from './making.ts';

export const ${constant}: Kind = {
  name: '${name}',
  section: '${section}',
  schema,
  naturalKey: [['organization_id', 'name']],
  tie: 'error',
  refusesTwins: true,
  scope: ['organization_id'],
  columns: ['note', 'updated_at'],
  ...restCalls({
    list: 'list${many}',
    get: 'get${one}',
    create: 'create${one}',
    update: 'update${one}',
    delete: 'delete${one}',
    id: '${constant}Id',
  }),
  document: (record) => record,
  facets: [],
};
`;
}

function pathsText({ one, many, constant, words, plural, path }: Names): string {
  return `  /v1/${path}:
    get:
      operationId: list${many}
${head(plural, `List ${plural} of the account's organizations`)}
      x-paginated: true
      x-invalid: coded
      parameters:
        - { $ref: '#/components/parameters/organizationFilter' }
        - { $ref: '#/components/parameters/page' }
        - { $ref: '#/components/parameters/limit' }
      responses:
        '200':
          description: A page of ${plural}.
          content:
            application/json:
              schema:
                type: object
                required: [data]
                properties:
                  data:
                    type: array
                    items: { $ref: '#/components/schemas/${one}' }
                  pagination: { $ref: '#/components/schemas/Pagination' }
${refused({ 400: 'InvalidCoded', 403: 'ForbiddenOrganization' })}
    post:
      operationId: create${one}
${head(plural, `Create one of the ${plural}`)}
      x-invalid: details
${body(`${one}Create`)}
      responses:
${answer(one, words, '201')}
${refused({ 400: 'InvalidDetails', 403: 'ForbiddenOrganization', 409: `${one}Exists` })}

  /v1/${path}/{${constant}Id}:
    parameters:
      - { $ref: '#/components/parameters/${constant}Id' }
    get:
      operationId: get${one}
${head(plural, `Read one of the ${plural}`)}
      responses:
${answer(one, words, '200')}
${refused({ 404: 'NotFound' })}
    patch:
      operationId: update${one}
${head(plural, `Change some fields of one of the ${plural}`)}
      x-invalid: details
${body(`${one}Update`)}
      responses:
${answer(one, words, '200')}
${refused({ 400: 'InvalidDetails', 404: 'NotFound', 409: `${one}Exists` })}
    delete:
      operationId: delete${one}
${head(plural, `Delete one of the ${plural}`)}
      responses:
        '204': { description: The ${words} is gone. }
${refused({ 404: 'NotFound' })}

`;
}

function head(tag: string, summary: string): string {
  return `      tags: [${tag}]
      summary: ${summary}
      x-documented: true
      x-scoped: narrowed`;
}

function body(schema: string): string {
  return `      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/${schema}' }`;
}

function answer(one: string, words: string, status: string): string {
  return `        '${status}':
          description: The ${words} as it is now.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/${one}Answer' }`;
}

/** References to the answers of an operation that are errors, by their status. */
function refused(own: { readonly [status: string]: string }): string {
  const all = {
    401: 'Unauthorized',
    429: 'RateLimited',
    500: 'Broken',
    503: 'Unavailable',
    ...own,
  };
  return Object.entries(all)
    .map(
      ([status, response]) => `        '${status}': { $ref: '#/components/responses/${response}' }`,
    )
    .join('\n');
}

function parameterText({ constant, words }: Names): string {
  return `    ${constant}Id:
      name: ${constant}Id
      in: path
      required: true
      description: The ${words}.
      schema: { type: string }
`;
}

function conflictText({ one, words }: Names): string {
  return `    ${one}Exists:
      description: The organization has a ${words} of this name.
      content:
        application/json:
          schema: { $ref: '#/components/schemas/ApiError' }
          examples:
            name:
              value: { error: conflict, error_description: A ${words} with this name exists. }
`;
}

function schemasText({ one, words }: Names): string {
  return `    ${one}: { $ref: wire.schema.generated.json#/$defs/${name} }
    ${one}Answer:
      type: object
      description: One ${words}, wrapped.
      required: [data]
      properties:
        data: { $ref: '#/components/schemas/${one}' }
    ${one}Create:
      description: A new ${words}.
      allOf:
        - { $ref: '#/components/schemas/${one}Update' }
        - { $ref: wire.schema.generated.json#/$defs/${name}_create }
    ${one}Update:
      $ref: wire.schema.generated.json#/$defs/${name}_write
      description: The fields to change.

`;
}

function rowText({ section, words }: Names): string {
  const noun = words.charAt(0).toUpperCase() + words.slice(1);
  return `  ${section}: {
    noun: '${noun}',
    empty: { note: null },
    moves: 'times',
    created: 'record',
    errors: 'coded',
  },
`;
}

function stackText({ section, words }: Names): string {
  return `callsheet: 1
platform: { base_url: "https://platform.example.test" }
organizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }
organization: harbor
${section}:
  first: { name: First ${words}, note: For the front desk. }
`;
}
