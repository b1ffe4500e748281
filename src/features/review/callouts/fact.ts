/** A fact is a value in a text that can be right or wrong by itself: numbers with their unit, times, addresses, names. */

export type FactMark = 'token' | 'tool' | 'phone' | 'link' | 'transfer' | 'number';

export type Fact = {
  readonly mark: FactMark;
  /** As the text has it, with single blanks. */
  readonly text: string;
  /** The same without its end, left out where another fact has it, too: `a day` of `more than 6 texts a day`. */
  readonly brief?: string;
  /** The same for what means the same: `24 hours` and `twenty-four hours` are `24`. */
  readonly value: string;
  /** The unit that it counts, or its form: values of one unit replace each other. */
  readonly unit: string;
  /** Units of one family replace each other, too: `24 hours` may become `2 days`. */
  readonly family: string;
  readonly bound: keyof typeof NEGATED | '';
  /** The word before that tells its direction, as in `before 5 pm`. */
  readonly lead: Lead | undefined;
  /** True if it is reported when another one takes its place, and not when it comes or goes: `Terminal 2`, `today`. */
  readonly isWeak: boolean;
  readonly start: number;
  readonly end: number;
  /** The start of the words that belong to it, such as the verb of a transfer. */
  readonly from: number;
};

export type Lead = { readonly text: string; readonly side: 'below' | 'above' };

/** Bounds by the bound that each becomes under a negation: `not more than`. */
export const NEGATED = { '>': '≤', '<': '≥', '≥': '<', '≤': '>' } as const;

/** The same for facts that say the same. */
export function factKey({ mark, bound, value, unit }: Fact): string {
  return `${mark} ${bound}${value} ${unit}`;
}

/** Names must exist somewhere: each of them is named wherever it comes or goes. */
export function isName({ mark, unit }: Pick<Fact, 'mark' | 'unit'>): boolean {
  return mark !== 'number' && mark !== 'transfer' && unit !== SHORT_PHONE;
}

/** A number of a few digits that is called: `911`. */
export const SHORT_PHONE = 'short phone';

/** The members that most facts have no value of their own for. */
export const PLAIN = { bound: '', lead: undefined, isWeak: false } as const;

/** The words of a fact, with single blanks. */
export function shown(text: string): string {
  return text.replace(/\s+/g, ' ');
}
