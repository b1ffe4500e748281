import { describe, expect, test } from 'vitest';
import {
  createFingerprinter,
  createSealer,
  type FingerprintSource,
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
    ['when a key came later', bySalt, keyed],
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
