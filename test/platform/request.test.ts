import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { Blob as StackFile } from '../../src/core/value.ts';
import { failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const ok: Reply = { status: 201, body: { data: { name: 'one' }, success: true, message: 'done' } };
const features: Reply = {
  body: { feature_administration_enabled: true, scope: {}, data: [] },
};

describe('the address of a call', () => {
  it.each([
    { query: {}, sent: '/v1/features' },
    { query: { organization_id: 'a b' }, sent: '/v1/features?organization_id=a+b' },
    {
      query: { organization_id: 'a&limit=1#x', reseller_id: 'é/?' },
      sent: '/v1/features?organization_id=a%26limit%3D1%23x&reseller_id=%C3%A9%2F%3F',
    },
    { query: { organization_id: '' }, sent: '/v1/features?organization_id=' },
  ])('$sent', async ({ query, sent }) => {
    const seen = script({ 'GET /v1/features': [features] });
    await open().call({ operation: 'listFeatures', query });
    expect(seen[0]?.path).toBe(sent);
  });

  const days = { start_date: '2026-01-31', end_date: '2026-02-28' };
  it.each([
    { query: { reseller_ids: ['a', 'b'] }, sent: '&reseller_ids=a%2Cb' },
    { query: { 'reseller_ids[]': ['a', 'b'] }, sent: '&reseller_ids%5B%5D=a&reseller_ids%5B%5D=b' },
    { query: { organization_ids: ['a'] }, sent: '&organization_ids=a' },
    { query: { 'organization_ids[]': [] }, sent: '' },
  ])('takes lists in both forms of the billing report: $sent', async ({ query, sent }) => {
    const report: Reply = { body: { data: [], period: days } };
    const seen = script({ 'GET /v1/billing-report': [report] });
    await open().call({ operation: 'getBillingReport', query: { ...days, ...query } });
    expect(seen[0]?.path).toBe(
      `/v1/billing-report?start_date=2026-01-31&end_date=2026-02-28${sent}`,
    );
  });

  it.each([
    { id: 'a/b', sent: '/v1/agents/a%2Fb' },
    { id: 'a?b#c', sent: '/v1/agents/a%3Fb%23c' },
    { id: '../me', sent: '/v1/agents/..%2Fme' },
    { id: '%2e%2e', sent: '/v1/agents/%252e%252e' },
  ])('an id stays one segment: $id', async ({ id, sent }) => {
    const seen = script({ [`GET ${sent}`]: [ok] });
    await open().call({ operation: 'getAgent', path: { agentId: id } });
    expect(seen[0]?.path).toBe(sent);
  });

  it.each(['.', '..', ''])('an id that would climb is refused: %j', async (id) => {
    const error = await failure(open().call({ operation: 'deleteAgent', path: { agentId: id } }));
    expect(String(error)).toContain('agentId');
  });

  it('is missing for an operation that does not exist', async () => {
    const error = await failure(open().call({ operation: 'getEverything' }));
    expect(error).toMatchObject({ message: 'unknown operation: getEverything' });
  });
});

describe('the headers of a call', () => {
  it('say who calls, when a token is minted, too', async () => {
    const seen = script({ 'POST /oauth/token': [minted('t')], 'GET /v1/features': [features] });
    await open({ credentials: KEY }).call({ operation: 'listFeatures' });
    const { version } = packageJson;
    const agent = `callsheet/${version} node/${process.versions.node}`;
    expect(seen.map(({ headers }) => headers['user-agent'])).toEqual([agent, agent]);
  });
});

describe('the body of a call', () => {
  it('is JSON', async () => {
    const seen = script({ 'PUT /v1/agents/a': [ok] });
    const body = { name: 'Empfang – „Tür“', config: { timeout: 1.5, on: null } };
    await open().call({ operation: 'updateAgent', path: { agentId: 'a' }, body });
    expect(seen[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
  });

  it('is absent where there is none', async () => {
    const seen = script({ 'POST /v1/agents/a/history/7/revert': [ok] });
    await open().call({ operation: 'revertAgent', path: { agentId: 'a', versionId: '7' } });
    expect(seen[0]?.body).toBe('');
    expect(seen[0]?.headers).not.toHaveProperty('content-type');
  });
});

describe('a form', () => {
  const sha256 = createHash('sha256').update('RIFF').digest('hex');
  const clip = new StackFile('voices/harbor “1”.wav', sha256, 4, 'audio/wav');
  const wanted = {
    operation: 'createCustomVoice',
    form: { fields: { name: 'Harbor', consent: 'true', organizationId: 'o' }, files: { clip } },
  };

  it('carries its fields and its file with name, type and bytes', async () => {
    const seen = script({ 'POST /v1/custom-voices': [ok] });
    const openFile = async () => new Blob(['RIFF'], { type: 'audio/wav' });
    await open({ openFile }).call(wanted);
    const [request] = seen;
    const form = await new Response(request?.body ?? '', {
      headers: { 'content-type': request?.headers['content-type'] ?? '' },
    }).formData();
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.headers.authorization).toBe('Bearer canary-token');
    expect([...form.keys()]).toEqual(['name', 'consent', 'organizationId', 'clip']);
    expect(form.get('name')).toBe('Harbor');
    expect(form.get('consent')).toBe('true');
    const file = form.get('clip');
    expect(file).toMatchObject({ name: 'harbor “1”.wav', type: 'audio/wav', size: 4 });
    expect(file instanceof Blob && (await file.text())).toBe('RIFF');
  });

  it('is made anew for another attempt', async () => {
    const seen = script({ 'POST /v1/custom-voices': [{ status: 429 }, ok] });
    let opened = 0;
    const openFile = async () => {
      opened += 1;
      return new Blob(['RIFF']);
    };
    await open({ openFile }).call(wanted);
    expect(seen.map(({ body }) => body.includes('RIFF'))).toEqual([true, true]);
    expect(opened).toBe(2);
  });

  it('is not sent with a file that has another size by now', async () => {
    const openFile = async () => new Blob(['RIFF+']);
    const error = await failure(open({ openFile }).call(wanted));
    expect(error).toMatchObject({
      code: 'stale',
      message: 'voices/harbor “1”.wav changed while it was used: 4 bytes before, 5 now',
    });
  });
});
