import { describe, expect, it } from 'vitest';
import { getEndpoint } from '../../src/platform/endpoints.ts';
import { ApiError, describeApiError } from '../../src/platform/errors.ts';
import { buildPath } from '../../src/platform/send.ts';
import { BASE, failure, open, script, useScripts } from './platform.ts';
import { REFUSALS } from './refusals.ts';

useScripts();

/** More often than anything is sent again. */
const OFTEN = 10;

describe('a refusal that the specification shows is one sentence and what to do now', () => {
  it.each(REFUSALS)('$part: $status', async ({ call, status, body, headers, says, hint }) => {
    const endpoint = getEndpoint(call.operation);
    const path = buildPath(endpoint, call);
    const reply = { status, body, ...(headers === undefined ? {} : { headers }) };
    const isPassing = [502, 503].includes(status) && endpoint.method === 'GET';
    const isLimited = status === 429 && !(Number(headers?.['retry-after']) > 0);
    const isUnavailable = status === 503 && endpoint.repeatable;
    const times = isLimited ? OFTEN : isPassing || isUnavailable ? 6 : 1;
    script({ [`${endpoint.method} ${path}`]: Array.from({ length: times }, () => reply) });
    const error = await failure(open().call(call));
    const where = `${endpoint.method} ${BASE}${path} answered ${status}`;
    expect(error).toBeInstanceOf(ApiError);
    expect(error instanceof ApiError && describeApiError(error)).toBe(
      says === '' ? where : `${where}: ${says}`,
    );
    expect(error).toMatchObject({ code: 'api', status, hint });
  });
});
