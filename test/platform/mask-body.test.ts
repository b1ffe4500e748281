import { describe, expect, it } from 'vitest';
import { MASK } from '../../src/core/credentials.ts';
import { dereference, type FieldSchema } from '../../src/core/schema.ts';
import { isList, isObject, type Json } from '../../src/core/value.ts';
import bodies from '../../src/platform/bodies.generated.json' with { type: 'json' };
import { listSecrets, maskBody, maskErrorBody } from '../../src/platform/trace.ts';

const root: FieldSchema = bodies;
const operations = Object.keys(root.properties ?? {}).filter((name) => name !== 'errors');
const PARTS = ['request', 'answer'] as const;

function isSensitive(schema: FieldSchema): boolean {
  return schema['x-sensitive'] === true || schema['x-secret'] === true;
}

/** A body that has every field: open ones hold `plain`, others a canary, and there are fields that nobody knows. */
function sample(schema: FieldSchema): Json {
  const { properties, items, additionalProperties, ...rest } = dereference(root, schema);
  if (isSensitive(rest)) return { deep: ['canary-sensitive'], more: 'canary-sensitive' };
  if (items !== undefined) return [sample(items)];
  if (properties === undefined && additionalProperties === undefined) return 'plain';
  return {
    ...Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, member]) => [name, sample(member)]),
    ),
    newerThanTheContract:
      typeof additionalProperties === 'object' ? sample(additionalProperties) : 'canary-new',
  };
}

function partOf(operation: string, part: (typeof PARTS)[number]): FieldSchema {
  return root.properties?.[operation]?.properties?.[part] ?? {};
}

/** Where the contract hides something, as paths. */
function hiddenPaths(schema: FieldSchema, path = ''): readonly string[] {
  const resolved = dereference(root, schema);
  if (isSensitive(resolved)) return [path];
  const { properties = {}, items, additionalProperties } = resolved;
  return [
    ...(resolved['x-secrets-inside'] ? [`${path}.*`] : []),
    ...Object.entries(properties).flatMap(([name, member]) =>
      hiddenPaths(member, `${path}.${name}`),
    ),
    ...(items === undefined ? [] : hiddenPaths(items, `${path}[]`)),
    ...(typeof additionalProperties === 'object'
      ? hiddenPaths(additionalProperties, `${path}.?`)
      : []),
  ];
}

/** Every text of a value. */
function textsIn(value: Json): readonly string[] {
  if (isList(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [String(value)];
}

describe.each(operations)('%s', (operation) => {
  it.each(PARTS)('shows nothing of its %s but what the contract opens', (part) => {
    const body = sample(partOf(operation, part));
    const shown = maskBody(operation, part, body);
    expect(JSON.stringify(shown)).not.toContain('canary');
    const open = textsIn(body).filter((text) => text === 'plain');
    expect(textsIn(shown).filter((text) => text === 'plain')).toEqual(open);
  });

  it.each(PARTS)('knows every secret of its %s', (part) => {
    const body = sample(partOf(operation, part));
    const secrets = textsIn(body).filter((text) => text === 'canary-sensitive');
    const known = listSecrets(operation, part, body);
    expect(known.filter((text) => text === 'canary-sensitive')).toEqual(secrets);
    expect(known).not.toContain('plain');
  });
});

describe('the contract hides', () => {
  it.each([
    { operation: 'createToken', part: 'request', paths: ['.client_secret'] },
    { operation: 'createToken', part: 'answer', paths: ['.access_token'] },
    { operation: 'setSipRegistration', part: 'answer', paths: ['.data.password'] },
    { operation: 'createSession', part: 'answer', paths: ['.token'] },
    { operation: 'createPbxSession', part: 'answer', paths: ['.token'] },
    { operation: 'createKnowledgeSource', part: 'answer', paths: ['.data.presignedUrl'] },
    {
      operation: 'listCallLogs',
      part: 'answer',
      paths: [
        '.data[].recording_url',
        '.data[].session_data.caller_id',
        '.data[].summary_text',
        '.data[].transcript_json',
        '.data[].transcript_text',
      ],
    },
    {
      operation: 'getAgent',
      part: 'answer',
      paths: [
        '.data.extensions.mcp_servers[].auth_headers',
        '.data.extensions.tools[].headers[].value',
        '.data.integrations.*',
      ],
    },
    {
      operation: 'updateAgent',
      part: 'request',
      paths: [
        '.extensions.mcp_servers[].authHeaders',
        '.extensions.tools[].headers[].value',
        '.integrations.*',
        '.integrations.calendarA.access_token',
        '.integrations.calendarA.refresh_token',
        '.integrations.calendarB.access_token',
        '.integrations.calendarB.refresh_token',
        '.integrations.ehrProvider.password',
        '.integrations.pbxProvider.client_secret',
        '.integrations.smsProvider.api_key_secret',
        '.integrations.smsProvider.auth_token',
      ],
    },
  ] as const)('in the $part of $operation', ({ operation, part, paths }) => {
    expect([...hiddenPaths(partOf(operation, part))].sort()).toEqual(paths);
  });
});

describe('what is shown', () => {
  it('of a secret is a mask, of null nothing', () => {
    const body = {
      integrations: { smsProvider: { account_sid: 'AC1', auth_token: 'x', other: null } },
    };
    expect(maskBody('updateAgent', 'request', body)).toEqual({
      integrations: { smsProvider: { account_sid: 'AC1', auth_token: MASK, other: null } },
    });
  });

  it('of an integration that nobody knows is nothing, and all of it counts as secret', () => {
    const body = { integrations: { newProvider: { pin: 1234, keys: ['k-1'] } }, unknown: 'open?' };
    expect(maskBody('updateAgent', 'request', body)).toEqual({
      integrations: { newProvider: MASK },
      unknown: MASK,
    });
    expect(listSecrets('updateAgent', 'request', body)).toEqual(['1234', 'k-1']);
  });

  it('of an address has no credential', () => {
    const url = 'https://me:canary@crm.example.test/hook?key=canary';
    const body = { extensions: { tools: [{ name: 'crm', url }] } };
    expect(maskBody('updateAgent', 'request', body)).toEqual({
      extensions: {
        tools: [{ name: 'crm', url: 'https://me:(secret)@crm.example.test/hook?key=(secret)' }],
      },
    });
  });

  it('of a long text is its beginning', () => {
    const shown = maskBody('updateAgent', 'request', { systemPrompt: 'x'.repeat(5_000) });
    expect(shown).toEqual({ systemPrompt: `${'x'.repeat(200)}… (5,000 characters)` });
  });

  it('of a body that is no object at all is nothing that nobody names', () => {
    expect(maskBody('getAgent', 'answer', ['canary'])).toEqual([MASK]);
    expect(maskBody('deleteAgent', 'answer', { a: 'canary' })).toEqual({ a: MASK });
    expect(maskBody('getEverything', 'answer', 'canary')).toBe(MASK);
  });

  it.each<{ body: Json; shown: Json }>([
    { body: { error: 'x', error_description: 'y' }, shown: { error: 'x', error_description: 'y' } },
    { body: { error: 'x', stack: 'canary' }, shown: { error: 'x', stack: MASK } },
    {
      body: { error: 'x', details: [{ path: ['a', 0], message: 'm', value: 'canary' }] },
      shown: { error: 'x', details: [{ path: ['a', 0], message: 'm', value: MASK }] },
    },
    {
      body: { error: 'x', issues: [{ path: 'a', message: 'm' }] },
      shown: { error: 'x', issues: [{ path: 'a', message: 'm' }] },
    },
    {
      body: { error: 'x', details: { existingSource: { id: 's', name: 'n' } } },
      shown: { error: 'x', details: { existingSource: { id: 's', name: 'n' } } },
    },
  ])('of an error: $body', ({ body, shown }) => {
    expect(maskErrorBody(body)).toEqual(shown);
  });
});
