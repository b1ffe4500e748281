import { describe, expect, test } from 'vitest';
import type { CommonFlags, Context } from '../../../src/console/context.ts';
import type { ReadFormat } from '../../../src/console/show.ts';
import type { JsonObject } from '../../../src/core/value.ts';
import {
  features,
  models,
  organizations,
  payments,
  sttProviders,
} from '../../../src/features/reading/catalogues.ts';
import { get } from '../../../src/features/reading/get.ts';
import { history } from '../../../src/features/reading/history.ts';
import { calls, metrics, usage } from '../../../src/features/reading/reports.ts';
import { type Answers, openReadStage, readDocument } from '../../cli/read-stage.ts';
import {
  AGENTS,
  BASE,
  BILLING,
  call,
  DESK,
  FEATURES,
  HARBOR,
  HISTORY,
  METRICS,
  READINESS,
  WHOLE_AGENT,
} from './read-documents.ts';

const page = (data: readonly JsonObject[]): JsonObject => ({
  data,
  pagination: { page: 1, limit: 100, total: data.length, totalPages: 1 },
});

const VOICES = [{ id: 'v1', name: 'Harbor', provider: 'cartx', custom: true, language: 'en' }];
const SOURCES = [
  { id: 's1', knowledge_base_id: BASE, name: 'prices.pdf', source_type: 'file', status: 'active' },
];
const MODEL = { id: 'alpha-4.1', name: 'Alpha 4.1', description: 'Steady.', provider: 'alpha' };

const ANSWERS: Answers = {
  'GET /v1/agents': page(AGENTS),
  [`GET /v1/agents/${DESK}`]: { data: WHOLE_AGENT },
  [`GET /v1/agents/${DESK}/history`]: { data: HISTORY },
  [`GET /v1/agents/${DESK}/call-logs`]: page([call(1), call(2)]),
  [`GET /v1/agents/${DESK}/payments/readiness`]: READINESS,
  'GET /v1/metrics': { data: METRICS },
  'GET /v1/billing-report': BILLING,
  'GET /v1/features': FEATURES,
  'GET /v1/llm-models': { data: [MODEL] },
  'GET /v1/stt-providers': { data: [{ id: 'voxc', name: 'Voxc', description: 'Transcribes.' }] },
  'GET /v1/custom-voices': { data: VOICES },
  [`GET /v1/knowledge-bases/${BASE}/sources`]: { data: SOURCES },
};

type Command = (flags: CommonFlags, context: Context) => Promise<number>;

/** A command with its arguments and flags, but for the format. */
const commands = {
  'get agents': (format) => (flags, to) => get('agents', undefined, { ...flags, format }, to),
  'get agent ID': (format) => (flags, to) => get('agent', DESK, { ...flags, format }, to),
  'get sources': (format) => (flags, to) =>
    get('sources', undefined, { ...flags, format, knowledgeBase: BASE }, to),
  'get voices': (format) => (flags, to) =>
    get('voices', undefined, { ...flags, format, organization: HARBOR }, to),
  'get organizations': (format) => (flags, to) => organizations({ ...flags, format }, to),
  history: (format) => (flags, to) => history(DESK, { ...flags, format, limit: 50 }, to),
  'get calls': (format) => (flags, to) => calls(DESK, { ...flags, format }, to),
  'get calls --call': (format) => (flags, to) =>
    calls(DESK, { ...flags, format, call: 'call-0002' }, to),
  metrics: (format) => (flags, to) =>
    metrics({ ...flags, format, ...(format === 'csv' ? { block: 'reasons' as const } : {}) }, to),
  'get usage': (format) => (flags, to) => usage({ ...flags, format }, to),
  'get features': (format) => (flags, to) =>
    features({ ...flags, format, organization: HARBOR }, to),
  'get models': (format) => (flags, to) => models({ ...flags, format }, to),
  'get stt_providers': (format) => (flags, to) => sttProviders({ ...flags, format }, to),
} satisfies Readonly<Record<string, (format: ReadFormat) => Command>>;

type Name = keyof typeof commands;

async function runFormat(name: Name, format: ReadFormat): Promise<string> {
  const stage = await openReadStage(ANSWERS);
  const { out, err } = await stage.run((to) => commands[name](format)({ dir: stage.dir }, to));
  expect(err).toBe('');
  expect(stage.requests.every((request) => request.startsWith('GET '))).toBe(true);
  return out;
}

describe('text', () => {
  const rows: readonly (readonly [Name, readonly string[]])[] = [
    [
      'get agents',
      [
        '  name        id                                    status    agent_type',
        '',
        `organization ${HARBOR}`,
        `  Front desk  ${DESK}  active    receptionist`,
        '  Recall      22222222-2222-4222-a222-222222222222  inactive  –',
        '',
        'organization 8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15',
        '  Front desk  33333333-3333-4333-a333-333333333333  active    –',
        '',
        '3 agents in 2 organizations.',
        'No room for: model, updated_at.',
      ],
    ],
    [
      'get agent ID',
      [
        `id: ${DESK}`,
        'name: Front desk',
        'system_prompt: |',
        '  You answer the phone.',
        '  Be brief.',
        'extensions:',
        '  tools:',
        '    - name: crm',
        '      headers:',
        '        - key: X-Key',
        '          value: (secret)',
        '  mcp_servers:',
        '    - connection_name: Calendar',
        '      auth_headers:',
        '        X-Key: (secret)',
        'newer_than_the_schema:',
        '  kept: true',
      ],
    ],
    [
      'get sources',
      [
        '  name        id  status  source_type',
        '',
        `knowledge base ${BASE}`,
        '  prices.pdf  s1  active  file',
        '',
        '1 knowledge source in 1 knowledge base.',
        's1 is not ready: the platform does not confirm its ingestion (status "active",',
        'no chunks, no time of ingestion)',
      ],
    ],
    [
      'get voices',
      [
        '  name    id  language  provider',
        '',
        `organization ${HARBOR}`,
        '  Harbor  v1  en        cartx',
        '',
        '1 custom voice in 1 organization.',
      ],
    ],
    [
      'history',
      [
        'id  version  action    restored  when                  who       from where',
        ' 9        3  reverted         7  2026-11-20T10:00:00Z  api:1     dashboard-api',
        ' 8        2  updated          –  2026-11-19T10:00:00Z  user:ana  dashboard',
        '',
        `2 versions of ${DESK}.`,
      ],
    ],
    [
      'get calls',
      [
        'id        started               lasted  caller     mood      topic',
        'call-000  2026-11-21T08:59:00Z  1m 05s  +15550100  Positive  Opening hours',
        'call-000  2026-11-21T08:58:00Z  1m 05s  +15550100  Positive  Opening hours',
        '',
        `2 calls of ${DESK}.`,
      ],
    ],
    [
      'get calls --call',
      [
        'call       call-0002-of-the-desk',
        'started    2026-11-21T08:58:00Z',
        'lasted     1m 05s',
        'caller     +15550100',
        'recording  there is one; --format json has its address',
        '',
        '  ## Opening hours',
        '',
        '  The caller asked.',
        '',
        '  ### Action Items',
        '  - None',
        '',
        '  **Sentiment:** Positive',
        '',
        '   0:00  agent   Hello from call 2',
        '   0:03  caller  Half a sentence.',
        '   1:05  system  Call ended: caller hung up',
      ],
    ],
    [
      'get usage',
      [
        'Billing, 2026-10-01 to 2026-10-31',
        '',
        '  organization      minutes  agents  id',
        'Tidewater',
        `  Harbor Dental     1,234.5      42  ${HARBOR}`,
        '  Orchard Homes         0.2       7  org-3',
        '  together          1,234.7      49',
        'Keystone',
        '  Elm Street Legal      0.1       1  8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15',
        '  together              0.1       1',
        '',
        '  total             1,234.8      50',
        '',
        '3 organizations of 2 resellers.',
      ],
    ],
    [
      'get organizations',
      [
        'name              id                                    reseller',
        `Harbor Dental     ${HARBOR}  Tidewater`,
        'Elm Street Legal  8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15  Keystone',
        'Orchard Homes     org-3                                 Tidewater',
        '',
        '3 organizations.',
      ],
    ],
    [
      'get features',
      [
        `Features of organization ${HARBOR}`,
        'The feature matrix governs.',
        '',
        '  key            name           state      where      decided by',
        'capability',
        '  custom_voices  Custom voices  locked     inherited  feature administration',
        'LLM model',
        '  llm.alpha-4o   Alpha 4o       available  –          default available',
        '',
        '2 features, 1 locked.',
      ],
    ],
    [
      'get models',
      [
        'id         name       provider  description',
        'alpha-4.1  Alpha 4.1  alpha     Steady.',
        '',
        '1 model.',
      ],
    ],
    [
      'get stt_providers',
      ['id    name  description', 'voxc  Voxc  Transcribes.', '', '1 speech-to-text provider.'],
    ],
  ];
  test.each(rows)('%s', async (name, lines) => {
    expect((await runFormat(name, 'text')).split('\n')).toEqual([...lines, '']);
  });
});

describe('json', () => {
  const [desk, ...others] = [...AGENTS];
  const period = { start_date: '2026-10-01', end_date: '2026-10-31' };
  const rows: readonly (readonly [Name, JsonObject])[] = [
    ['get agents', { format: 'callsheet-records', kind: 'agent', data: [desk ?? {}, ...others] }],
    ['get voices', { format: 'callsheet-records', kind: 'custom_voice', data: withOwner(VOICES) }],
    [
      'get calls',
      {
        format: 'callsheet-calls',
        agent_id: DESK,
        since: null,
        until: null,
        limit: 50,
        data: [call(1), call(2)],
      },
    ],
    ['get calls --call', { format: 'callsheet-call', agent_id: DESK, data: call(2) }],
    [
      'metrics',
      {
        format: 'callsheet-metrics',
        start: '2026-10-23T00:00:00.000Z',
        end: '2026-11-21T09:45:00.000Z',
        organization_id: null,
        reseller_id: null,
        data: METRICS,
      },
    ],
    [
      'get usage',
      {
        format: 'callsheet-billing',
        period,
        totals: { voice_minutes: 1234.8, agent_count: 50, organizations: 3 },
        data: BILLING.data ?? null,
      },
    ],
    [
      'get features',
      {
        format: 'callsheet-features',
        scope: { level: 'organization', id: HARBOR },
        feature_administration_enabled: true,
        data: FEATURES.data ?? null,
      },
    ],
    ['get models', { format: 'callsheet-models', organization_id: null, data: [MODEL] }],
  ];
  test.each(rows)('%s', async (name, document) => {
    expect(readDocument(await runFormat(name, 'json'))).toEqual({ version: 1, ...document });
  });

  test.each(['get agent ID', 'history'] as const)(
    '%s keeps what it does not know, and no secret',
    async (name) => {
      const out = await runFormat(name, 'json');
      expect(out).not.toContain('canary-header');
      expect(out).not.toContain('canary-mcp');
      expect(out).not.toContain('canary-history');
      const { data } = readDocument(out);
      if (name === 'history') expect(data[0].settings).toBeDefined();
      else expect(data.newer_than_the_schema).toEqual({ kept: true });
    },
  );
});

/** Items of a list that do not say whose they are get it from the list. */
function withOwner(items: readonly JsonObject[]): readonly JsonObject[] {
  return items.map((item) => ({ organization_id: HARBOR, ...item }));
}

describe('csv', () => {
  const rows: readonly (readonly [Name, readonly string[]])[] = [
    [
      'get agents',
      [
        'name,id,status,agent_type,model,language,timezone,updated_at,organization_id',
        `Recall,22222222-2222-4222-a222-222222222222,inactive,,alpha-4o,,,,${HARBOR}`,
        `Front desk,${DESK},active,receptionist,alpha-4.1,,,2026-11-20T08:00:00.000Z,${HARBOR}`,
        'Front desk,33333333-3333-4333-a333-333333333333,active,,,,,,8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15',
      ],
    ],
    [
      'history',
      [
        'id,version,action,reverted_from_id,created_at,actor.id,source,run',
        '9,3,reverted,7,2026-11-20T10:00:00Z,api:1,dashboard-api,',
        '8,2,updated,,2026-11-19T10:00:00Z,user:ana,dashboard,',
      ],
    ],
    [
      'get calls --call',
      [
        'id,agent_id,call_started_at,call_ended_at,call_duration,session_data.caller_id,entry_count,topic,sentiment,recording_url',
        `call-0002-of-the-desk,${DESK},2026-11-21T08:58:00.000Z,2026-11-21T08:59:05.000Z,65,+15550100,4,Opening hours,Positive,https://recordings.example.test/1?signature=canary-signature`,
      ],
    ],
    [
      'metrics',
      [
        'reason,count,percentOfTotal,avgTimeBeforeEscalation',
        'Asked for a person,200,66.7,81',
        "'=cmd|calc,100,33.3,70",
      ],
    ],
    [
      'get usage',
      [
        'start_date,end_date,reseller_id,reseller_name,organization_id,organization_name,voice_minutes,agent_count',
        `2026-10-01,2026-10-31,r-Tidewater,Tidewater,${HARBOR},Harbor Dental,1234.5,42`,
        '2026-10-01,2026-10-31,r-Keystone,Keystone,8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15,Elm Street Legal,0.1,1',
        '2026-10-01,2026-10-31,r-Tidewater,Tidewater,org-3,Orchard Homes,0.2,7',
      ],
    ],
    [
      'get features',
      [
        'key,name,state,locked_scope,decided_by,category,description',
        'custom_voices,Custom voices,locked,inherited,feature_administration,CAPABILITY,Cloned voices.',
        'llm.alpha-4o,Alpha 4o,available,,default_available,LLM_MODEL,A model.',
      ],
    ],
    ['get models', ['id,name,provider,description', 'alpha-4.1,Alpha 4.1,alpha,Steady.']],
    ['get stt_providers', ['id,name,description', 'voxc,Voxc,Transcribes.']],
  ];
  test.each(rows)('%s', async (name, lines) => {
    expect(await runFormat(name, 'csv')).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});

test('payments say what is missing, and are asked for afresh on demand', async () => {
  const stage = await openReadStage(ANSWERS);
  const flags = { dir: stage.dir };
  const { out } = await stage.run((to) =>
    payments(DESK, { ...flags, format: 'text', refresh: true }, to),
  );
  expect(stage.requests.at(-1)).toMatch(/readiness\?refresh=true$/);
  expect(out).toContain(
    'The payment tool is off and cannot be switched on: the agent lacks credentials\nfor text messages.\n',
  );
  expect(out).toContain('  single charge   at most 50,000 cents (500.00)\n');
  const json = await stage.run((to) => payments(DESK, { ...flags, format: 'json' }, to));
  expect(readDocument(json.out)).toEqual({
    format: 'callsheet-payments',
    version: 1,
    data: READINESS,
  });
});
