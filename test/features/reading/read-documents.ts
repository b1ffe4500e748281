import type { JsonObject } from '../../../src/core/value.ts';

/** Answers of a small platform, in the shapes of its specification. */

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const ELM = '8f14e45f-ceea-467f-a9d4-3c6e0b8a9c15';
export const DESK = '11111111-1111-4111-a111-111111111111';
export const RECALL = '22222222-2222-4222-a222-222222222222';
export const OTHER_DESK = '33333333-3333-4333-a333-333333333333';
export const BASE = '55555555-5555-4555-a555-555555555555';

export const AGENTS: readonly JsonObject[] = [
  { id: RECALL, organization_id: HARBOR, name: 'Recall', status: 'inactive', model: 'alpha-4o' },
  {
    id: DESK,
    organization_id: HARBOR,
    name: 'Front desk',
    status: 'active',
    agent_type: 'receptionist',
    model: 'alpha-4.1',
    updated_at: '2026-11-20T08:00:00.000Z',
  },
  { id: OTHER_DESK, organization_id: ELM, name: 'Front desk', status: 'active' },
];

export const WHOLE_AGENT: JsonObject = {
  name: 'Front desk',
  id: DESK,
  system_prompt: 'You answer the phone.\nBe brief.\n',
  extensions: {
    tools: [{ name: 'crm', headers: [{ key: 'X-Key', value: 'canary-header' }] }],
    mcp_servers: [{ connection_name: 'Calendar', auth_headers: { 'X-Key': 'canary-mcp' } }],
  },
  newer_than_the_schema: { kept: true },
};

export const HISTORY: readonly JsonObject[] = [
  {
    id: 8,
    version: 2,
    action: 'updated',
    reverted_from_id: null,
    actor: { id: 'user:ana' },
    source: 'dashboard',
    created_at: '2026-11-19T10:00:00Z',
  },
  {
    id: 9,
    version: 3,
    action: 'reverted',
    reverted_from_id: 7,
    actor: { id: 'api:1' },
    source: 'dashboard-api',
    created_at: '2026-11-20T10:00:00Z',
    settings: { extensions: { mcp_servers: [{ auth_headers: { 'X-Key': 'canary-history' } }] } },
  },
];

export const METRICS: JsonObject = {
  metrics: {
    totalCalls: 1500,
    totalMinutes: 3946.61,
    resolutionRate: 64.7,
    avgDuration: 136,
    activeAgents: 2,
    responseTime: null,
    sentimentPercent: 55.24,
    escalationRate: 12.3,
  },
  dailyVolume: [
    { date: '2026-11-19', totalCalls: 400, resolvedCalls: 300 },
    { date: '2026-11-20', totalCalls: 800, resolvedCalls: 500 },
    { date: '2026-11-21', totalCalls: 300, resolvedCalls: 0 },
  ],
  hourlyDistribution: Array.from({ length: 24 }, (_, hour) => ({
    hour: `${String(hour).padStart(2, '0')}:00`,
    calls: hour < 8 ? 0 : hour * 10,
    minutes: hour < 8 ? 0 : hour * 22.5,
  })),
  resolutionBreakdown: { resolved: 800, transferred: 300, abandoned: 250, other: 150 },
  agentPerformance: [performance(RECALL, 'Recall', 500), performance(DESK, 'Front desk', 1000)],
  aiInsights: {
    intentAccuracy: 92.5,
    contextRetention: null,
    speechRecognition: 94.6,
    entityExtraction: 90.8,
    responseLatency: 889,
    trainingSessions: 1500,
  },
  escalationReasons: [
    { reason: 'Asked for a person', count: 200, percentOfTotal: 66.7, avgTimeBeforeEscalation: 81 },
    { reason: '=cmd|calc', count: 100, percentOfTotal: 33.3, avgTimeBeforeEscalation: 70 },
  ],
};

function performance(agentId: string, agentName: string, totalCalls: number): JsonObject {
  return {
    agentId,
    agentName,
    totalCalls,
    resolved: totalCalls / 2,
    transferred: totalCalls / 4,
    abandoned: totalCalls / 4,
    other: 0,
    resolvedPercent: 50,
    transferredPercent: 25,
    abandonedPercent: 25,
    otherPercent: 0,
    avgDuration: 192,
    sentimentPercent: null,
    status: 'active',
  };
}

export const BILLING: JsonObject = {
  data: [
    bill(HARBOR, 'Harbor Dental', 'Tidewater', 1234.5, 42),
    bill(ELM, 'Elm Street Legal', 'Keystone', 0.1, 1),
    bill('org-3', 'Orchard Homes', 'Tidewater', 0.2, 7),
  ],
  period: { start_date: '10/01/2026', end_date: '10/31/2026' },
};

function bill(id: string, name: string, reseller: string, minutes: number, agents: number) {
  return {
    organization_id: id,
    organization_name: name,
    reseller_id: `r-${reseller}`,
    reseller_name: reseller,
    voice_minutes: minutes,
    agent_count: agents,
  };
}

export const FEATURES: JsonObject = {
  feature_administration_enabled: true,
  scope: { level: 'organization', id: HARBOR },
  data: [
    {
      key: 'custom_voices',
      name: 'Custom voices',
      description: 'Cloned voices.',
      category: 'CAPABILITY',
      state: 'locked',
      locked_scope: 'inherited',
      decided_by: 'feature_administration',
    },
    {
      key: 'llm.alpha-4o',
      name: 'Alpha 4o',
      description: 'A model.',
      category: 'LLM_MODEL',
      state: 'available',
      locked_scope: null,
      decided_by: 'default_available',
    },
  ],
};

export const READINESS: JsonObject = {
  agent_id: DESK,
  can_enable: false,
  feature_locked: false,
  can_accept_payments: true,
  account_status: 'active',
  charges_enabled: true,
  twilio_configured: false,
  payment_tool_enabled: false,
  success_url: 'https://pay.example.test/thank-you',
  max_single_charge_cents: 50_000,
  max_per_call_cents: 100_000,
  max_attempts_per_call: 3,
};

/** The call of that number: each began a minute before the one with the number before it. */
export function call(number: number): JsonObject {
  const start = Date.parse('2026-11-21T09:00:00Z') - number * 60_000;
  return {
    id: `call-${String(number).padStart(4, '0')}-of-the-desk`,
    agent_id: DESK,
    transcript_text: `[0] agent: Hello from call ${number}`,
    transcript_json: [
      { text: `Hello from call ${number}`, speaker: 'agent', timestamp: 0, is_partial: false },
      { text: 'Half a', speaker: 'user', timestamp: 3, is_partial: true },
      { text: 'Half a sentence.', speaker: 'user', timestamp: 3.4, is_partial: false },
      { text: 'Call ended: caller hung up', speaker: 'system', timestamp: 65 },
    ],
    entry_count: 4,
    call_duration: 65,
    call_started_at: new Date(start).toISOString(),
    call_ended_at: new Date(start + 65_000).toISOString(),
    session_data: { caller_id: '+15550100' },
    summary_text: `## Opening hours\n\nThe caller asked.\n\n### Action Items\n- None\n\n**Sentiment:** Positive`,
    recording_url: 'https://recordings.example.test/1?signature=canary-signature',
  };
}
