import { describe, expect, test, vi } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { linesIn } from '../../src/state/journal-text.ts';
import {
  formatState,
  type Line,
  parseState,
  readMark,
  readState,
} from '../../src/state/state-text.ts';
import { isTorture } from '../long.ts';
import { failureOf, HOLDS, resource, sealed, stateWith } from './sample.ts';

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const FILE = 'x/state.json';
const SOURCE = `sha256:${'0b'.repeat(32)}`;
/** Of so many bits one is flipped: in three bytes each of the eight places once. */
const BITS = isTorture ? 1 : 3;
const state = stateWith(
  {
    'agent.reception': resource('a1'),
    'agent.clinic["Ha\\"rbor – é"]': resource('a2', { pin: null, protect: true }),
    'knowledge_source.clinic.faq': resource('k1', {
      kind: 'knowledge_source',
      scope: { knowledge_base_id: '0d0e7a52-6d0a-4a53-9a4e-0a1f5a6f2b11' },
      leaves: {},
    }),
  },
  { last_run: '2026-03-02-0830-ab12' },
);

async function* linesOf(text: string): AsyncGenerator<Line> {
  yield* linesIn([text]);
}

describe('what is written is read again', () => {
  test.each([
    ['with resources', state],
    ['without resources', stateWith({})],
    ['with holds', stateWith(state.resources, { holds: HOLDS })],
    [
      'with the sources of secrets',
      stateWith({
        'agent.reception': resource('a1', {
          leaves: {
            'integrations.smsProvider.auth_token': {
              fingerprint: 'hmac:00000000:ff',
              source: SOURCE,
            },
            'integrations.ehrProvider.password': { unknown: true, source: SOURCE },
          },
        }),
      }),
    ],
  ])('%s', async (_name, given) => {
    const text = await formatState(given);
    expect(await parseState(text, FILE)).toEqual(given);
    expect(await readState(linesOf(text))).toEqual(given);
    const { lineage, serial, last_run } = given;
    expect(await readMark(linesOf(text))).toMatchObject({ lineage, serial, last_run });
  });

  test('in one order, one resource a line', async () => {
    const turned = stateWith(Object.fromEntries(Object.entries(state.resources).reverse()), {
      last_run: state.last_run,
    });
    const text = await formatState(turned);
    expect(text).toBe(await formatState(state));
    expect(text.split('\n')).toHaveLength(Object.keys(state.resources).length + 4);
  });

  test.each([
    ['indented', (text: string) => JSON.stringify(JSON.parse(text), null, 2)],
    ['with other line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['without its last line break', (text: string) => text.trimEnd()],
  ])('also %s', async (_name, relay) => {
    const text = relay(await formatState(state));
    expect(await parseState(text, FILE)).toEqual(state);
    expect([undefined, state]).toContainEqual(await readState(linesOf(text)));
  });

  test('and what could not be read is not written', async () => {
    const wrong = stateWith({ reception: resource('a1') });
    await expect(formatState(wrong)).rejects.toThrow('refused to write');
  });
});

describe('what is damaged is refused in its own words', () => {
  const text = formatState(state);
  test.each([
    ['nothing', () => '', 'is empty'],
    ['white space', () => ' \n', 'is empty'],
    ['zero bytes', () => '\0'.repeat(512), 'nothing but zero bytes'],
    ['a half', (t: string) => t.slice(0, t.length / 2), 'was cut off'],
    ['all but the end', (t: string) => t.slice(0, -4), 'was cut off'],
    ['a lost quote', (t: string) => t.replace('"serial"', '"serial'), 'no longer valid JSON'],
    ['another text', () => 'lineage: 1\n', 'is not JSON'],
    ['a merge', (t: string) => t.replace('\n', '\n<<<<<<< HEAD\n'), 'unfinished Git merge'],
    [
      'a changed value',
      (t: string) => t.replace('"serial":1', '"serial":2'),
      'checksum does not match',
    ],
    ['no checksum', () => JSON.stringify(state), 'checksum does not match'],
    ['an older version', () => sealed({ ...state, version: 0 }), 'unknown version 0'],
    ['another shape', () => sealed({ ...state, serial: 'one' }), '/serial must be integer'],
    ['an unknown member', () => sealed({ ...state, more: 1 }), 'must NOT have additional'],
  ])('%s', async (_name, damage, words) => {
    const failure = await failureOf(async () => parseState(await damage(await text), FILE));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(FILE);
    expect(failure.message).toContain(words);
    expect(failure.hint).toContain('callsheet state repair');
    const damaged = await damage(await text);
    expect(await readState(linesOf(damaged))).toBeUndefined();
    expect(await readMark(linesOf(damaged))).toBeUndefined();
  });

  test.each([
    ['a newer version', () => sealed({ ...state, version: 3 }), 'newer Callsheet', 'Use the newer'],
    [
      'another JSON file',
      () => '{"version":4,"serial":1}',
      'not a Callsheet state',
      'its own state file',
    ],
    ['a list', () => '[]', 'not a Callsheet state', 'its own state file'],
  ])('%s', async (_name, make, words, hint) => {
    const failure = await failureOf(async () => parseState(await make(), FILE));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(words);
    expect(failure.hint).toContain(hint);
  });

  test('every cut and flipped bits: refused, or the same state', async () => {
    const bytes = Buffer.from(await formatState(stateWith({ 'agent.desk': resource('a1') })));
    const whole = await parseState(bytes.toString(), FILE);
    const seen = { refused: 0, same: 0 };
    const tryOut = async (altered: Buffer) => {
      const lines = () => linesOf(altered.toString());
      expect([undefined, whole]).toContainEqual(await readState(lines()));
      expect([undefined, whole.serial]).toContain((await readMark(lines()))?.serial);
      try {
        expect(await parseState(altered.toString(), FILE)).toEqual(whole);
        seen.same += 1;
      } catch (error) {
        if (!(error instanceof CallsheetError && error.code === 'state')) throw error;
        seen.refused += 1;
      }
    };
    for (let length = 0; length < bytes.length; length += 1)
      await tryOut(bytes.subarray(0, length));
    for (let bit = 0; bit < bytes.length * 8; bit += BITS) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      await tryOut(altered);
    }
    // Only white space between tokens can change without a loss.
    expect(seen.same).toBeLessThan(20);
    expect(seen.refused).toBeGreaterThan((bytes.length * 8) / BITS);
  });
});
