import { type Chance, seedChance } from '../ids.ts';
import {
  type Call,
  type CallBook,
  type CalledWebhook,
  escalatedAfter,
  type Language,
  type Trade,
} from './call.ts';
import en from './phrases.en.json' with { type: 'json' };
import es from './phrases.es.json' with { type: 'json' };

type Speaker = 'agent' | 'user' | 'system';
type Line = { readonly speaker: Speaker; readonly text: string };

/** What was said in a call, and what came of it. */
export type Script = {
  readonly topic: string;
  readonly summary: string;
  readonly actions: readonly string[];
  readonly lines: readonly Line[];
  /** Why the call ended, as its last entry says. */
  readonly ending: string;
};

const WORDS = 10;

/** What was said in a call: the same every time, whatever became of the agent since. */
export function writeScript(book: CallBook, call: Call): Script {
  const chance = seedChance(call.number, WORDS);
  const phrases = PHRASES[chance.pick((call.agent ?? book).languages)];
  const fill = slots(book, phrases, chance);
  const plot = choosePlot(book, call, phrases, chance);
  const { topic, asked, done, actions } = plot.scenario;
  return {
    topic: fill(topic),
    summary: fill([asked, done].filter(Boolean).join(' ')),
    actions: actions.map(fill),
    lines: withWebhook(
      listWebhooks(book, call),
      chance,
      plot.lines.map(({ speaker, text }) => ({ speaker, text: fill(text) })),
    ),
    ending: plot.ending,
  };
}

type Plot = {
  readonly scenario: Scenario;
  readonly lines: readonly Line[];
  readonly ending: string;
};

function choosePlot(book: CallBook, call: Call, phrases: Phrases, chance: Chance): Plot {
  const isOutbound = book.trade === 'outbound';
  const greetings = isOutbound ? phrases.outboundGreetings : phrases.greetings;
  const greeting: Line = { speaker: 'agent', text: chance.pick(greetings) };
  const scenario = chance.pick(phrases.scenarios[book.trade]);
  switch (call.outcome) {
    case 'resolved':
      return {
        scenario,
        lines: [greeting, ...talk(scenario.turns), ...talk(closing(scenario, phrases, chance))],
        ending: 'caller hung up',
      };
    case 'transferred':
      return handedOver(greeting, scenario, call.reason ?? '', phrases);
    case 'abandoned':
      return {
        scenario: phrases.abandoned,
        lines: [greeting, ...talk(phrases.abandoned.turns.slice(0, chance.between(0, 2)))],
        ending: 'caller hung up',
      };
    case 'other': {
      if (isOutbound) {
        const lines = talk(phrases.voicemail.turns);
        return { scenario: phrases.voicemail, lines, ending: 'voicemail' };
      }
      const isSilent = chance.isLikely(0.6);
      const odd = isSilent ? phrases.silent : phrases.wrongNumber;
      const ending = isSilent ? 'inactivity timeout' : 'caller hung up';
      return { scenario: odd, lines: [greeting, ...talk(odd.turns)], ending };
    }
  }
}

/** The talk goes on until the caller wants a person. */
function handedOver(greeting: Line, scenario: Scenario, reason: string, phrases: Phrases): Plot {
  const { handover } = phrases;
  const asks = handover.asks[reason] ?? handover.asksOtherwise;
  return {
    scenario: { ...scenario, done: handover.said, actions: [handover.action] },
    lines: [greeting, ...talk(scenario.turns.slice(0, 4)), ...talk([asks, handover.agent])],
    ending: 'transferred',
  };
}

/** Where the agent spoke last the caller says thank you; where the caller did, the agent closes. */
function closing({ turns }: Scenario, { closings }: Phrases, chance: Chance): readonly string[] {
  const [thanks = '', goodbye = ''] = chance.pick(closings);
  return turns.length % 2 === 0 ? [thanks, goodbye] : ['', goodbye];
}

function talk(turns: readonly string[]): readonly Line[] {
  return turns
    .map((text, index): Line => ({ speaker: index % 2 === 0 ? 'user' : 'agent', text }))
    .filter(({ text }) => text !== '');
}

/** The agent's webhooks in a call, without the one that failed. */
function listWebhooks(book: CallBook, call: Call): readonly CalledWebhook[] {
  return (call.agent ?? book).webhooks.filter(({ name }) => name !== call.failed);
}

/** A webhook of the agent runs once the caller has said what it is about. */
function withWebhook(webhooks: readonly CalledWebhook[], chance: Chance, lines: readonly Line[]) {
  const during = webhooks.filter(({ condition }) => condition === 'during_call');
  const at = lines.findIndex(({ speaker }) => speaker === 'user') + 1;
  if (during.length === 0 || at === 0 || lines.length < 5) return lines;
  const line: Line = { speaker: 'system', text: webhookText(chance.pick(during)) };
  return [...lines.slice(0, at), line, ...lines.slice(at)];
}

function webhookText({ name, condition, method }: CalledWebhook): string {
  return `Webhook ${name} (${condition}) executed: ${method} answered 200`;
}

/** Fills `{name}` and the like, the same way throughout a call. */
function slots(
  { company }: CallBook,
  { names, days, times, goods }: Phrases,
  { pick, between }: Chance,
): (text: string) => string {
  const values: { readonly [slot: string]: string } = {
    company,
    name: pick(names),
    day: pick(days),
    time: pick(times),
    goods: pick(goods),
    number: String(between(10_000, 99_999)),
  };
  return (text) => text.replaceAll(/\{(\w+)\}/g, (slot, key: string) => values[key] ?? slot);
}

/** What a call is about. Turns alternate, the caller first; an empty one is silence. */
type Scenario = {
  /** Three to five words. */
  readonly topic: string;
  /** One sentence: what the caller wanted. */
  readonly asked: string;
  /** One sentence or none: what the agent did. */
  readonly done: string;
  readonly actions: readonly string[];
  readonly turns: readonly string[];
};

/** What is said in a language. `{name}` and the like are filled in for each call. */
type Phrases = {
  readonly names: readonly string[];
  readonly days: readonly string[];
  readonly times: readonly string[];
  readonly goods: readonly string[];
  readonly greetings: readonly string[];
  readonly outboundGreetings: readonly string[];
  /** The caller's last words and the agent's. */
  readonly closings: readonly (readonly string[])[];
  readonly handover: {
    readonly said: string;
    readonly action: string;
    readonly agent: string;
    /** How a caller asks for a person, by reason. */
    readonly asks: { readonly [reason: string]: string };
    readonly asksOtherwise: string;
  };
  readonly abandoned: Scenario;
  readonly silent: Scenario;
  readonly wrongNumber: Scenario;
  readonly voicemail: Scenario;
  readonly scenarios: { readonly [trade in Trade]: readonly Scenario[] };
};

const PHRASES: { readonly [language in Language]: Phrases } = { en, es };

/** An entry of `transcript_json` (Call log). Times are in seconds: into the call, and since 1970. */
type TranscriptEntry = {
  readonly text: string;
  readonly speaker: Speaker;
  readonly timestamp: number;
  readonly is_partial: boolean;
  readonly created_at: number;
};

type Timed = Line & { readonly at: number; readonly isPartial: boolean };

const TIMING = 11;

/**
 * The entries of a call, in order: what was said, what was still being heard, and what happened. `failure` is how
 * they say that the webhook `{name}` failed.
 */
export function writeTranscript(
  book: CallBook,
  call: Call,
  script: Script,
  failure: string,
): readonly TranscriptEntry[] {
  const { outcome, duration, startedAt } = call;
  const spokenUntil = outcome === 'transferred' ? escalatedAfter(call) : Math.max(0, duration - 1);
  const hooks = (condition: string, at: number) =>
    listWebhooks(book, call)
      .filter((webhook) => webhook.condition === condition)
      .map((webhook) => event(webhookText(webhook), at));
  const entries = [
    ...hooks('before_call', 0),
    ...spoken(script.lines, spokenUntil, seedChance(call.number, TIMING)),
    ...(outcome === 'transferred' ? transfer(call, spokenUntil) : []),
    event(`Call ended: ${script.ending}`, duration),
    ...hooks('after_call', duration),
  ];
  if (call.failed !== undefined) {
    const text = failure.replaceAll('{name}', call.failed);
    entries.push(event(text, failedAt(book, call, spokenUntil)));
    entries.sort((a, b) => a.at - b.at);
  }
  return entries.map(({ text, speaker, at, isPartial }) => ({
    text,
    speaker,
    timestamp: tenths(at),
    is_partial: isPartial,
    created_at: tenths(startedAt / 1000 + tenths(at)),
  }));
}

/** One line for each entry that is final: seconds, speaker, words (Call log, transcript_text). */
export function transcriptText(entries: readonly TranscriptEntry[]): string {
  return entries
    .filter(({ is_partial: isPartial }) => !isPartial)
    .map(({ timestamp, speaker, text }) => `[${timestamp.toFixed(1)}s] ${speaker}: ${text}`)
    .join('\n');
}

/** Seconds into a call at which its webhook failed. */
function failedAt(book: CallBook, { agent, failed, duration }: Call, spokenUntil: number): number {
  const { condition } = (agent ?? book).webhooks.find(({ name }) => name === failed) ?? {};
  if (condition === 'before_call') return 0;
  return condition === 'after_call' ? duration : spokenUntil / 2;
}

function event(text: string, at: number): Timed {
  return { speaker: 'system', text, at, isPartial: false };
}

function transfer({ reason, duration }: Call, at: number): readonly Timed[] {
  return [
    event(`Transfer requested: ${reason}`, at),
    event('Transfer completed', Math.min(at + 4, duration)),
  ];
}

/** Lines over the time that there is, each as long as it has words; long ones are first heard in part. */
function spoken(lines: readonly Line[], until: number, chance: Chance): readonly Timed[] {
  const start = Math.min(0.8, until);
  const lengths = lines.map(({ speaker, text }) =>
    speaker === 'system' ? 1 : text.split(' ').length + 4,
  );
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  return lines.flatMap((line, index) => {
    const length = lengths[index] ?? 0;
    const at = start + ((until - start) * before) / total;
    const half = ((until - start) * length) / total / 2;
    before += length;
    const isHeardInPart = line.speaker === 'user' && length > 10 && chance.isLikely(0.5);
    const final = { ...line, at: isHeardInPart ? at + half : at, isPartial: false };
    return isHeardInPart
      ? [{ ...line, text: firstHalf(line.text), at, isPartial: true }, final]
      : [final];
  });
}

function firstHalf(text: string): string {
  const words = text.split(' ');
  return words.slice(0, Math.ceil(words.length / 2)).join(' ');
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
