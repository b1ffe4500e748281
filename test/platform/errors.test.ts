import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import { ApiError, describeApiError, isNotFound } from '../../src/platform/errors.ts';
import { BASE, failure, open, script, useScripts } from './platform.ts';

useScripts();

const rows: readonly {
  readonly shape: string;
  readonly body: Json;
  readonly fields: Partial<Pick<ApiError, 'error' | 'description' | 'issues'>>;
  readonly says: string;
}[] = [
  {
    shape: 'coded',
    body: { error: 'forbidden', error_description: 'No access to the organization.' },
    fields: { error: 'forbidden', description: 'No access to the organization.', issues: [] },
    says: 'forbidden; No access to the organization',
  },
  {
    shape: 'coded, without a description',
    body: { error: 'insufficient_scope' },
    fields: { error: 'insufficient_scope', description: undefined, issues: [] },
    says: 'insufficient_scope',
  },
  {
    shape: 'coded, with details that are no list',
    body: {
      error: 'duplicate_source',
      error_description: 'The file exists',
      details: { existingSource: { id: 's', name: 'faq', status: 'active' } },
    },
    fields: { error: 'duplicate_source', issues: [] },
    says: 'duplicate_source; The file exists; it exists as "faq", id s, active',
  },
  {
    shape: 'validation, with paths that are lists',
    body: {
      error: 'Invalid request data',
      details: [
        {
          code: 'invalid_type',
          expected: 'boolean',
          received: 'string',
          path: ['registrationEnabled'],
          message: 'Expected boolean, received string',
        },
        { code: 'too_big', path: ['tools', 3, 'name'], message: 'Too long.' },
      ],
    },
    fields: {
      error: 'Invalid request data',
      issues: [
        { path: 'registrationEnabled', message: 'Expected boolean, received string' },
        { path: 'tools.3.name', message: 'Too long.' },
      ],
    },
    says: 'Invalid request data; registrationEnabled: Expected boolean, received string; tools.3.name: Too long',
  },
  {
    shape: 'validation, with issues',
    body: {
      error: 'validation_error',
      issues: [{ path: 'organization_id', message: 'Invalid uuid' }],
    },
    fields: {
      error: 'validation_error',
      issues: [{ path: 'organization_id', message: 'Invalid uuid' }],
    },
    says: 'validation_error; organization_id: Invalid uuid',
  },
  {
    shape: 'validation, with details',
    body: { error: 'invalid_request', details: [{ path: 'start_date', message: 'Required' }] },
    fields: {
      error: 'invalid_request',
      issues: [{ path: 'start_date', message: 'Required' }],
    },
    says: 'invalid_request; start_date: Required',
  },
  {
    shape: 'validation, of the body as a whole and of something unsaid',
    body: { error: 'Invalid request data', details: [{ path: [], message: 'Unknown key' }, {}] },
    fields: {
      issues: [
        { path: '', message: 'Unknown key' },
        { path: '', message: 'is not valid' },
      ],
    },
    says: 'Invalid request data; Unknown key; is not valid',
  },
  {
    shape: 'flat',
    body: { error: 'A template with this name already exists.' },
    fields: { error: 'A template with this name already exists.', description: undefined },
    says: 'A template with this name already exists',
  },
  {
    shape: 'flat, said twice',
    body: { error: 'Forbidden', message: 'Forbidden' },
    fields: { error: 'Forbidden', description: 'Forbidden' },
    says: 'Forbidden',
  },
];

describe.each(rows)('$shape', ({ body, fields, says }) => {
  it('becomes one ApiError and one sentence', async () => {
    script({ 'PUT /v1/agents/a': [{ status: 409, body, headers: { 'x-request-id': 'r-1' } }] });
    const error = await failure(
      open().call({
        operation: 'updateAgent',
        path: { agentId: 'a' },
        query: { canary: '1' },
        body: { name: 'canary' },
      }),
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      ...fields,
      code: 'api',
      status: 409,
      method: 'PUT',
      url: `${BASE}/v1/agents/a`,
      requestId: 'r-1',
      body,
      message: `409 PUT ${BASE}/v1/agents/a`,
    });
    expect(error instanceof ApiError && describeApiError(error)).toBe(
      `PUT ${BASE}/v1/agents/a answered 409: ${says} (request r-1)`,
    );
    expect(JSON.stringify([String(error), error])).not.toContain('canary');
  });
});

describe('a body that says nothing', () => {
  it.each<Json | undefined>([
    undefined,
    null,
    '',
    'text',
    7,
    [],
    {},
    { error: '' },
    { error: { code: 1 } },
  ])('%j', (body) => {
    const error = new ApiError({ method: 'GET', url: 'https://x.test/v1/me' }, 500, body);
    expect(describeApiError(error)).toBe('GET https://x.test/v1/me answered 500');
    expect(error.issues).toEqual([]);
  });
});

describe('isNotFound', () => {
  const line = { method: 'GET', url: 'https://x.test/v1/agents/a' };
  it.each([
    { status: 404, body: { error: 'not_found', error_description: 'gone' }, is: true },
    { status: 404, body: { error: 'Agent not found' }, is: true },
    { status: 404, body: undefined, is: false },
    { status: 404, body: null, is: false },
    { status: 404, body: { message: 'no route' }, is: false },
    { status: 403, body: { error: 'not_found' }, is: false },
  ])('$status with $body: $is', ({ status, body, is }) => {
    expect(isNotFound(new ApiError(line, status, body))).toBe(is);
  });

  it('is about refusals only', () => {
    expect(isNotFound(new Error('404'))).toBe(false);
  });
});
