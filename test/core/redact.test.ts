import { describe, expect, test } from 'vitest';
import {
  credentialSpans,
  credentialsIn,
  factsOfName,
  isSecretName,
  maskWhole,
  redactText,
} from '../../src/core/credentials.ts';
import { maskUnknown } from '../../src/core/redact.ts';

const SECRET = `password passphrase privateKey private_key PRIVATE-KEY x-api-key X-Api-Key apikey APIKey clientSecret
  credentials bearer access_key AWS_SECRET_ACCESS_KEY signature X-Amz-Signature sig cookie Set-Cookie session sessionId
  token api_token accessToken authtoken tokens Authorization authorization_header auth_headers key x-key pwd password2
  clientsecret userPassword token_value jwt subscription_key encryption_key db_passwd app_id`;
const OPEN = `token_limit tokens_used secretary_name password_reset_url password_policy secret_name public_key
  primary_key sort_key author keyboard monkey session_timeout cookie_policy tokenizer authorization_url client_id
  username account_sid design passenger compass credentials_updated_at phone location name value headers`;

test.each(SECRET.split(/\s+/))('%s is the name of a secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each(OPEN.split(/\s+/))('%s is not', (name) => {
  expect(isSecretName(name)).toBe(false);
});

test.each(['preheader', 'subheader', 'header_text'])('%s holds no headers', (name) => {
  expect(factsOfName(name).headers).toBe(false);
});

describe('of a text only the credentials are masked', () => {
  test.each([
    ['https://user:pw@host/x?token=abc&q=1', 'https://user:(secret)@host/x?token=(secret)&q=1'],
    ['see https://tok@h.test/, please', 'see https://(secret)@h.test/, please'],
    ['https://h/?api_key=12#access_token=z', 'https://h/?api_key=(secret)#access_token=(secret)'],
    ['https://user:p@ss@host/', 'https://user:(secret)@host/'],
    [
      'https://h/?next=https%3A%2F%2Fx%3Fsig%3Dab%26q%3D1',
      'https://h/?next=https%3A%2F%2Fx%3Fsig%3D(secret)%26q%3D1',
    ],
    [
      'https://h/?next=https://x/cb?token=ab&q=1',
      'https://h/?next=https://x/cb?token=(secret)&q=1',
    ],
    ['https://h/?next=/in;sig=ab?q=1', 'https://h/?next=/in;sig=(secret)'],
    ['https://h/?next%3Dhttps://u:pw@x/', 'https://h/?next%3Dhttps://u:(secret)@x/'],
    ['https://h/?state=token%3Dab%26q%3D1', 'https://h/?state=token%3D(secret)%26q%3D1'],
    ['client_secret=abc&scope=x', 'client_secret=(secret)&scope=x'],
    ['Send Bearer abcdef123456 along', 'Send Bearer (secret) along'],
  ])('%s', (text, shown) => {
    expect(redactText(text)).toBe(shown);
    expect(redactText(shown)).toBe(shown);
    expect(credentialsIn(text)).not.toEqual([]);
  });

  test.each([
    'https://{{user}}:{{password}}@host/?token={{token}}',
    'ssh://git@example.test/x',
    'https://h/@user?page=2&max_tokens=5',
    'Basic information about bearers of good news = none',
    'Authorization: the caller must be the patient.',
  ])('%s has none', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

test('a text of a megabyte of pairs within pairs is gone through once', () => {
  const text = 'a=?'.repeat(350_000);
  expect(redactText(`${text}token=ab`)).toBe(`${text}token=(secret)`);
});

test('what gives nothing away is shown whatever it is called', () => {
  const open = {
    require_password: true,
    password: '',
    token: '{{session_token}}',
    session: '2026-01-01T00:00:00Z',
    max_tokens: 400,
    auth: 'Bearer {{token}}',
    items: [{ key: 'llm.alpha', locked: false }],
  };
  expect(maskUnknown(open)).toEqual(open);
  expect(maskUnknown({ pin_password: 1234, settings: [{ key: 'api_key', value: 'x' }] })).toEqual({
    pin_password: '(secret)',
    settings: [{ key: 'api_key', value: '(secret)' }],
  });
});

test.each([
  ['https://hooks.example.test/in/abc?k=v#f', 'https://hooks.example.test/(secret)'],
  ['https://user:pw@hooks.example.test:8443/in', 'https://hooks.example.test:8443/(secret)'],
  ['http://crm', 'http://crm/(secret)'],
  ['https://evil.test\\@good.test/', 'https://evil.test/(secret)'],
  ['https://\u0440aypal.test/in', 'https://xn--aypal-uye.test/(secret)'],
  ['postgres://u:pw@db.example.test/x', 'postgres://db.example.test/(secret)'],
  ['postgres://c2VjcmV0', '(secret)'],
  ['hooks.example.test/in', '(secret)'],
  ['https://', '(secret)'],
  ['s3cret', '(secret)'],
])('what is masked as a whole shows no more than a host: %s', (text, shown) => {
  expect(maskWhole(text)).toBe(shown);
  expect(maskWhole(shown)).toBe(shown);
});

test('credentials within each other are one stretch', () => {
  const text =
    'see https://h.test/?token=eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl&q=1 and Bearer abc123def456';
  expect(credentialSpans(text).map(({ start, end }) => text.slice(start, end))).toEqual([
    'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl',
    'abc123def456',
  ]);
});
