import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import schema from '../../../schemas/diagnostics.schema.json' with { type: 'json' };
import { renderReportJson } from '../../../src/render/report.ts';
import { HOSTILE_PROBLEMS, problem, reportOf } from './sample.ts';

const validate = new Ajv2020({ strict: true }).compile(schema);

test.each([
  ['nothing', []],
  ['an error and a warning', [problem(), problem({ severity: 'warning' })]],
  ['a problem without a place', [{ severity: 'error', rule: 'a/b', message: 'c' } as const]],
  ['hostile texts', HOSTILE_PROBLEMS],
])('%s is one document that the schema describes and that loses nothing', (_, diagnostics) => {
  const text = renderReportJson(reportOf(diagnostics));
  const document = JSON.parse(text);
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  expect(document.diagnostics).toEqual(diagnostics);
  expect(document.counts.errors + document.counts.warnings).toBe(diagnostics.length);
});

test('a terminal that the document is shown on has nothing to act on', () => {
  const text = renderReportJson(reportOf(HOSTILE_PROBLEMS));
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
  expect(text).toContain('\\u009b31m');
});
