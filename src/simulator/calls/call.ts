import { type JsonObject, objectsIn } from '../../core/value.ts';
import { seedChance } from '../ids.ts';
import { inside } from '../json.ts';

/**
 * How calls end (Metrics, resolutionBreakdown): how many of 100 of an inbound and of an outbound agent, seconds that
 * they take, and the shares in a positive mood and in no negative one.
 */
export const ENDINGS = {
  resolved: { shares: [71, 48], seconds: [40, 210], moods: [0.62, 0.94] },
  transferred: { shares: [14, 6], seconds: [35, 240], moods: [0.22, 0.68] },
  abandoned: { shares: [9, 12], seconds: [3, 40], moods: [0, 1] },
  other: { shares: [6, 34], seconds: [9, 70], moods: [0, 1] },
} as const;
export const OUTCOMES = ['resolved', 'transferred', 'abandoned', 'other'] as const;

/** An agent as its callers meet it. Calls between two changes share it. */
export type AgentOnCall = ReturnType<typeof meetAgent>;

export function meetAgent({ language, extensions, enable_recording, config }: JsonObject) {
  const languages: readonly ('en' | 'es')[] =
    language === 'multi' ? ['en', 'es'] : [language === 'es-US' ? 'es' : 'en'];
  return {
    languages,
    isRecorded: (enable_recording ?? inside(config, 'enable_recording')) === true,
    webhooks: objectsIn(inside(extensions, 'tools')).map(({ name, condition, method, url }) => ({
      name: String(name),
      condition: String(condition),
      method: String(method),
      isBroken: !/^https:\/\/(?!broken\.)/i.test(String(url)),
    })),
  };
}

/** One call. There may be a hundred thousand, so that most of a report is drawn from the number when it is read. */
export type Call = {
  /** Unique among all calls. */
  readonly number: number;
  /** The id that a seed gave it; otherwise it follows from the number. */
  readonly id?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whole seconds. */
  readonly duration: number;
  readonly outcome: keyof typeof ENDINGS;
  readonly sentiment: 'Positive' | 'Neutral' | 'Negative';
  /** Why it was handed to a person; of transferred calls alone. */
  readonly reason: string | undefined;
  readonly callerId: string;
  readonly agent: AgentOnCall;
  /** Name of a webhook of the agent that failed in it. */
  readonly failed?: string | undefined;
};

/** The calls of an agent, which they outlive, and the agent as it was before the first of them. */
export type CallBook = {
  readonly agentId: string;
  readonly organizationId: string;
  readonly company: string;
  readonly timezone: string;
  readonly isOutbound: boolean;
  readonly first: AgentOnCall;
  readonly calls: Call[];
};

/** Why calls are handed to a person, the most frequent reason first. */
const REASONS = ['Caller asked for a person', 'Question about a bill', 'Complaint'];

type Drawn = 'sentiment' | 'reason' | 'callerId' | 'agent';
type Given = Omit<Call, Drawn> & { readonly [member in Drawn]?: Call[member] | undefined };

/** A call of a book. What is not given is drawn from its number. */
export function createCall(book: CallBook, given: Given): Call {
  const { next, between } = seedChance(given.number, 3);
  const [positive, content] = ENDINGS[given.outcome].moods;
  const mood = next();
  const sentiment = mood < positive ? 'Positive' : mood < content ? 'Neutral' : 'Negative';
  const reason = REASONS[Math.floor(REASONS.length * next() ** 2)];
  return {
    ...given,
    sentiment: given.sentiment ?? sentiment,
    reason: given.outcome === 'transferred' ? (given.reason ?? reason) : undefined,
    // Numbers with 555-01xx are reserved for fiction.
    callerId: given.callerId ?? `+1${between(201, 989)}55501${between(10, 99)}`,
    agent: given.agent ?? book.first,
  };
}

/** True if somebody talked to the agent for long enough to be measured. */
export function isTalk({ outcome }: Pick<Call, 'outcome'>): boolean {
  return outcome === 'resolved' || outcome === 'transferred';
}

/** Milliseconds since the epoch. */
export function getEnd({ startedAt, duration }: Call): number {
  return startedAt + duration * 1000;
}

/** Seconds into a call after which it was handed to a person. */
export function escalatedAfter({ number, duration }: Call): number {
  return Math.floor(duration * (0.35 + 0.45 * seedChance(number, 2).next()));
}
