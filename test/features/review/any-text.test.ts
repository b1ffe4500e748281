import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import { runs } from '../../long.ts';
import { HOSTILE, problem, reportOf } from '../../render/report/sample.ts';
import { rendered } from './rendered.ts';

/** Any characters, among them halves of pairs, and pieces of what would break out of a format. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(...HOSTILE),
);

const problems = fc.array(
  fc
    .record({
      rule: text,
      message: text,
      hint: text,
      address: text,
      path: text,
      frame: text,
      file: text,
    })
    .map(({ file, ...texts }) => problem({ ...texts, position: { file, line: 1, column: 1 } })),
  { maxLength: 4 },
);

const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u;

test('any text makes documents that say it and nothing else', () => {
  fc.assert(
    fc.property(problems, text, (diagnostics, folder) => {
      const report = reportOf(diagnostics, { folder });
      expect(JSON.parse(rendered('json', report)).diagnostics).toEqual(diagnostics);
      expect(JSON.parse(rendered('sarif', report)).runs[0].results).toHaveLength(
        diagnostics.length,
      );

      const commands = rendered('github', report).split(/\r\n|\r|\n/);
      expect(commands.pop()).toBe('');
      expect(commands).toHaveLength(diagnostics.length);
      for (const command of commands) expect(command).toMatch(/^::error [^\n]*::/);

      const xml = rendered('junit', report);
      const document = XmlDocument.fromString(xml);
      const files = new Set([
        'callsheet.yaml',
        ...diagnostics.map(({ position }) => position?.file),
      ]);
      const cases = document.find('/testsuites/testsuite/testcase').length;
      document.dispose();
      expect(cases).toBeLessThanOrEqual(files.size);
      expect(cases).toBeGreaterThan(0);
    }),
    { numRuns: runs(200) },
  );
});

test('nothing in them acts on a terminal', () => {
  fc.assert(
    fc.property(problems, (diagnostics) => {
      const report = reportOf(diagnostics);
      expect(rendered('json', report)).not.toMatch(UNSEEN);
      expect(rendered('sarif', report)).not.toMatch(UNSEEN);
      expect(rendered('github', report)).not.toMatch(UNSEEN);
      expect(rendered('junit', report).replaceAll('\t', '')).not.toMatch(UNSEEN);
    }),
    { numRuns: runs(200) },
  );
});
