import type { Call, CallBook } from './call.ts';
import { type Chance, chanceOf } from './chance.ts';
import { PHRASES, type Phrases, type Scenario } from './phrases.ts';

export type Speaker = 'agent' | 'user' | 'system';
export type Line = { readonly speaker: Speaker; readonly text: string };

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
export function scriptOf(book: CallBook, call: Call): Script {
  const chance = chanceOf(call.number, WORDS);
  const phrases = PHRASES[chance.pick(book.languages)];
  const fill = slots(book, phrases, chance);
  const plot = plotOf(book, call, phrases, chance);
  const { topic, asked, done, actions } = plot.scenario;
  return {
    topic: fill(topic),
    summary: fill([asked, done].filter(Boolean).join(' ')),
    actions: actions.map(fill),
    lines: withWebhook(
      book,
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

function plotOf(book: CallBook, call: Call, phrases: Phrases, chance: Chance): Plot {
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

/** A webhook of the agent runs once the caller has said what it is about. */
function withWebhook({ webhooks }: CallBook, chance: Chance, lines: readonly Line[]) {
  const during = webhooks.filter(({ condition }) => condition === 'during_call');
  const at = lines.findIndex(({ speaker }) => speaker === 'user') + 1;
  if (during.length === 0 || at === 0 || lines.length < 5) return lines;
  const line: Line = { speaker: 'system', text: webhookText(chance.pick(during)) };
  return [...lines.slice(0, at), line, ...lines.slice(at)];
}

export function webhookText({ name, condition, method }: CallBook['webhooks'][number]): string {
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
