import type { SeedDocument } from '../../src/simulator/index.ts';
import { ID } from './ids.ts';

/** The month that the calls of the seed lie in, but for one of them. */
export const MONTH = { from: '2026-01-01', to: '2026-01-31' };

/** Calls of every outcome, of agents of every state. */
export const CALLS: NonNullable<SeedDocument['calls']> = [
  {
    id: 'call-1',
    agent_id: ID.desk,
    call_started_at: '2026-01-10T09:15:00Z',
    call_duration: 120,
    outcome: 'resolved',
    sentiment: 'Positive',
    caller_id: '+15550111',
  },
  {
    agent_id: ID.desk,
    call_started_at: '2026-01-10T09:45:00Z',
    call_duration: 60,
    outcome: 'transferred',
    reason: 'Billing question',
    sentiment: 'Negative',
  },
  {
    agent_id: ID.desk,
    call_started_at: '2026-01-12T14:00:00Z',
    call_duration: 30,
    outcome: 'abandoned',
    sentiment: 'Neutral',
  },
  {
    agent_id: ID.desk,
    call_started_at: '2026-01-12T23:59:30Z',
    call_duration: 90,
    outcome: 'other',
    sentiment: 'Neutral',
  },
  { agent_id: ID.desk, call_started_at: '2026-03-20T10:00:00Z', call_duration: 600 },
  { agent_id: ID.recall, call_started_at: '2026-01-11T10:00:00Z', call_duration: 300 },
  {
    agent_id: ID.night,
    call_started_at: '2026-01-15T11:00:00Z',
    call_duration: 45,
    outcome: 'transferred',
    reason: 'Wants a person',
  },
  {
    agent_id: ID.night,
    call_started_at: '2026-01-16T08:30:00Z',
    call_duration: 15,
    outcome: 'transferred',
    reason: 'Wants a person',
  },
  { agent_id: ID.gone, call_started_at: '2026-01-13T12:00:00Z', call_duration: 75 },
];
