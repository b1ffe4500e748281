/**
 * The words of a language that call-outs know: one table each. A value is the inside of a pattern, where a blank stands for any
 * white space and a letter also for the same letter with an accent; a list has blanks between its words.
 */
export type Language = {
  readonly numbers: {
    /** From one on, from ten on, and tens from twenty on. */
    readonly units: string;
    readonly teens: string;
    readonly tens: string;
    readonly zero: string;
    /** Words behind digits that make them large: `2 million`. */
    readonly large: string;
    /** Numbers that none of these lists has. */
    readonly others: { readonly [word: string]: number };
    readonly factors: { readonly [word: string]: number };
    /** Numbers that are no more than about one: `a couple of`. They are reported if another takes their place. */
    readonly vague: string;
    /** The text between tens and units. */
    readonly joint: string;
    /** With `{small}` for any number below a hundred, `{hundreds}` for one below a thousand, `{large}` for what is above. */
    readonly hundreds: string;
    readonly thousands: string;
    readonly half: string;
    /** Numbers only before what they count: by themselves they are other words. */
    readonly unsure: string;
    readonly digit: string;
    readonly ordinals: string;
    /** Nouns that an ordinal counts. */
    readonly ordered: string;
  };
  readonly times: {
    /** At all times. */
    readonly always: string;
    /** `twice`. */
    readonly often: { readonly [pattern: string]: number };
    /** `half an hour`, `an hour and a half`; by itself an article says `one` only behind some words: `within an hour`. */
    readonly one: {
      readonly parts: { readonly [pattern: string]: number };
      readonly article: string;
      readonly behind: string;
      /** The same before some: `an hour before`. */
      readonly ahead: string;
      readonly andParts: { readonly [pattern: string]: number };
    };
    /** Read behind a number: it is a time of day. */
    readonly clock: string;
    readonly afternoon: string;
    readonly morning: string;
    /** Twelve before this is midnight. */
    readonly night: string;
    /** Parts of a day behind a time, which are left out where both sides have them. */
    readonly partOfDay: string;
    /** Read before a number, with the minutes to add. */
    readonly past: { readonly [pattern: string]: number };
    /** The same behind it: `diez menos cuarto`. */
    readonly to: { readonly [pattern: string]: number };
    /** Times of day that have a name, in minutes. */
    readonly named: { readonly [pattern: string]: number };
    readonly months: readonly string[];
    /** From Monday on. */
    readonly days: readonly string[];
    readonly shortDays: readonly string[];
    /** Days that have a name together, and others that are reported when they come or go. */
    readonly groups: { readonly [name: string]: string };
    /** The same of words that are only reported when another one of their sort takes their place. */
    readonly parts: { readonly [sort: string]: readonly string[] };
    /** A date with `{month}` in it. */
    readonly dates: readonly string[];
  };
  readonly measures: {
    readonly currencies: { readonly [code: string]: string };
    readonly units: { readonly [name: string]: string };
    /** Stands between a number and what it counts. */
    readonly adjectives: string;
    /** Words that look like a plural. */
    readonly noPlural: string;
    /** `per`, the words for it, and the nouns behind it. */
    readonly per: string;
    /** The same before any word. */
    readonly perAny: string;
    readonly rated: string;
    /** Bounds before a number, and behind it. */
    readonly bounds: { readonly [bound in Bound]: readonly [before: string, behind: string] };
    /** Between the ends of a range. */
    readonly range: string;
    readonly between: readonly [before: string, and: string];
    readonly or: string;
    /** Words that join a smaller part to an amount, and whether the part needs a unit: `3 dollars and 50 cents`, `3 dollars 50`. */
    readonly parts: { readonly [pattern: string]: 'unit' | 'any' };
    /** Words for people of some age: a bound and a number of years. */
    readonly ages: { readonly [bounded: string]: string };
    /** Bounds that a hyphen joins to their number: `under-18s`. */
    readonly hyphened: string;
    /** Which side of a number something is on. */
    readonly below: string;
    readonly above: string;
    /** Names of things with a number: `labels` are reported when they come or go, `numbered` only when replaced. */
    readonly labels: string;
    readonly numbered: string;
    readonly addresses: readonly string[];
    /** Read before a short number: it is one to call. */
    readonly dial: string;
  };
  readonly transfers: {
    /** Verbs, what has to stand behind one for it to be a transfer (nothing in particular where absent), and what leads to the target. */
    readonly verbs: readonly {
      readonly verb: string;
      readonly object?: string;
      readonly to: string;
    }[];
    /** Stands before a name, with a full stop. */
    readonly titles: string;
    /** Stands between who is handed over and whom to: `through`. */
    readonly manner: string;
    readonly articles: string;
    /** No target goes on behind these. */
    readonly stops: string;
    /** Words that name no particular person. */
    readonly pronouns: string;
  };
  readonly rules: {
    readonly forbids: string;
    /** Negates a word, and makes no instruction. */
    readonly negates: string;
    /** Negations that only repeat one before them, as `nunca` does in `no … nunca`. */
    readonly echoes: string;
    /** Negations that are about all of their clause, with what stands before them: `Dogs are not allowed`. */
    readonly predicates: string;
    /** Turns what it stands before, whether that is negated or not. */
    readonly turns: string;
    readonly demands: string;
    readonly obliges: string;
    readonly permits: string;
    readonly softens: string;
    readonly limits: string;
    readonly excepts: string;
    readonly without: string;
    /** Those of these words that are read where they are mistyped, too. */
    readonly typed: string;
    /** Words for an act that comes before another. */
    readonly first: string;
    /** Who is instructed: what others have to do is a fact. */
    readonly agent: string;
    readonly conditions: string;
    /** Begins a part of a sentence that is no order: what is negated there forbids nothing. */
    readonly subordinates: string;
    /** Introduces reported speech, which is a rule of its own: `say that`, with what may stand before a negation. */
    readonly reported: string;
    /** Names who it is about, up to the verb of the sentence: `Customers who bought online must`. */
    readonly relatives: string;
    /** Ends what a negation is about. */
    readonly breaks: string;
    readonly before: string;
    readonly after: string;
    /** Those of them that put two steps in order, which `until` does only behind a negation. */
    readonly earlier: string;
    readonly later: string;
    /** Begins a step that comes after all that stands before it, or stands in it. */
    readonly nextStep: string;
    readonly and: string;
    readonly or: string;
    /** Words for an obligation or a permission of anybody. */
    readonly must: string;
    readonly may: string;
    /** Exceptions that are conditions with a negation: `unless` is `if not`. */
    readonly unless: string;
    /** Why something is so is no part of an instruction. */
    readonly reasons: string;
    /** A bound with a number that a negation turns, as in `not more than three`. */
    readonly comparisons: string;
  };
  readonly meaning: {
    /** Words that say nothing of what a sentence is about. */
    readonly function: string;
    /** Who takes part in a call, which is known, unless a sentence sets one against the other. */
    readonly roles: string;
    /** Tells whether a word only says how something is done. */
    readonly isManner: (word: string) => boolean;
    /** Verbs and nouns that could stand for any other. */
    readonly light: string;
    /** Several words that mean one. */
    readonly phrases: { readonly [word: string]: string };
    /** Words that prompts use for the same. */
    readonly same: readonly string[];
    readonly opposites: { readonly [word: string]: string };
    /** Forms that no rule makes, with the word that they are of. */
    readonly irregular: { readonly [word: string]: string };
    readonly stem: (word: string) => string;
    /** Verbs that an order begins with. */
    readonly orders: ReadonlySet<string>;
    /** The same of a word with pronouns at its end. */
    readonly isOrder: (word: string) => boolean;
    /** Verbs that are nouns as well, and what follows them then: `Check-in is at 3 pm`. */
    readonly notOrdered: string;
    readonly states: string;
    /** Stands before an order. */
    readonly adverbs: string;
    /** Joins one clause to another. */
    readonly joined: string;
    /** Begins a clause before an order, up to its comma. */
    readonly leads: string;
    /** How to speak, and not what to do. */
    readonly styleVerbs: string;
    readonly styleNouns: string;
    readonly styles: string;
    /** A full stop behind these ends no sentence. */
    readonly abbreviations: string;
    /** Numbers a step: `Step 2:`. */
    readonly steps: string;
  };
};

type Bound = 'least' | 'most' | 'more' | 'less';
