import type { Language, Trade } from './call.ts';
import en from './phrases.en.json' with { type: 'json' };
import es from './phrases.es.json' with { type: 'json' };

/** What a call is about. Turns alternate, the caller first; an empty one is silence. */
export type Scenario = {
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
export type Phrases = {
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

export const PHRASES: { readonly [language in Language]: Phrases } = { en, es };
