import { describe, expect, test } from 'vitest';
import {
  type FeaturesFlags,
  features,
  models,
  organizations,
} from '../../../src/features/reading/catalogues.ts';
import {
  type MetricsFlags,
  metrics,
  type UsageFlags,
  usage,
} from '../../../src/features/reading/reports.ts';
import { type Answers, openReadStage, Refusal, readDocument } from '../../cli/read-stage.ts';
import { AGENTS, BILLING, ELM, FEATURES, HARBOR, METRICS } from './read-documents.ts';

const ANSWERS: Answers = {
  'GET /v1/metrics': { data: METRICS },
  'GET /v1/billing-report': BILLING,
  'GET /v1/features': FEATURES,
  'GET /v1/llm-models': { data: [] },
};
const NAMED = {
  'callsheet.yaml': `callsheet: 1\norganizations: { harbor: ${HARBOR} }\n`,
};

/** The query of the one request that was sent. */
function queryOf([request = '', ...others]: readonly string[]): Record<string, string> {
  expect(others).toEqual([]);
  return Object.fromEntries(new URL(request.replace(/^GET /, ''), 'http://x').searchParams);
}

describe('metrics ask for', () => {
  const rows: readonly (readonly [Partial<MetricsFlags>, Record<string, string>])[] = [
    [{}, { startDate: '2026-10-23T00:00:00.000Z', endDate: '2026-11-21T09:45:00.000Z' }],
    [
      { since: '7d' },
      { startDate: '2026-11-14T09:45:00.000Z', endDate: '2026-11-21T09:45:00.000Z' },
    ],
    [
      { since: '2026-11-01', until: '2026-11-02' },
      { startDate: '2026-11-01T00:00:00.000Z', endDate: '2026-11-02T23:59:59.999Z' },
    ],
    [
      { until: '2026-03-31' },
      { startDate: '2026-03-02T00:00:00.000Z', endDate: '2026-03-31T23:59:59.999Z' },
    ],
    [
      { since: '1d', organization: 'harbor' },
      {
        startDate: '2026-11-20T09:45:00.000Z',
        endDate: '2026-11-21T09:45:00.000Z',
        organizationId: HARBOR,
      },
    ],
    [
      { since: '1d', reseller: 'r-1' },
      {
        startDate: '2026-11-20T09:45:00.000Z',
        endDate: '2026-11-21T09:45:00.000Z',
        resellerId: 'r-1',
      },
    ],
  ];
  test.each(rows)('%j', async (flags, query) => {
    const stage = await openReadStage(ANSWERS, NAMED);
    const { out } = await stage.run((to) =>
      metrics({ dir: stage.dir, format: 'json', ...flags }, to),
    );
    expect(queryOf(stage.requests)).toEqual(query);
    const { start, end, organization_id, reseller_id } = readDocument(out);
    expect({ start, end, organization_id, reseller_id }).toEqual({
      start: query.startDate,
      end: query.endDate,
      organization_id: query.organizationId ?? null,
      reseller_id: query.resellerId ?? null,
    });
  });

  test.each([
    [{ organization: 'harbor', reseller: 'r-1' }, 'exclude each other'],
    [{ since: '2026-11-02', until: '2026-11-01' }, 'before it begins'],
    [{ format: 'csv' }, 'Choose one with --block: totals, outcomes, daily'],
  ] as const)('nothing with %j', async (flags, message) => {
    const stage = await openReadStage(ANSWERS, NAMED);
    const { err } = await stage.run(
      (to) => metrics({ dir: stage.dir, format: 'text', ...flags }, to),
      { exit: 1 },
    );
    expect(err).toContain(message);
    expect(stage.requests).toEqual([]);
  });
});

describe('one block of metrics', () => {
  const csv: readonly (readonly [NonNullable<MetricsFlags['block']>, string, number])[] = [
    [
      'totals',
      'totalCalls,totalMinutes,avgDuration,resolutionRate,escalationRate,sentimentPercent,activeAgents,responseTime\n1500,3946.61,136,64.7,12.3,55.24,2,\n',
      1,
    ],
    ['outcomes', 'resolved,transferred,abandoned,other\n800,300,250,150\n', 1],
    ['daily', 'date,totalCalls,resolvedCalls\n2026-11-19,400,300\n', 3],
    ['hourly', 'hour,calls,minutes\n00:00,0,0\n', 24],
    [
      'agents',
      'agentName,totalCalls,resolvedPercent,transferredPercent,abandonedPercent,avgDuration,sentimentPercent,status,agentId,resolved,transferred,abandoned,other,otherPercent\nFront desk,1000,',
      2,
    ],
    ['reasons', 'reason,count,percentOfTotal,avgTimeBeforeEscalation\nAsked for a person,200,', 2],
    [
      'insights',
      'intentAccuracy,contextRetention,speechRecognition,entityExtraction,responseLatency,trainingSessions\n92.5,,94.6,90.8,889,1500\n',
      1,
    ],
  ];
  test.each(csv)('%s as CSV', async (block, beginning, records) => {
    const stage = await openReadStage(ANSWERS);
    const { out } = await stage.run((to) => metrics({ dir: stage.dir, format: 'csv', block }, to));
    expect(out.startsWith(beginning), out).toBe(true);
    expect(out.trimEnd().split('\n').length).toBe(records + 1);
  });

  test('as JSON holds that block alone, as the platform calls it', async () => {
    const stage = await openReadStage(ANSWERS);
    const { out } = await stage.run((to) =>
      metrics({ dir: stage.dir, format: 'json', block: 'outcomes' }, to),
    );
    expect(readDocument(out).data).toEqual({ resolutionBreakdown: METRICS.resolutionBreakdown });
  });

  test.each([
    [
      'agents',
      '  agent       calls  resolved  transferred  abandoned  average  status\n  Front desk  1,000    50.0 %       25.0 %     25.0 %   3m 12s  active\n',
    ],
    ['hourly', '  hour   calls  minutes\n  00:00      0      0.0\n'],
    ['totals', '  calls          1,500\n'],
  ] as const)('%s as text', async (block, part) => {
    const stage = await openReadStage(ANSWERS);
    const { out } = await stage.run((to) => metrics({ dir: stage.dir, format: 'text', block }, to));
    expect(out).toContain(part);
  });
});

describe('a bill is asked for', () => {
  const rows: readonly (readonly [Partial<UsageFlags>, Record<string, string>])[] = [
    [{}, { start_date: '2026-10-01', end_date: '2026-10-31' }],
    [{ since: '2026-11-01' }, { start_date: '2026-11-01', end_date: '2026-11-21' }],
    [
      { since: '2026-02-01', until: '2026-02-28' },
      { start_date: '2026-02-01', end_date: '2026-02-28' },
    ],
    [
      { organization: ['harbor', ELM], reseller: ['r-1', 'r-2'] },
      {
        start_date: '2026-10-01',
        end_date: '2026-10-31',
        reseller_ids: 'r-1,r-2',
        organization_ids: `${HARBOR},${ELM}`,
      },
    ],
  ];
  test.each(rows)('with %j', async (flags, query) => {
    const stage = await openReadStage(ANSWERS, NAMED);
    await stage.run((to) => usage({ dir: stage.dir, format: 'json', ...flags }, to));
    expect(queryOf(stage.requests)).toEqual(query);
  });

  test.each([
    [{ until: '2026-11-01' }, '--until is given without --since'],
    [{ since: '2026-11-02', until: '2026-11-01' }, 'is later than the last day'],
    [{ since: '2026-12-24' }, 'is later than the last day, 2026-11-21'],
    [{ since: '7d' }, '--since 7d is not a day'],
  ])('not with %j', async (flags, message) => {
    const stage = await openReadStage(ANSWERS);
    const { err } = await stage.run(
      (to) => usage({ dir: stage.dir, format: 'text', ...flags }, to),
      { exit: 1 },
    );
    expect(err).toContain(message);
    expect(stage.requests).toEqual([]);
  });

  test('in January for December', async () => {
    const stage = await openReadStage(ANSWERS);
    await stage.run((to) =>
      usage(
        { dir: stage.dir, format: 'json' },
        { ...to, now: () => new Date('2027-01-01T00:00:00Z') },
      ),
    );
    expect(queryOf(stage.requests)).toEqual({ start_date: '2026-12-01', end_date: '2026-12-31' });
  });

  test('for nothing', async () => {
    const period = BILLING.period ?? null;
    const stage = await openReadStage({ 'GET /v1/billing-report': { data: [], period } });
    const { out } = await stage.run((to) => usage({ dir: stage.dir, format: 'text' }, to));
    expect(out).toContain('Nothing is charged for these days.\n');
  });
});

describe('features', () => {
  const rows: readonly (readonly [Partial<FeaturesFlags>, Record<string, string>])[] = [
    [{}, {}],
    [{ organization: 'harbor' }, { organization_id: HARBOR }],
    [{ reseller: 'r-1' }, { reseller_id: 'r-1' }],
  ];
  test.each(rows)('as they stand with %j', async (flags, query) => {
    const stage = await openReadStage(ANSWERS, NAMED);
    await stage.run((to) => features({ dir: stage.dir, format: 'text', ...flags }, to));
    expect(queryOf(stage.requests)).toEqual(query);
  });

  test('that are locked', async () => {
    const stage = await openReadStage(ANSWERS);
    const flags = { dir: stage.dir, locked: true } as const;
    const text = await stage.run((to) => features({ ...flags, format: 'text' }, to));
    expect(text.out).not.toContain('llm.alpha-4o');
    expect(text.out).toContain('2 features, 1 locked.');
    const json = await stage.run((to) => features({ ...flags, format: 'json' }, to));
    expect(readDocument(json.out).data).toHaveLength(1);
  });

  test('none of which is locked', async () => {
    const stage = await openReadStage({
      'GET /v1/features': {
        feature_administration_enabled: false,
        scope: { level: 'account', id: 'a' },
        data: [],
      },
    });
    const flags = { dir: stage.dir, format: 'text', locked: true } as const;
    const { out } = await stage.run((to) => features(flags, to));
    expect(out).toBe(
      'Features of account a\nThe older settings of account and organization govern, not the feature matrix.\n\n0 features, none locked.\n',
    );
  });
});

test('models of an organization', async () => {
  const stage = await openReadStage(ANSWERS, NAMED);
  const flags = { dir: stage.dir, format: 'text', organization: 'harbor' } as const;
  const { out } = await stage.run((to) => models(flags, to));
  expect(queryOf(stage.requests)).toEqual({ organization_id: HARBOR });
  expect(out).toBe('There are no models.\n');
});

describe('organizations of a key that may not list them', () => {
  test('are those of its agents, and it says so', async () => {
    const refusal = { error: 'insufficient_scope', error_description: 'Closed to scoped keys' };
    const stage = await openReadStage(
      {
        'GET /v1/billing-report': new Refusal(403, refusal),
        'GET /v1/agents': {
          data: AGENTS,
          pagination: { page: 1, limit: 100, total: AGENTS.length, totalPages: 1 },
        },
      },
      { 'callsheet.yaml': `callsheet: 1\norganizations: { harbor: ${HARBOR} }\n` },
    );
    const flags = { dir: stage.dir, format: 'json' } as const;
    const { out, err } = await stage.run((to) => organizations(flags, to));
    const unknown = { name: null, reseller_id: null, reseller_name: null };
    expect(readDocument(out).data).toEqual([
      { id: HARBOR, ...unknown, stack_name: 'harbor' },
      { id: ELM, ...unknown, stack_name: null },
    ]);
    expect(err.replace(/\s+/g, ' ')).toContain('The key may not list organizations (');
    expect(err).toContain('insufficient_scope');
  });
});

describe('an answer of another shape is an error', () => {
  test.each([
    ['GET /v1/metrics', metrics],
    ['GET /v1/billing-report', usage],
    ['GET /v1/features', features],
    ['GET /v1/llm-models', models],
  ] as const)('%s', async (line, command) => {
    const stage = await openReadStage({ [line]: { data: 'none' } });
    const { err } = await stage.run((to) => command({ dir: stage.dir, format: 'text' }, to), {
      exit: 1,
    });
    expect(err).toMatch(/without a `data` (?:list|object)/);
  });
});
