import schema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import type { ErrorObject } from 'ajv';
import AjvDraft04 from 'ajv-draft-04';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { describe, expect, test } from 'vitest';
import { linesOfFrame, RULES } from '../../../src/features/review/sarif.ts';
import type { Report } from '../../../src/render/diagnostics.ts';
import { codeFrame } from '../../../src/stack/diagnostics.ts';
import { longTest } from '../../long.ts';
import { HOSTILE_PROBLEMS, problem, reportOf } from '../../render/report/sample.ts';
import { rendered } from './rendered.ts';

const ajv = new AjvDraft04.default({
  allErrors: true,
  strict: false,
  // One of its patterns has a bracket that a Unicode expression does not take.
  unicodeRegExp: false,
  formats: {
    uri: fullFormats.uri,
    'uri-reference': fullFormats['uri-reference'],
    'date-time': fullFormats['date-time'],
  },
});
const validate = ajv.compile(schema);

/** The one run of a report, which the public schema must accept. */
function runOf(report: Report) {
  const document = JSON.parse(rendered('sarif', report));
  const problems = validate(document) ? [] : (validate.errors ?? []);
  expect(problems.map((error: ErrorObject) => `${error.instancePath} ${error.message}`)).toEqual(
    [],
  );
  return document.runs[0];
}

const resultsOf = (report: Report) => runOf(report).results;

test('a problem is a result with its rule, its place and the lines around it', () => {
  const run = runOf(reportOf([problem()], { folder: 'stacks/harbor' }));
  const [result] = run.results;
  expect(result).toMatchObject({
    ruleId: 'schema/enum',
    level: 'error',
    message: { text: 'agent.desk: status cannot be "on". Use one of active, inactive.' },
  });
  expect(run.tool.driver.rules[result.ruleIndex].id).toBe('schema/enum');
  expect(result.locations).toEqual([
    {
      physicalLocation: {
        artifactLocation: { uri: 'stacks/harbor/agents/desk.yaml', uriBaseId: '%SRCROOT%' },
        region: {
          startLine: 4,
          startColumn: 13,
          endLine: 4,
          endColumn: 15,
          snippet: { text: 'on' },
        },
        contextRegion: {
          startLine: 3,
          endLine: 5,
          snippet: { text: '    name: Desk\n    status: on\n    model: a\n' },
        },
      },
      logicalLocations: [{ fullyQualifiedName: 'agent.desk.status', kind: 'member' }],
    },
  ]);
  expect(run.automationDetails.id).toBe('callsheet/stacks/harbor/');
  expect(run.tool.driver).toMatchObject({ name: 'Callsheet', version: '1.2.3' });
});

test('every rule stands once, with what GitHub asks of it', () => {
  const { rules } = runOf(reportOf([problem(), problem({ rule: 'team/greeting' })])).tool.driver;
  const ids = rules.map(({ id }: { readonly id: string }) => id);
  expect(ids).toEqual([...RULES.keys(), 'team/greeting']);
  for (const rule of rules) {
    for (const name of ['shortDescription', 'fullDescription', 'help'] as const) {
      expect(rule[name].text).toMatch(/^.{3,1024}$/);
    }
  }
});

test('what has no place is shown in callsheet.yaml, as GitHub drops what has none', () => {
  const [result] = resultsOf(
    reportOf([{ severity: 'error', rule: 'stack/missing', message: 'gone' }], { folder: 'a b' }),
  );
  expect(result.locations[0].physicalLocation).toEqual({
    artifactLocation: { uri: 'a%20b/callsheet.yaml', uriBaseId: '%SRCROOT%' },
    region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 },
  });
});

test.each([
  ['a b/ü#?%.yaml', 'a%20b/%C3%BC%23%3F%25.yaml', '%SRCROOT%'],
  ['a:b.yaml', 'a%3Ab.yaml', '%SRCROOT%'],
  ['./x/../y.yaml', 'y.yaml', '%SRCROOT%'],
  ['../shared/vars.yaml', '../shared/vars.yaml', undefined],
  ['/etc/vars.yaml', 'file:///etc/vars.yaml', undefined],
])('the file %j is %j', (file, uri, uriBaseId) => {
  const [result] = resultsOf(reportOf([problem({ position: { file, line: 1, column: 1 } })]));
  expect(result.locations[0].physicalLocation.artifactLocation).toEqual(
    uriBaseId === undefined ? { uri } : { uri, uriBaseId },
  );
});

test('hostile texts make no links, no control characters and no second meaning', () => {
  const text = rendered('sarif', reportOf(HOSTILE_PROBLEMS));
  const results = resultsOf(reportOf(HOSTILE_PROBLEMS));
  expect(results).toHaveLength(HOSTILE_PROBLEMS.length);
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
  for (const { message } of results) expect(message.text).not.toContain('](');
});

describe('the fingerprint', () => {
  const fingerprints = (...problems: readonly Partial<typeof base>[]) =>
    resultsOf(reportOf(problems.map((changes) => problem(changes)))).map(
      ({ partialFingerprints }: { readonly partialFingerprints: object }) => partialFingerprints,
    );
  const base = problem();
  const [own] = fingerprints({});

  test('has the name that GitHub reads', () => {
    expect(own).toEqual({ primaryLocationLineHash: expect.stringMatching(/^[0-9a-f]{16}:1$/) });
  });

  test.each([
    [
      'other lines',
      {
        position: { file: 'agents/desk.yaml', line: 40, column: 13 },
        frame: '  39 |     a: b\n> 40 |     status: on\n     |             ^^',
      },
    ],
    ['another wording', { message: 'agent.desk: status must not be "on"', hint: 'Do something' }],
    ['another indentation', { frame: '> 4 |   status: on\n    |           ^^' }],
  ])('stays with %s', (_, changes) => {
    expect(fingerprints(changes)).toEqual([own]);
  });

  test.each([
    ['another rule', { rule: 'schema/type' }],
    ['another field', { path: 'model' }],
    ['another resource', { address: 'agent.night' }],
    ['another line of text', { frame: '> 4 |     status: off\n    |             ^^^' }],
  ])('changes with %s', (_, changes) => {
    expect(fingerprints(changes)).not.toEqual([own]);
  });

  test('of equal findings in one file counts on', () => {
    expect(fingerprints({}, {})[1].primaryLocationLineHash).toBe(
      own.primaryLocationLineHash.replace(/1$/, '2'),
    );
  });
});

longTest(
  'a file with more results than GitHub takes keeps the errors and says how many are left out',
  () => {
    const warnings = Array.from({ length: 25_000 }, () => ({
      severity: 'warning' as const,
      rule: 'a/b',
      message: 'odd',
    }));
    const { results, invocations } = JSON.parse(
      rendered('sarif', reportOf([...warnings, problem()])),
    ).runs[0];
    expect(results).toHaveLength(25_000);
    expect(results[0].level).toBe('error');
    expect(invocations[0].toolExecutionNotifications[0].message.text).toMatch(/^1 more problem/);
  },
);

test.each([
  ['write bases under bases:', 'write bases under bases. Do it.'],
  ['there is an end.:', 'there is an end. Do it.'],
])('%j is one sentence', (message, text) => {
  const [result] = resultsOf(reportOf([problem({ message, hint: 'Do it' })]));
  expect(result.message.text).toBe(text);
});

/** The frame of a part of a text, read again. */
function linesOf(text: string, part: string, hidden?: string) {
  const source = { file: 'x.yaml', text };
  const at = (words: string) => {
    const start = text.indexOf(words);
    return { source, start, end: start + words.length };
  };
  return linesOfFrame(codeFrame(at(part), hidden === undefined ? [] : [at(hidden)]));
}

test.each([
  ['a word', 'a: 1\nb: two\nc: 3\n', 'two', 'two'],
  ['the last line without a break', 'a: 1\nb: two', 'two', 'two'],
  ['a line behind a tab', '\tb: two\n', 'two', 'two'],
  ['a line with pictures', '😀: 😀😀 x\n', '😀😀', '😀😀'],
  ['several lines', 'a: {\n  b: 1 }\n', '{\n  b: 1 }', '{'],
  ['a line with bars and carets', 'a: "1 | ^^"\n', '"1 | ^^"', '"1 | ^^"'],
  ['a long line that is cut', `${'x'.repeat(200)} bad ${'y'.repeat(200)}\n`, 'bad', 'bad'],
  ['invisible characters', 'a: x\u200by\n', 'x\u200by', 'x\\u{200b}y'],
])('what is marked in %s', (_, text, part, marked) => {
  const found = linesOf(text, part).flatMap((line) => line.marked ?? []);
  expect(found).toEqual([marked]);
});

test('lines have their numbers, and what is hidden stays so', () => {
  const lines = linesOf('a: 1\n\nt: hunter2 # end\nz\n', 'hunter2', 'hunter2');
  expect(lines).toEqual([
    { number: 2, text: '' },
    { number: 3, text: 't: *** # end', marked: '***' },
    { number: 4, text: 'z' },
  ]);
});

test('no frame has no lines', () => {
  expect(linesOfFrame(undefined)).toEqual([]);
});
