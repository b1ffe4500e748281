import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { runHere } from '../../e2e/in-process.ts';
import type { Outcome } from '../../e2e/process.ts';
import { temporaryFolder } from '../../temporary.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const BASE = '55555555-5555-4555-a555-555555555555';
const DESK = '11111111-1111-4111-a111-111111111111';

/** What no command may print. */
const CANARIES = ['canary-sms', 'canary-header', 'canary-sip'];

let sim: Simulator;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder();
  sim = await startSimulator({
    seed: {
      organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
      agents: [
        {
          id: DESK,
          organization_id: HARBOR,
          name: 'Front desk',
          integrations: { smsProvider: { account_sid: 'AC01', auth_token: 'canary-sms' } },
          sip_registration_data: { username: 'desk', password: 'canary-sip' },
          extensions: {
            tools: [
              {
                type: 'webhook',
                name: 'crm',
                condition: 'during_call',
                method: 'GET',
                url: 'https://crm.example.test/c',
                headers: [{ key: 'X-Key', value: 'canary-header' }],
              },
            ],
          },
        },
      ],
      custom_voices: [{ organization_id: HARBOR, name: 'Harbor', language: 'en' }],
      knowledge_bases: [{ id: BASE, organization_id: HARBOR, name: 'Clinic' }],
      sources: [{ knowledge_base_id: BASE, url: 'https://harbor.example.test/faq' }],
    },
  });
});

afterAll(() => sim.close());

function run(...args: readonly string[]): Promise<Outcome> {
  return runHere(args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      CALLSHEET_BASE_URL: sim.url,
      CALLSHEET_CLIENT_ID: sim.clientId,
      CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    },
  });
}

/** Every command as it is typed, without a stack, and a part of what it prints. */
const rows: readonly (readonly [string, RegExp])[] = [
  ['get agents', /\n1 agent in 1 organization\.\n/],
  [`get agent ${DESK} --format json`, /"callsheet-record"[\s\S]*"is_active"/],
  [`get sources --knowledge-base ${BASE} --format csv`, /^name,id,.*\nhttps:/],
  [`get voices --organization ${HARBOR}`, /\n1 custom voice in 1 organization\.\n/],
  [`history ${DESK} --limit 5 --format csv`, /^id,version.*\n\d+,1,created/],
  [`get calls ${DESK} --since 7d --format json`, /"data": \[\s*\]/],
  ['metrics --since 7d', /^Metrics of every organization/],
  ['metrics --block hourly --format csv', /^hour,calls,minutes\n00:00,0,0\n/],
  ['get organizations', /^Harbor Dental {2}3c6e0b8a[\s\S]*\n1 organization\.\n/m],
  ['get usage', /\n1 organization\.\n/],
  [`get features --organization ${HARBOR} --locked --format csv`, /^key,name,state.*\n$/],
  ['get models --format json', /"callsheet-models"[\s\S]*"alpha-4\.1"/],
  ['get stt_providers', /\n1 speech-to-text provider\.\n/],
  [`get payments ${DESK}`, /cannot be switched on/],
];

describe('the command line, without a stack', () => {
  test.concurrent.each(rows)('%s', async (line, part) => {
    const { exit, out, err } = await run(...line.split(' '));
    expect(err).toBe('');
    expect(exit).toBe(0);
    expect(out).toMatch(part);
    expect(CANARIES.filter((canary) => out.includes(canary))).toEqual([]);
  });

  test.concurrent.each([
    ['metrics --format xml', /allowed choices are text, json, csv/],
    [`history ${DESK} --limit 101`, /from 1 to 100/],
    ['session', /--profile/],
  ])('%s is an error', async (line, part) => {
    const { exit, out, err } = await run(...line.split(' '));
    expect({ exit, out }).toEqual({ exit: 1, out: '' });
    expect(err).toMatch(part);
  });
});

test('all of them only look, and leave no file behind', async () => {
  await run('get', 'agent', DESK);
  const writes = sim.requests.filter(({ operation }) => operation !== 'createToken');
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});
