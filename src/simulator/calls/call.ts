import { makeUuid, seedChance } from '../ids.ts';

/** How calls end (Metrics, resolutionBreakdown). */
export const OUTCOMES = ['resolved', 'transferred', 'abandoned', 'other'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Moods that a summary names (Call log, summary_text). */
const SENTIMENTS = ['Positive', 'Neutral', 'Negative'] as const;
export type Sentiment = (typeof SENTIMENTS)[number];

export type Language = 'en' | 'es';
/** What an agent's company does, and so what its callers want. */
export type Trade =
  | 'clinic'
  | 'hotline'
  | 'office'
  | 'outbound'
  | 'property'
  | 'restaurant'
  | 'shop';

/** A webhook that the transcript tells of. */
export type CalledWebhook = {
  readonly name: string;
  readonly condition: string;
  readonly method: string;
  /** Whether what it calls may fail: an address without https, or of a host that begins with `broken.`. */
  readonly isBroken: boolean;
};

/** What a transcript tells of the agent itself. */
export type AgentOnCall = {
  readonly languages: readonly Language[];
  readonly webhooks: readonly CalledWebhook[];
};

/**
 * One call, as little as there is to know: there may be a hundred thousand. Whatever else a report says of
 * it is drawn from its number, the same every time.
 */
export type Call = {
  /** Unique among all calls. */
  readonly number: number;
  /** What a seed gave it; otherwise the id follows from the number. */
  readonly id: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whole seconds. */
  readonly duration: number;
  readonly outcome: Outcome;
  readonly sentiment: Sentiment;
  /** Why it was handed to a person; of transferred calls alone. */
  readonly reason: string | undefined;
  readonly callerId: string;
  readonly isRecorded: boolean;
  /** What the agent was in this call, where its book does not say it. Calls between two changes share it. */
  readonly agent: AgentOnCall | undefined;
  /** Name of a webhook of the agent that failed in it. */
  readonly failed: string | undefined;
};

/** An agent's calls, and what the agent was when they were held: later changes of it do not change them. */
export type CallBook = AgentOnCall & {
  readonly agentId: string;
  readonly agentName: string;
  readonly organizationId: string;
  readonly company: string;
  readonly trade: Trade;
  readonly timezone: string;
  readonly isRecorded: boolean;
  /** Newest first. */
  readonly calls: Call[];
};

/** What a call's machinery measured, in milliseconds and percent. */
type Measurements = {
  readonly responseTime: number;
  readonly intentAccuracy: number;
  readonly contextRetention: number;
  readonly speechRecognition: number;
  readonly entityExtraction: number;
};

const MEASURED = 1;

export function callId({ id, number }: Call): string {
  return id ?? makeUuid(`call ${number}`);
}

/** Milliseconds since the epoch. */
export function getEnd({ startedAt, duration }: Call): number {
  return startedAt + duration * 1000;
}

/** What was measured of a call. Nothing where nobody talked to the agent long enough. */
export function findMeasurements({ number, outcome }: Call): Measurements | undefined {
  if (outcome !== 'resolved' && outcome !== 'transferred') return undefined;
  const { between } = seedChance(number, MEASURED);
  return {
    responseTime: between(420, 1350),
    intentAccuracy: between(86, 99),
    contextRetention: between(82, 98),
    speechRecognition: between(90, 99),
    entityExtraction: between(84, 98),
  };
}

/** Seconds into a call after which it was handed to a person. */
export function escalatedAfter({ number, duration }: Call): number {
  const { next } = seedChance(number, MEASURED + 1);
  return Math.floor(duration * (0.35 + 0.45 * next()));
}
