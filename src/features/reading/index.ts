import type { Context } from '../../console/context.ts';
import { flag, format, ORGANIZATION, READING, upTo } from '../../console/flags.ts';
import { METRICS_BLOCKS } from '../../core/documents.ts';
import type { Feature } from '../../feature.ts';
import type { GetFlags } from './get.ts';

const AGENT = {
  name: '<agent>',
  does: 'an address of the stack (agent.reception), an id or a name',
};

/** The second words of commands below `get`. */
function listInner(): readonly string[] {
  const names = (reading.commands ?? []).map(({ name }) => name.split(' '));
  return names.flatMap(([first, second = []]) => (first === 'get' ? second : []));
}

/** Reads what is on the platform: resources, calls, figures and history. */
export const reading: Feature = {
  name: 'reading',
  purposes: {
    get: 'Look',
    history: 'Look',
    metrics: 'Look',
    session: 'Fleets, editor, simulator, applications',
  },
  commands: [
    {
      name: 'get',
      does: 'read the platform: agents, calls, usage, models, voices, ...',
      args: [
        {
          name: '<what>',
          does: 'agents, retry_policies, email_templates, sms_templates, knowledge_sources or custom_voices; or the address of one resource: agent.reception',
        },
        { name: '[resource]', does: 'one of them: an address of the stack, an id or a name' },
      ],
      flags: [
        ORGANIZATION,
        flag('--knowledge-base <name|id>', 'the knowledge base whose sources are meant'),
        format('text', 'json', 'csv'),
      ],
      examples: [
        'callsheet get agents --organization harbor',
        'callsheet get agent.reception --format json',
        'callsheet get agents "Front desk"',
        'callsheet get knowledge_sources --knowledge-base harbor',
      ],
      // It lists kinds whose endpoints are assumed, which platform.assume can forbid.
      exits: ['done', 'error', 'refused', 'interrupted'],
      prints: ['callsheet-records', 'callsheet-record'],
      load: async () => {
        const { get } = await import('./get.ts');
        return (what: string, resource: string | undefined, flags: GetFlags, context: Context) =>
          get(what, resource, flags, context, listInner());
      },
    },
    {
      name: 'get organizations',
      does: 'list the organizations of the key, with their ids',
      flags: [format('text', 'json', 'csv')],
      examples: ['callsheet get organizations'],
      exits: READING,
      prints: ['callsheet-organizations'],
      load: async () => (await import('./catalogues.ts')).organizations,
    },
    {
      name: 'get calls',
      does: 'list the calls of an agent, or show one',
      args: [AGENT],
      flags: [
        ORGANIZATION,
        flag('--call <id>', 'one call, by its id or the beginning of its id'),
        flag('--since <time>', 'calls since then: 2h, 7d, 2026-11-21, 2026-11-21T09:00Z'),
        flag('--until <time>', 'calls until then'),
        flag('--limit <n>', 'how many calls, counted from the newest (50 without --since)', {
          parse: upTo(Number.MAX_SAFE_INTEGER),
        }),
        flag('--transcript', 'show the transcript of the call'),
        flag('--summary', 'show the summaries'),
        format('text', 'json', 'csv'),
      ],
      examples: [
        'callsheet get calls agent.reception --since 7d --summary',
        'callsheet get calls "Front desk" --call 7c346549 --transcript',
      ],
      exits: READING,
      prints: ['callsheet-calls', 'callsheet-call'],
      load: async () => (await import('./reports.ts')).calls,
    },
    {
      name: 'get usage',
      does: 'show the voice minutes and agents of every organization',
      flags: [
        flag('--since <day>', 'first day, 2026-11-01 (by default the last whole month)'),
        flag('--until <day>', 'last day (today, where --since is given alone)'),
        flag('--reseller <id...>', 'only these resellers'),
        flag('--organization <name|id...>', 'only these organizations'),
        format('text', 'json', 'csv'),
      ],
      examples: ['callsheet get usage --since 2026-10-01 --until 2026-10-31 --format csv'],
      exits: READING,
      prints: ['callsheet-billing'],
      load: async () => (await import('./reports.ts')).usage,
    },
    {
      name: 'get features',
      does: 'show locked features, and where each is locked',
      flags: [
        ORGANIZATION,
        flag('--reseller <id>', 'as they stand for a reseller'),
        flag('--locked', 'only locked features'),
        format('text', 'json', 'csv'),
      ],
      examples: ['callsheet get features --organization harbor --locked'],
      exits: READING,
      prints: ['callsheet-features'],
      load: async () => (await import('./catalogues.ts')).features,
    },
    {
      name: 'get models',
      does: 'list the language models that may be assigned',
      flags: [ORGANIZATION, format('text', 'json', 'csv')],
      examples: ['callsheet get models --organization harbor'],
      exits: READING,
      prints: ['callsheet-models'],
      load: async () => (await import('./catalogues.ts')).models,
    },
    {
      name: 'get stt_providers',
      does: 'list the speech-to-text providers',
      flags: [format('text', 'json', 'csv')],
      examples: ['callsheet get stt_providers'],
      exits: READING,
      prints: ['callsheet-stt-providers'],
      load: async () => (await import('./catalogues.ts')).sttProviders,
    },
    {
      name: 'get payments',
      does: 'show whether an agent can take payments, and what is missing',
      args: [AGENT],
      flags: [
        ORGANIZATION,
        flag('--refresh', 'make the platform query the payment processor now'),
        format('text', 'json'),
      ],
      examples: ['callsheet get payments agent.reception --refresh'],
      exits: READING,
      prints: ['callsheet-payments'],
      load: async () => (await import('./catalogues.ts')).payments,
    },
    {
      name: 'history',
      does: 'list the versions of an agent',
      args: [AGENT],
      flags: [
        ORGANIZATION,
        flag('--limit <n>', 'how many versions, counted from the newest; at most 100', {
          parse: upTo(100),
          byDefault: 50,
        }),
        format('text', 'json', 'csv'),
      ],
      examples: ['callsheet history agent.reception --limit 10'],
      exits: READING,
      prints: ['callsheet-history'],
      load: async () => (await import('./history.ts')).history,
    },
    {
      name: 'metrics',
      does: 'show metrics of agents: totals, outcomes, charts, agents',
      flags: [
        flag('--since <time>', 'start: 7d, 2026-11-01 (by default the last 30 days)'),
        flag('--until <time>', 'end (by default now)'),
        ORGANIZATION,
        flag('--reseller <id>', 'only the organizations of this reseller'),
        flag('--block <block>', 'one table, whole', { choices: METRICS_BLOCKS }),
        format('text', 'json', 'csv'),
      ],
      examples: ['callsheet metrics --since 30d', 'callsheet metrics --block totals --format csv'],
      exits: READING,
      prints: ['callsheet-metrics'],
      load: async () => (await import('./reports.ts')).metrics,
    },
    {
      name: 'session',
      does: 'create a session token for an application that embeds an agent',
      flags: [
        flag('--profile <id>', 'the profile that the session is for', { isRequired: true }),
        flag('--user <id>', "the user's id in the application"),
        flag('--pbx', "create it with the PBX provider's token (CALLSHEET_PBX_API_KEY)"),
        flag('--claim <id>', 'the user base claim at the PBX provider; with --pbx'),
        format('text', 'json'),
      ],
      examples: ['callsheet session --profile 2f6d8e9a-0b11-4b0e-9b1c-7d0c6f1e54a3'],
      exits: READING,
      prints: ['callsheet-session'],
      load: async () => (await import('./catalogues.ts')).session,
    },
  ],
};
