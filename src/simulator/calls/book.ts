import type { JsonObject } from '../../core/value.ts';
import { isRecord, recordsOf } from '../json.ts';
import type { Agent, Store } from '../store.ts';
import type { CallBook, CalledWebhook, Language, Trade } from './call.ts';

/** The book of an agent; a new one where it had no calls yet. */
export function openBook(store: Store, agent: Agent): CallBook {
  const known = store.calls.get(agent.id);
  if (known !== undefined) return known;
  const { record } = agent;
  const company = store.organizations.get(agent.organizationId)?.name ?? '';
  const book: CallBook = {
    agentId: agent.id,
    agentName: String(record.name),
    organizationId: agent.organizationId,
    company,
    trade: record.agent_type === 'outbound' ? 'outbound' : tradeOf(company),
    languages: languagesOf(record),
    timezone: typeof record.timezone === 'string' ? record.timezone : 'UTC',
    webhooks: webhooksOf(record),
    isRecorded: isRecorded(record),
    calls: [],
  };
  store.calls.set(agent.id, book);
  return book;
}

/** Calls in all books together. */
export function countCalls({ calls }: Store): number {
  let count = 0;
  for (const book of calls.values()) count += book.calls.length;
  return count;
}

/** Puts the newest calls first, which is the order in which they are read. */
export function sortCalls({ calls }: Store): void {
  for (const book of calls.values()) book.calls.sort((a, b) => b.startedAt - a.startedAt);
}

/** Words in a company's name that tell its trade. */
const TRADES: readonly (readonly [Trade, RegExp])[] = [
  ['clinic', /dental|clinic|clínica|physio|vets|pharmacy|health/i],
  ['hotline', /line\b|helpdesk|support/i],
  ['property', /homes|property|estates|lettings/i],
  ['restaurant', /kitchen|restaurant|grill|bistro|kettle/i],
  ['shop', /hardware|shop|store|books|garage|cycles/i],
];

function tradeOf(company: string): Trade {
  return TRADES.find(([, words]) => words.test(company))?.[0] ?? 'office';
}

function languagesOf({ language }: JsonObject): readonly Language[] {
  if (language === 'multi') return ['en', 'es'];
  return language === 'es-US' ? ['es'] : ['en'];
}

function webhooksOf({ extensions }: JsonObject): readonly CalledWebhook[] {
  const tools = isRecord(extensions) ? recordsOf(extensions.tools) : [];
  return tools.map(({ name, condition, method }) => ({
    name: String(name),
    condition: String(condition),
    method: String(method),
  }));
}

function isRecorded({ enable_recording: own, config }: JsonObject): boolean {
  return (own ?? (isRecord(config) ? config.enable_recording : false)) === true;
}
