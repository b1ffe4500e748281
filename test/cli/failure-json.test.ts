import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import schema from '../../schemas/error.schema.json' with { type: 'json' };
import { CallsheetError } from '../../src/core/errors.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { renderFailureJson } from '../../src/render/diagnostics.ts';
import { toFailure } from '../../src/run/document.ts';

const validate = new Ajv2020({ strictRequired: false }).compile(schema);
const line = { method: 'GET', url: 'https://platform.example.test/v1/me' } as const;

test.each([
  [
    'a guard',
    new CallsheetError('refused', 'agent.a is protected', { hint: 'Take it out.' }),
    { kind: 'refused', exit: 4, message: 'agent.a is protected', hint: 'Take it out.' },
  ],
  [
    'a moved platform',
    new CallsheetError('stale', 'moved'),
    { kind: 'stale', exit: 5, hint: null },
  ],
  [
    'the platform',
    new ApiError(line, 403, { error: 'forbidden' }, { requestId: 'r-1' }),
    {
      kind: 'api',
      exit: 1,
      message: 'GET https://platform.example.test/v1/me answered 403: forbidden (request r-1)',
      request: { ...line, status: 403, request_id: 'r-1' },
    },
  ],
  [
    'the configuration',
    new CallsheetError('config', 'it has errors', {
      diagnostics: [
        {
          severity: 'error',
          rule: 'schema/enum',
          message: 'agent.a: status cannot be "on"',
          position: { file: 'a.yaml', line: 3, column: 5 },
        },
      ],
    }),
    { kind: 'config', exit: 1, diagnostics: [{ rule: 'schema/enum' }] },
  ],
  ['a bug', new TypeError('x is not a function'), { kind: 'internal', exit: 1 }],
])('what %s stopped is one JSON document', (_title, error, expected) => {
  const document = JSON.parse(renderFailureJson(toFailure(error)));
  expect(document).toMatchObject({ format: 'callsheet-error', version: 1, error: expected });
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
});
