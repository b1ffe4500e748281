import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { formatEntry, JOURNAL_HEADER, TORN } from '../../src/state/journal-text.ts';
import {
  began,
  ended,
  entriesIn,
  failureOf,
  intent,
  outcome,
  recorded,
  resource,
  snapshot,
} from './sample.ts';

const FILE = 'runs/r1.open.jsonl';
const entries = [
  began('r1'),
  snapshot('agent.desk', 'a1'),
  snapshot('agent.new', null),
  intent(1, 'agent.desk', 'a1'),
  outcome(1, 'a1'),
  recorded('agent.desk', resource('a1')),
  recorded('agent.old', null),
  ended(['agent.desk']),
];
const whole = JOURNAL_HEADER + entries.map((entry) => formatEntry(entry)).join('');

describe('a journal', () => {
  test('is read as it was written', async () => {
    expect(await entriesIn(whole, FILE)).toEqual({ entries, torn: false });
  });

  // What ends a line for some readers ends none here.
  test.each(['\u2028', '\u2029', '\u0085', '\r', '\u000b', '\ufeff', '\u0000', '\ud800'])(
    'is read as it was written where a text holds %j',
    async (odd) => {
      const entry = { ...outcome(1, 'a1'), error: `a${odd}b` };
      const text = `${JOURNAL_HEADER}${formatEntry(began('r1'))}${formatEntry(entry)}`;
      expect(await entriesIn(text, FILE)).toEqual({
        entries: [began('r1'), entry],
        torn: false,
      });
    },
  );

  test('of version 1 is read', async () => {
    const text = await readFile(new URL('fixtures/journal.v1.jsonl', import.meta.url), 'utf8');
    expect(text).toBe(whole);
    expect((await entriesIn(text, FILE)).entries).toEqual(entries);
  });

  test('cut off anywhere gives the lines before the cut', async () => {
    const bytes = Buffer.from(whole);
    for (let length = 0; length < bytes.length; length += 1) {
      const text = bytes.subarray(0, length).toString();
      const lines = text.split('\n').length - 1;
      const parsed = await entriesIn(text, FILE);
      expect(parsed.entries).toEqual(entries.slice(0, Math.max(0, lines - 1)));
      expect(parsed.torn).toBe(length > 0 && !text.endsWith('\n'));
    }
  });
});

describe('a journal that was gone on with after its end was cut off', () => {
  const half = formatEntry(intent(1, 'agent.desk')).slice(0, 40);
  const start = JOURNAL_HEADER + formatEntry(began('r1'));
  const end = formatEntry(ended());
  test.each([
    ['has the cut line left out', start + half + TORN + end],
    ['twice', start + half + TORN + half + TORN + end],
    ['twice, the second time in the mark itself', start + half + TORN.slice(0, 7) + TORN + end],
    ['though nothing was cut', start + TORN + end],
    [
      'though it lacked only the line break',
      start + formatEntry(intent(1, 'agent.desk')).trimEnd() + TORN + end,
    ],
  ])('%s', async (_name, text) => {
    expect(await entriesIn(text, FILE)).toEqual({
      entries: [began('r1'), ended()],
      torn: false,
    });
  });
});

describe('a journal with damage is refused', () => {
  const lines = whole.split('\n');
  const replaceLine = (index: number, line: string) => lines.with(index, line).join('\n');
  test.each([
    [
      'in the middle',
      replaceLine(3, `${lines[3]?.replace('agent', 'agemt')}`),
      'line 4: its checksum',
    ],
    ['in its last whole line', whole.replace('"verified":true', '"verified":tRue'), 'line 9'],
    ['by a lost line', replaceLine(4, ''), 'line 5: its checksum'],
    ['in its header', replaceLine(0, '{"format":"callsheet'), 'does not begin as a journal'],
    ['as another file', 'a,b\n1,2\n', 'does not begin as a journal'],
    ['by an unknown entry', start('{"type":"party"}'), 'line 2: value of tag "type"'],
    [
      'by an entry of another shape',
      start('{"type":"outcome","seq":1}'),
      "line 2: must have required property 'at'",
    ],
  ])('%s', async (_name, text, words) => {
    const failure = await failureOf(() => entriesIn(text, FILE));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(FILE);
    expect(failure.message).toContain(words);
    expect(failure.hint).toContain('callsheet state repair');
  });

  test('and one of a newer version is called that', async () => {
    const failure = await failureOf(() =>
      entriesIn(whole.replace('"version":1', '"version":2'), FILE),
    );
    expect(failure.message).toContain('newer Callsheet');
  });

  function start(entry: string): string {
    return JOURNAL_HEADER + formatEntry(JSON.parse(entry));
  }
});
