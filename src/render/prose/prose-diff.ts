/** What a changed word is, where a change of it is called out. */
export type Mark = 'token' | 'tool' | 'phone' | 'number' | 'negation';

/** A stretch of words with the blanks before them: the texts of all pieces of a block make it up. */
export type Piece = {
  readonly text: string;
  readonly change: 'same' | 'removed' | 'added';
  /** Of the same words: how they stood before, where only the blanks between them differ. */
  readonly was?: string;
  readonly mark?: Mark;
};

/** Where something stands: in the text after, or, for what is no longer there, in the text before. */
export type Place = {
  /** The words of the heading above it. */
  readonly heading: string | null;
  /** Counted from 1. */
  readonly line: number;
};

/**
 * One paragraph, heading or list item, or several that stay or move together.
 *
 * | type | before | after |
 * |---|---|---|
 * | `same`, `fold` | `was ?? text` | `text` |
 * | `edited` | pieces that are `same` or `removed` | pieces that are `same` or `added` |
 * | `removed` | its pieces | – |
 * | `added` | – | its pieces |
 * | `left` | what the block at `to` was | – |
 * | `moved` | stands where its `left` stands | as `edited` |
 */
export type Block = Place &
  (
    | { readonly type: 'same'; readonly text: string; readonly was?: string }
    /** Unchanged, and too far from any change to be shown. */
    | {
        readonly type: 'fold';
        readonly text: string;
        readonly was?: string;
        readonly paragraphs: number;
        readonly headings: readonly string[];
      }
    | {
        readonly type: 'edited';
        readonly words: readonly Piece[];
        /** Not a word differs: the pieces tell the blanks apart. */
        readonly blanksOnly: boolean;
      }
    | { readonly type: 'removed' | 'added'; readonly words: readonly Piece[] }
    /** `from`: index of the block that marks the old place. */
    | {
        readonly type: 'moved';
        readonly words: readonly Piece[];
        readonly paragraphs: number;
        readonly isEdited: boolean;
        readonly from: number;
      }
    /** `to`: index of the block that now holds it. */
    | { readonly type: 'left'; readonly paragraphs: number; readonly to: number }
  );

/** A change that turns what a prompt does: it is named before the text is shown. */
export type Callout = Place & {
  readonly mark: Mark;
  /** Null for what is new, or gone. */
  readonly before: string | null;
  readonly after: string | null;
  /** How often the same is changed into the same; the place is that of the first. */
  readonly times: number;
  readonly block: number;
};

export type ProseDiff = {
  /** The texts differ, and in nothing but blanks and line breaks. */
  readonly whitespaceOnly: boolean;
  /** So much differs that words were not looked at everywhere: whole paragraphs stand for them. */
  readonly limited: boolean;
  readonly counts: {
    readonly words: { readonly removed: number; readonly added: number };
    readonly paragraphs: {
      readonly same: number;
      readonly edited: number;
      readonly moved: number;
      readonly removed: number;
      readonly added: number;
    };
  };
  readonly callouts: readonly Callout[];
  /** Callouts beyond the most that are kept. */
  readonly moreCallouts: number;
  readonly blocks: readonly Block[];
};
