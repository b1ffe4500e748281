import { expect, test } from 'vitest';
import type { PullDocument } from '../../../../src/core/documents.ts';
import { renderPullText, unifiedDiff } from '../../../../src/features/writing/pull/render.ts';

const lines = (...numbers: readonly (number | string)[]) =>
  numbers.map((one) => `${one}\n`).join('');

test('has three lines around a change, and joins changes that are near', () => {
  const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  const after = lines(1, 2, 3, 4, 'five', 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17);
  expect(unifiedDiff({ file: 'a.yaml', before, after })).toBe(
    [
      '--- a/a.yaml',
      '+++ b/a.yaml',
      '@@ -2,15 +2,15 @@',
      ...[
        ' 2',
        ' 3',
        ' 4',
        '-5',
        '+five',
        ' 6',
        ' 7',
        ' 8',
        ' 9',
        ' 10',
        '-11',
        ' 12',
        ' 13',
        ' 14',
      ],
      ...[' 15', ' 16', '+17'],
    ].join('\n'),
  );
});

test('has a hunk for each change that stands alone', () => {
  const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9);
  const after = lines('one', 2, 3, 4, 5, 6, 7, 8, 'nine');
  expect(unifiedDiff({ file: 'a', before, after }).match(/^@@.*@@$/gm)).toEqual([
    '@@ -1,4 +1,4 @@',
    '@@ -6,4 +6,4 @@',
  ]);
});

test('says where no line break ends a file, and shows nothing that a terminal would act on', () => {
  expect(unifiedDiff({ file: 'a', before: 'a\r\nb', after: 'a\r\n\u001b[31m' })).toBe(
    [
      '--- a/a',
      '+++ b/a',
      '@@ -1,2 +1,2 @@',
      ' a',
      '-b',
      '\\ No newline at end of file',
      '+\\x1b[31m',
      '\\ No newline at end of file',
    ].join('\n'),
  );
});

test('of files with too little in common every line goes and comes', () => {
  const lines = (mark: string) =>
    Array.from({ length: 2000 }, (_, at) => `${mark}${at}\n`).join('');
  const text = unifiedDiff({ file: 'a', before: lines('a'), after: lines('b') });
  expect(text.split('\n').slice(2, 4)).toEqual(['@@ -1,2000 +1,2000 @@', '-a0']);
  expect(text).toMatch(/\n-a1999\n\+b0\n[\s\S]*\n\+b1999$/);
});

test('hides lines that hold secrets', () => {
  const text = unifiedDiff({
    file: 'a',
    before: 'value: hunter2\nb: 1\n',
    after: 'value: hunter2\nb: 2\n',
    isHidden: (line) => line === 'value: hunter2',
  });
  expect(text).toContain('\n (secret)\n-b: 1\n');
});

const REST = 'callsheet pull --skip-refused';

test('a dry run of what pull refuses says that pull writes nothing', () => {
  const leaf = { address: 'agent.desk', path: 'greeting_message' };
  const document = {
    format: 'callsheet-pull',
    version: 1,
    status: 'dry_run',
    pulled: [{ ...leaf, file: 'agents.yaml', line: 3, before: 'Hello', after: 'Hi' }],
    kept: [],
    refused: [{ ...leaf, reason: 'both sides changed', advice: 'choose one' }],
    files: [{ path: 'agents.yaml', diff: '' }],
  } as unknown as PullDocument;
  const text = renderPullText(document, REST, { width: 200, color: false, verbose: false });
  expect(text.split('\n')[0]).toBe(
    'Would pull 1 live value into 1 file with --skip-refused, and nothing without it: 1 live value cannot be pulled. Nothing was written.',
  );
});

test('what somebody chose to leave is no refusal', () => {
  const document: PullDocument = {
    format: 'callsheet-pull',
    version: 1,
    status: 'nothing',
    pulled: [],
    kept: [],
    refused: [],
    files: [],
  };
  const left = { address: 'agent.desk', path: 'language', reason: 'shared', advice: 'change it' };
  const options = { width: 80, color: false, verbose: false };
  expect(renderPullText(document, REST, options, [left])).toBe(
    'Nothing was pulled.\n\nLeft as you chose:\n  = agent.desk language\n',
  );
});

test('values that stay for the same reason are counted, unless everything is asked for', () => {
  const own = (at: number) => `agent.desk_${at}`;
  const kept = [1, 2, 3, 4, 5, 6].map((at) => ({
    address: own(at),
    path: 'language',
    reason: `${own(at)} is not applied yet`,
    advice: '',
  }));
  const refused = kept.map((one) => ({ ...one, path: 'name', advice: 'change the base' }));
  const document: PullDocument = {
    format: 'callsheet-pull',
    version: 1,
    status: 'nothing',
    pulled: [],
    kept: kept.slice(0, 4),
    refused,
    files: [],
  };
  const options = { width: 80, color: false, verbose: false };
  const short = renderPullText(document, REST, options);
  expect(short).toContain('  = agent.desk_4 language\n\nNot pulled:');
  expect(short).toContain('agent.desk_3 name');
  expect(short).toContain('  ⋯ 3 more with name; --verbose lists them\n');
  expect(short).not.toContain('agent.desk_4 name');
  const whole = renderPullText(document, REST, { ...options, verbose: true });
  expect(whole).toContain('agent.desk_6 name');
  expect(whole).not.toContain('⋯');
});

test.each(['before', 'after'])(
  'a change of many lines is shown where there was nothing %s',
  (side) => {
    const lines = 'a\n'.repeat(3000);
    const [before, after] = side === 'before' ? ['', lines] : [lines, ''];
    const shown = unifiedDiff({ file: 'a', before, after }).split('\n').slice(2);
    expect(shown[0]).toBe(side === 'before' ? '@@ -0,0 +1,3000 @@' : '@@ -1,3000 +0,0 @@');
    expect(shown).toHaveLength(3001);
  },
);

test('hides the credentials of a line that no field tells of', () => {
  const before =
    'auth_token: { $secret: "exec:curl https://vault.example.test/?token=hvs-4711" }\n';
  const text = unifiedDiff({ file: 'a', before, after: `${before}b: 1\n` });
  expect(text).toContain(' auth_token: { $secret: "exec:curl https://vault.example.test/?token=');
  expect(text).not.toContain('hvs-4711');
});
