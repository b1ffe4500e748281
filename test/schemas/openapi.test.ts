import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSources } from '../../scripts/generate/document.ts';
import { checkRules, lintDocument } from '../../scripts/lint-openapi/lint.ts';
import { checkStructure } from '../../scripts/lint-openapi/validators.ts';
import { longRows } from '../long.ts';

const folder = new URL('../../schemas/', import.meta.url);
const text = readFileSync(new URL('platform.openapi.yaml', folder), 'utf8');

/** The document, or what is left of it, with one passage replaced, the first one of its kind. */
function replaced(passage: string, replacement: string, of = text): string {
  expect(of.includes(passage), `the passage to spoil is there: ${passage}`).toBe(true);
  return of.replace(passage, () => replacement);
}

/** A passage of the document, what is put in its place, and the rule that says so. */
type Spoil = readonly [rule: string, passage: string, replacement: string];

/** The document with all of these passages replaced: to read it takes long, and no rule minds the others. */
function spoilt(spoils: readonly Spoil[]): string {
  return spoils.reduce(
    (left, [, passage, replacement]) => replaced(passage, replacement, left),
    text,
  );
}

/** Rows in rounds, each with one row of a rule; `npm test` takes the first. */
function roundsOf(rows: readonly Spoil[]) {
  const rounds = Object.values(
    Object.groupBy(rows, (row) => rows.filter(([rule]) => rule === row[0]).indexOf(row)),
  ).map((round = []) => ({ round, rules: round.map(([rule]) => rule) }));
  return longRows(rounds, (_, at) => at === 0);
}

const HELD_BY_VALIDATORS: readonly Spoil[] = [
  ['struct', '      summary: Exchange a key', '      sumary: Exchange a key'],
  ['no-unresolved-refs', "'#/components/schemas/Token' }", "'#/components/schemas/Tokn' }"],
  ['no-unresolved-refs', 'defs/retry_policy\n', 'defs/retry_polisy\n'],
  [
    'path-parameters-defined',
    "      - { $ref: '#/components/parameters/agentId' }\n    get:\n      operationId: getAgent\n",
    '    get:\n      operationId: getAgent\n',
  ],
  ['no-invalid-media-type-examples', 'value: { error: Forbidden }', 'value: { error: 1 }'],
];

test.each(roundsOf(HELD_BY_VALIDATORS))('the validators hold $rules', async ({ round, rules }) => {
  const problems = await lintDocument(folder, spoilt(round));
  const found = problems.flatMap(({ message }) => /\(([\w-]+)\)/.exec(message)?.[1] ?? []);
  expect(found).toEqual(expect.arrayContaining(rules));
});

const HELD_BY_US: readonly Spoil[] = [
  ['documented', '      x-documented: true\n', ''],
  ['documented', '      x-assumption: agent.delete\n', ''],
  ['scoped', '      x-scoped: open\n', '      x-scoped: wide\n'],
  ['statuses', "        '429': { $ref: '#/components/responses/RateLimited' }\n", ''],
  ['statuses', "        '503': { $ref: '#/components/responses/Unavailable' }\n", ''],
  ['statuses', "        '400': { $ref: '#/components/responses/InvalidSchema' }\n", ''],
  ['statuses', "        '403': { $ref: '#/components/responses/ForbiddenScope' }\n", ''],
  ['invalid', '      x-invalid: schema\n', '      x-invalid: issues\n'],
  ['invalid', '      x-invalid: schema\n', ''],
  ['unauthorized', '      x-unauthorized: unauthorized\n', '      x-unauthorized: invalid_token\n'],
  ['paginated', '      x-paginated: true\n', ''],
  ['paginated', "        - { $ref: '#/components/parameters/limit' }\n", ''],
  [
    'answer-schema',
    "              schema: { $ref: '#/components/schemas/Account' }\n",
    '              example: {}\n',
  ],
  [
    'error-example',
    '          examples:\n            organization:\n              value: { error: invalid organization_id }\n',
    '',
  ],
  [
    'open-answers',
    '      description: Where a page stands in its list.\n',
    '      additionalProperties: false\n',
  ],
  [
    'one-good-answer',
    "        '201': { $ref: '#/components/responses/VoiceCreated' }\n",
    "        '202': { $ref: '#/components/responses/Broken' }\n",
  ],
  ['assumption-told', '    why: Lists come under `data`', '    way: Lists come under `data`'],
  ['assumption-known', 'x-assumption: history.list-shape', 'x-assumption: history.list-form'],
  [
    'assumption-marked',
    '      x-documented: false\n      x-assumes: [page.out-of-range]',
    '      x-assumes: [page.out-of-range]',
  ],
  ['assumption-used', 'x-assumes: [history.recorded]', 'x-assumes: []'],
  [
    'described',
    '        account_id: { type: string, description: The account. }',
    '        account_id: { type: string }',
  ],
  ['required-described', '      required: [account_id]\n', '      required: [account_id, name]\n'],
  ['known-keywords', '      x-repeatable: true\n', '      x-repeatible: true\n'],
];

test.each(roundsOf(HELD_BY_US))('our own rules hold $rules', ({ round, rules }) => {
  const { document } = readSources(folder, spoilt(round));
  const found = checkRules(folder, document).map(({ rule }) => rule);
  expect(found).toEqual(expect.arrayContaining(rules));
});

test('the document refers to no schema of the configuration', () => {
  const other = replaced('wire.schema.generated.json#/$defs/agent\n', 'kinds/agent.schema.json\n');
  expect(() => readSources(folder, other)).toThrow('kinds/agent.schema.json');
});

test('a problem has a place', async () => {
  const line = text.split('\n').findIndex((one) => one.includes('x-invalid: schema'));
  const [problem] = await lintDocument(folder, replaced('x-scoped: open', 'x-scoped: wide'));
  expect(problem).toMatchObject({ file: 'schemas/platform.openapi.yaml', column: 5 });
  expect(problem?.line).toBeLessThan(line);
  expect(problem?.line).toBe(text.split('\n').indexOf('  /oauth/token:') + 2);
});

test('the official schema is looked at on its own', async () => {
  const document = parse(text);
  document.info.version = 1;
  expect(await checkStructure(document)).toMatchObject([
    { rule: 'openapi-3.1', path: ['info', 'version'] },
  ]);
});
