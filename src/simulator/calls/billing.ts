import type { JsonObject } from '../../core/value.ts';
import type { Organization, Store } from '../store.ts';
import { minutesOf, sum } from './figures.ts';
import { callsWithin, type Span } from './span.ts';

/** One row for each organization, those without calls included (Billing report). */
export function billingRows(
  { resellers, agents, calls }: Store,
  organizations: readonly Organization[],
  span: Span,
): readonly JsonObject[] {
  const seconds = new Map<string, number>();
  for (const book of calls.values()) {
    const talked = sum(callsWithin(book, span).map(({ duration }) => duration));
    seconds.set(book.organizationId, (seconds.get(book.organizationId) ?? 0) + talked);
  }
  const counts = new Map<string, number>();
  for (const { organizationId } of agents.values())
    counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  return organizations.map(({ id, name, resellerId }) => ({
    organization_id: id,
    organization_name: name,
    reseller_id: resellerId ?? null,
    reseller_name: resellers.get(resellerId ?? '')?.name ?? null,
    voice_minutes: minutesOf(seconds.get(id) ?? 0),
    agent_count: counts.get(id) ?? 0,
  }));
}

/** A date of ISO 8601 in US notation, which the report answers in although it is asked in the other. */
export function usDate(date: string): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}
