import { describe, expect, it } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { checkBaseUrl, checkUploadUrl } from '../../src/platform/endpoints.ts';

describe('a base address', () => {
  it.each([
    ['https://api.example.test', 'https://api.example.test'],
    ['https://api.example.test/', 'https://api.example.test'],
    ['https://api.example.test//', 'https://api.example.test'],
    ['https://api.example.test/voice/', 'https://api.example.test/voice'],
    ['https://api.example.test:8443/voice', 'https://api.example.test:8443/voice'],
    ['https://API.Example.test:443', 'https://api.example.test'],
    [' https://api.example.test\n', 'https://api.example.test'],
    ['https://api.example.test?', 'https://api.example.test'],
    ['http://localhost:4010', 'http://localhost:4010'],
    ['http://127.0.0.1:4010/', 'http://127.0.0.1:4010'],
    ['http://127.9.9.9', 'http://127.9.9.9'],
    ['http://[::1]:4010', 'http://[::1]:4010'],
  ])('%j is used as %s', (text, used) => {
    expect(checkBaseUrl(text)).toBe(used);
  });

  it.each([
    [undefined, /^the base address of the platform is not set$/, /platform\.base_url/],
    ['', /^the base address .* is not set/, /CALLSHEET_BASE_URL/],
    [' ', /^the base address .* is not set/, /CALLSHEET_BASE_URL/],
    ['api.example.test', /^base_url "api.example.test" is not an http\(s\) address$/, /https:\/\//],
    ['api.example.test:443', /is not an http\(s\) address/, /https:\/\//],
    ['ftp://api.example.test', /is not an http\(s\) address/, /https:\/\//],
    ['https://', /is not an http\(s\) address/, /https:\/\//],
    ['http://api.example.test', /is plain http/, /loopback/],
    ['http://10.0.0.1', /is plain http/, /loopback/],
    ['http://localhost.example.test', /is plain http/, /loopback/],
    ['http://127.0.0.1.example.test', /is plain http/, /loopback/],
    ['https://me:canary@api.example.test', /must not hold credentials/, /CALLSHEET_CLIENT_ID/],
    ['https://canary@api.example.test', /must not hold credentials/, /CALLSHEET_CLIENT_ID/],
    ['https://api.example.test/?key=canary', /must not hold credentials/, /CALLSHEET_CLIENT_ID/],
    ['https://api.example.test/#canary', /must not hold credentials/, /CALLSHEET_CLIENT_ID/],
    ['me:canary@api.example.test', /^base_url as given is not/, /https:\/\//],
  ])('%j is refused', (text, says, hint) => {
    const check = () => checkBaseUrl(text);
    expect(check).toThrow(CallsheetError);
    expect(check).toThrow(
      expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(says),
        hint: expect.stringMatching(hint),
      }),
    );
    expect(check).not.toThrow(/canary/);
  });
});

describe('an upload address', () => {
  it.each([
    'https://storage.example.test/b/k?X-Signature=canary',
    'http://127.0.0.1:9000/k?s=canary',
  ])('%s is used', (url) => {
    expect(() => checkUploadUrl(url)).not.toThrow();
  });

  it.each([
    ['http://storage.example.test/canary?s=canary', /leads to http:\/\/storage.example.test$/],
    ['ftp://me:canary@storage.example.test/k', /leads to ftp:\/\/storage.example.test$/],
    ['/uploads/canary', /is not an address$/],
    ['', /is not an address$/],
  ])('%j is refused', (url, says) => {
    expect(() => checkUploadUrl(url)).toThrow(
      expect.objectContaining({ code: 'api', message: expect.stringMatching(says) }),
    );
    expect(() => checkUploadUrl(url)).not.toThrow(/canary/);
  });
});
