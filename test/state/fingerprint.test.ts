import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import {
  createFingerprinter,
  createSealer,
  type FingerprintSource,
  rebind,
  type SealedResource,
} from '../../src/state/fingerprint.ts';

const PLACE = ['agent.desk', 'integrations.smsProvider.auth_token'] as const;
const keyed: FingerprintSource = { key: 'team key', salt: 'ab', stack: 's1' };
const salted: FingerprintSource = { salt: 'ab', stack: 's1' };

describe.each([
  ['with a key', keyed, /^hmac:[0-9a-f]{8}:[0-9a-f]{64}$/],
  ['without a key', salted, /^scrypt:[0-9a-f]{8}:[0-9a-f]{64}$/],
])('a fingerprint %s', (_name, source, form) => {
  const prints = createFingerprinter(source);
  const print = prints.of(...PLACE, 'hunter2');

  test('shows its method and nothing of the value', () => {
    expect(print).toMatch(form);
    expect(print).not.toContain('hunter2');
  });

  test.each([
    ['the same value', [...PLACE, 'hunter2'], 'equal'],
    ['another value', [...PLACE, 'hunter3'], 'different'],
    ['another address', ['agent.line', PLACE[1], 'hunter2'], 'different'],
    ['another path', [PLACE[0], 'integrations.smsProvider.api_key_secret', 'hunter2'], 'different'],
  ] as const)('of %s', (_row, [address, path, value], match) => {
    expect(prints.matches(print, address, path, value)).toBe(match);
  });

  test('holds in another process', () => {
    expect(createFingerprinter(source).of(...PLACE, 'hunter2')).toBe(print);
  });

  test('is the same where the values were prepared', async () => {
    const prepared = createFingerprinter(source);
    await prepared.prepare(['hunter2', 'hunter3', 'hunter2']);
    expect(prepared.of(...PLACE, 'hunter2')).toBe(print);
    expect(prepared.matches(print, ...PLACE, 'hunter3')).toBe('different');
  });

  test('is bound to the stack', () => {
    const other = createFingerprinter({ ...source, stack: 's2' });
    expect(other.matches(print, ...PLACE, 'hunter2')).toBe('different');
  });

  test('of a structure does not depend on the order of its members', () => {
    const of = prints.of(...PLACE, { a: '1', b: '2' });
    expect(prints.matches(of, ...PLACE, { b: '2', a: '1' })).toBe('equal');
  });
});

describe('nothing can be said', () => {
  const byKey = createFingerprinter(keyed).of(...PLACE, 'hunter2');
  const bySalt = createFingerprinter(salted).of(...PLACE, 'hunter2');
  test.each<[string, string, FingerprintSource]>([
    ['when the key is another', byKey, { ...keyed, key: 'new key' }],
    ['when the key is lost', byKey, salted],
    ['when the key is empty', byKey, { ...keyed, key: '' }],
    ['when a key came later, and the salt is another', bySalt, { ...keyed, salt: 'cd' }],
    ['when the salt is another', bySalt, { ...salted, salt: 'cd' }],
    ['of a text that is no fingerprint', 'sha256:00', keyed],
    ['of nothing', '', salted],
  ])('%s', (_name, print, source) => {
    expect(createFingerprinter(source).matches(print, ...PLACE, 'hunter2')).toBe('unknown');
  });

  test('but a changed salt is no matter where there is a key', () => {
    const prints = createFingerprinter({ ...keyed, salt: 'cd' });
    expect(prints.matches(byKey, ...PLACE, 'hunter2')).toBe('equal');
  });
});

test('a key that came later confirms what the salt proved, and takes its place', () => {
  const bySalt = createFingerprinter(salted).of(...PLACE, 'hunter2');
  const prints = createFingerprinter(keyed);
  expect(prints.matches(bySalt, ...PLACE, 'hunter2')).toBe('equal');
  expect(prints.matches(bySalt, ...PLACE, 'hunter3')).toBe('different');
  expect(prints.matches(bySalt, 'agent.line', PLACE[1], 'hunter2')).toBe('different');
  expect(prints.isFormer(bySalt)).toBe(true);
  expect(prints.isFormer(prints.of(...PLACE, 'hunter2'))).toBe(false);
  expect(createFingerprinter(salted).isFormer(bySalt)).toBe(false);
});

describe('values that were stretched before', () => {
  const VALUES = ['hunter2', 'hunter3', { a: 'hunter4' }];
  const keptOf = async (source: FingerprintSource, values: readonly Json[]) => {
    const prints = createFingerprinter(source);
    await prints.prepare(values);
    return prints.keep();
  };
  const derivations = async (source: FingerprintSource, values: readonly Json[]) => {
    const prints = createFingerprinter(source);
    await prints.prepare(values);
    for (const value of values) prints.of(...PLACE, value);
    return prints.derivations();
  };

  test('cost one derivation together, whatever their order, and the same fingerprints', async () => {
    const stretched = await keptOf(salted, VALUES);
    const known: FingerprintSource = { ...salted, stretched };
    expect(await derivations(salted, VALUES)).toBe(3);
    expect(await derivations(known, [...VALUES, ...VALUES].toReversed())).toBe(1);
    const prints = createFingerprinter(known);
    await prints.prepare(VALUES);
    for (const value of VALUES)
      expect(prints.of(...PLACE, value)).toBe(createFingerprinter(salted).of(...PLACE, value));
    // Nothing changed, so that the state says the same.
    expect(await prints.keep()).toBe(stretched);
  });

  test.each<[string, Partial<FingerprintSource>, readonly Json[]]>([
    ['a value is another', {}, ['hunter2', 'hunter3', { a: 'hunter5' }]],
    ['one is missing', {}, ['hunter2', 'hunter3']],
    ['the salt is another', { salt: 'cd' }, VALUES],
    ['they are of another stack', { stack: 's2' }, VALUES],
  ])('are stretched one by one where %s', async (_row, other, values) => {
    const stretched = await keptOf(salted, VALUES);
    const prints = createFingerprinter({ ...salted, ...other, stretched });
    await prints.prepare(values);
    for (const value of values) {
      const plain = createFingerprinter({ ...salted, ...other });
      expect(prints.of(...PLACE, value)).toBe(plain.of(...PLACE, value));
    }
    expect(await prints.keep()).not.toBe(stretched);
  });

  test.each(['', 'aes-256-gcm:', `aes-256-gcm:${'A'.repeat(168)}`, 'sha256:00'])(
    'are not read from %j',
    async (stretched) => {
      const prints = createFingerprinter({ ...salted, stretched });
      await prints.prepare(VALUES);
      expect(prints.of(...PLACE, 'hunter2')).toBe(
        createFingerprinter(salted).of(...PLACE, 'hunter2'),
      );
    },
  );

  test('show nothing without all of the values', async () => {
    const stretched = (await keptOf(salted, VALUES)) ?? '';
    expect(stretched).toMatch(/^aes-256-gcm:[A-Za-z0-9+/=]+$/);
    // The same values are not the same text again.
    expect(await keptOf(salted, VALUES)).not.toBe(stretched);
    expect(await keptOf(salted, ['hunter2'])).toBeUndefined();
    expect(await keptOf(keyed, VALUES)).toBeUndefined();
  });
});

describe('a value that is kept encrypted', () => {
  const DESK: SealedResource = {
    address: 'agent.desk',
    kind: 'agent',
    id: 'a1',
    document: { organization_id: 'harbor', name: 'Desk' },
  };
  const PATH = 'extensions.tools[crm].headers[X-Key].value';
  const OF = { stack: 's1', account: 'account-1' };
  const text = createSealer('team key', OF).seal(DESK, PATH, 'hush');

  test('opens where it was taken, whatever else changed there', () => {
    const renamed = { ...DESK, document: { organization_id: 'harbor', name: 'Desk 2' } };
    expect(createSealer('team key', OF).open(renamed, PATH, text)).toBe('hush');
    expect(text).not.toContain('hush');
  });

  const elsewhere: readonly [string, string, typeof OF, SealedResource, string][] = [
    ['with another key', 'another', OF, DESK, PATH],
    ['in another stack', 'team key', { ...OF, stack: 's2' }, DESK, PATH],
    ['in another account', 'team key', { ...OF, account: 'account-2' }, DESK, PATH],
    [
      'in another organization',
      'team key',
      OF,
      { ...DESK, document: { organization_id: 'bay' } },
      PATH,
    ],
    ['in a copy that says nothing', 'team key', OF, { ...DESK, document: null }, PATH],
    ['of another kind', 'team key', OF, { ...DESK, kind: 'custom_voice' }, PATH],
    ['for another resource', 'team key', OF, { ...DESK, id: 'b1' }, PATH],
    ['for none', 'team key', OF, { ...DESK, id: null }, PATH],
    ['at another address', 'team key', OF, { ...DESK, address: 'agent.line' }, PATH],
    ['at another path', 'team key', OF, DESK, 'extensions.tools[crm].headers[X-Other].value'],
  ];
  test.each(elsewhere)('opens nowhere else: %s', (_, key, of, resource, path) => {
    expect(createSealer(key, of).open(resource, path, text)).toBeUndefined();
  });

  test('does not open from before it was bound to its resource', () => {
    const version1 = 'aes-256-gcm:b4b5dad6:BwcHBwcHBwcHBwcHOEYjno1xNST7FlE49KJgY75SHzoLkA==';
    expect(createSealer('team key', OF).open(DESK, PATH, version1)).toBeUndefined();
  });
});

describe('a fingerprint that goes to another state with its resource', () => {
  const [address, path] = PLACE;
  const north = { stack: 'north', salt: 'ab', address };
  const south = { stack: 'south', salt: 'cd', address };
  const west = { stack: 'west', salt: 'ef', address };
  for (const [name, key] of [
    ['keyed', { key: 'k' }],
    ['salted', {}],
  ] as const)
    test(`${name}: it is confirmed there, gives way, and comes back as it was`, () => {
      const own = createFingerprinter({ ...key, ...north }).of(address, path, 'hunter2');
      const taken = rebind(own, north, south);
      const there = createFingerprinter({ ...key, ...south });
      expect(taken).not.toBe(own);
      expect(there.matches(taken, address, path, 'hunter2')).toBe('equal');
      expect(there.matches(taken, address, path, 'hunter3')).toBe('different');
      expect(there.matches(taken, address, 'other', 'hunter2')).toBe('different');
      expect(there.matches(own, address, path, 'hunter2')).not.toBe('equal');
      expect(there.isFormer(taken)).toBe(true);
      expect(rebind(rebind(taken, south, west), west, north)).toBe(own);
      expect(rebind('sha256:00', north, south)).toBe('sha256:00');
    });
});
