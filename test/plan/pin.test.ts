import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/kinds/index.ts';
import type { Extent, LiveResource } from '../../src/plan/reader.ts';
import {
  fastRefreshPin,
  isSamePin,
  isStampOver,
  livePin,
  STAMP_DOUBT_MS,
} from '../../src/plan/refresh.ts';
import type { RememberedPin } from '../../src/state/model.ts';

const AT = Date.parse('2026-11-22T12:00:00.000Z');
const ago = (milliseconds: number) => new Date(AT - milliseconds).toISOString();

test.each<readonly [string, string | null, boolean]>([
  ['long ago', ago(STAMP_DOUBT_MS * 6), true],
  ['just long enough', ago(STAMP_DOUBT_MS), true],
  ['a moment ago', ago(STAMP_DOUBT_MS - 1), false],
  ['of now', ago(0), false],
  ['to come, by a clock that runs ahead', ago(-60_000), false],
  ['with an offset', '2026-11-22T12:30:00.000+01:00', true],
  ['with an offset that makes it a moment ago', '2026-11-22T12:59:59.000+01:00', false],
  ['with an offset without a colon', '2026-11-22T12:30:00.000+0100', true],
  ['that does not say its zone', '2026-11-21T12:00:00', false],
  ['that is no time', 'yesterday', false],
  ['that is not told', null, false],
])('a stamp %s', (_, stamp, isOver) => {
  expect(isStampOver(stamp, AT)).toBe(isOver);
});

const AGENT = kindNamed('agent');
const POLICY = kindNamed('retry_policy');
const PIN: RememberedPin = { digest: 'sha256:one', updated_at: ago(60_000), history_id: 41 };

/** An agent that was read to this extent, at a time of the platform's clock. */
const live = (extent: Extent, readAt?: number): LiveResource => ({
  id: 'a1',
  scope: {},
  extent,
  document: { name: 'Desk' },
  record: { name: 'Desk', updated_at: ago(60_000) },
  readAt,
});

describe('the pin to remember', () => {
  test('is that of what was read, with the history that is known', () => {
    const pin = livePin(AGENT, live('whole'), 41);
    expect(pin).toEqual({
      digest: expect.stringMatching(/^sha256:/),
      updated_at: ago(60_000),
      history_id: 41,
    });
    expect(pin?.digest).not.toBe(PIN.digest);
    expect(livePin(AGENT, live('listed'), 42)).toEqual({ ...pin, history_id: 42 });
    expect(livePin(AGENT, live('whole'))).toEqual({ ...pin, history_id: null });
  });

  test('is none where nothing could be read', () => {
    expect(livePin(AGENT, live('nothing'), 41)).toBeNull();
  });
});

describe('a pin is certain', () => {
  const certain: RememberedPin = { ...PIN, certain: true };
  const fresh: RememberedPin = { ...PIN, updated_at: ago(1000) };
  const freshCertain: RememberedPin = { ...fresh, certain: true };

  test.each<readonly [string, RememberedPin, RememberedPin | undefined]>([
    ['whose stamp is over', PIN, undefined],
    ['that was certain before and is the same', fresh, freshCertain],
    ['whatever its history', fresh, { ...freshCertain, history_id: 7 }],
  ])('%s', (_, pin, known) => {
    expect(fastRefreshPin(AGENT, live('whole', AT), pin, known)).toEqual({ ...pin, certain: true });
  });

  test('that was certain before, although the platform does not say what time it is', () => {
    expect(fastRefreshPin(AGENT, live('whole'), PIN, certain)).toEqual(certain);
  });

  test.each<readonly [string, RememberedPin, RememberedPin | null | undefined]>([
    ['whose stamp is not over', fresh, undefined],
    ['of which nothing was known', fresh, null],
    ['that was not certain before', fresh, fresh],
    ['that has another digest', fresh, { ...freshCertain, digest: 'sha256:other' }],
    ['that has another stamp', fresh, { ...freshCertain, updated_at: ago(2000) }],
  ])('and not one %s', (_, pin, known) => {
    expect(fastRefreshPin(AGENT, live('whole', AT), pin, known)).toEqual(pin);
  });

  test.each<readonly [string, string | null, boolean]>([
    ['milliseconds', ago(1000).replace(/(?:\.\d+)?Z$/, '.120Z'), true],
    ['less than milliseconds', ago(1000).replace(/(?:\.\d+)?Z$/, '.000250Z'), true],
    ['tenths of a second', ago(1000).replace(/(?:\.\d+)?Z$/, '.1Z'), false],
    ['zeros behind whole seconds', ago(1000).replace(/(?:\.\d+)?Z$/, '.000Z'), false],
    ['no zone, however long ago it is', ago(60_000).replace(/(?:\.\d+)?Z$/, ''), false],
    ['a zone of its own', ago(60_000).replace(/(?:\.\d+)?Z$/, '+00:00'), true],
    ['nothing at all', null, false],
  ])('by a stamp that is told in %s', (_, stamp, isCertain) => {
    const pin = { ...PIN, updated_at: stamp };
    const known = isCertain ? { ...pin, certain: true } : pin;
    expect(fastRefreshPin(AGENT, live('whole', AT), pin)).toEqual(known);
  });

  test.each<readonly [string, LiveResource]>([
    ['that does not say what time it is', live('whole')],
    ['of which the list is all that was read', live('listed', AT)],
    ['of which nothing was read', live('nothing', AT)],
  ])('and none of a platform or resource %s', (_, read) => {
    expect(fastRefreshPin(AGENT, read, PIN)).toEqual(PIN);
  });

  test('and none of a kind whose stamp may stay as it is when the resource changes', () => {
    expect(fastRefreshPin(POLICY, live('whole', AT), PIN, certain)).toEqual(PIN);
  });

  test('and none is made where there is none', () => {
    expect(fastRefreshPin(AGENT, live('whole', AT), null)).toBeNull();
  });
});

test.each<readonly [string, Partial<RememberedPin>, boolean]>([
  ['the same', {}, true],
  ['the same, with another entry of its history', { history_id: 7 }, true],
  ['another one by its digest', { digest: 'sha256:other' }, false],
  ['another one by its stamp', { updated_at: null }, false],
])('a state of a resource is %s', (_, other, isSame) => {
  expect(isSamePin(PIN, { ...PIN, ...other })).toBe(isSame);
});
