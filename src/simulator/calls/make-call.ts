import type { Call, CallBook, Outcome, Sentiment } from './call.ts';
import { type Chance, chanceOf, weightedIndex } from './chance.ts';

/** Why calls are handed to a person, with how often. */
const REASONS = [
  ['Caller asked for a person', 38],
  ['Question about a bill', 20],
  ['Needs professional advice', 18],
  ['Complaint', 11],
  ['Outside what the agent may do', 9],
  ['Caller was not understood', 4],
] as const;
const reasonIndex = weightedIndex(REASONS.map(([, weight]) => weight));

/** Shares of Positive, Neutral and Negative where somebody talked to the agent. */
const MOODS = {
  resolved: [0.62, 0.94],
  transferred: [0.22, 0.68],
} as const;

/** Area codes; with 555-01xx behind them nobody has the number. */
const AREAS = ['206', '212', '305', '312', '415', '512', '617', '713'];

const DRAWN = 3;

/** What must be said of a call, and what may be; the rest is drawn from its number. */
type CallSpec = {
  readonly startedAt: number;
  readonly duration: number;
  readonly outcome: Outcome;
  readonly id?: string | undefined;
  readonly sentiment?: Sentiment | undefined;
  readonly reason?: string | undefined;
  readonly callerId?: string | undefined;
  readonly isRecorded?: boolean | undefined;
};

/** Enters a call into its agent's book. */
export function addCall(book: CallBook, number: number, spec: CallSpec): void {
  const chance = chanceOf(number, DRAWN);
  const { outcome } = spec;
  const call: Call = {
    number,
    id: spec.id,
    startedAt: spec.startedAt,
    duration: spec.duration,
    outcome,
    sentiment: spec.sentiment ?? drawSentiment(chance, outcome),
    reason: outcome === 'transferred' ? (spec.reason ?? drawReason(chance)) : undefined,
    callerId: spec.callerId ?? `+1${chance.pick(AREAS)}55501${twoDigits(chance.between(0, 99))}`,
    isRecorded: spec.isRecorded ?? book.isRecorded,
  };
  book.calls.push(call);
}

function drawSentiment({ next }: Chance, outcome: Outcome): Sentiment {
  if (outcome !== 'resolved' && outcome !== 'transferred') return 'Neutral';
  const [positive, neutral] = MOODS[outcome];
  const drawn = next();
  if (drawn < positive) return 'Positive';
  return drawn < neutral ? 'Neutral' : 'Negative';
}

function drawReason(chance: Chance): string {
  const [reason] = REASONS[reasonIndex(chance)] ?? REASONS[0];
  return reason;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
