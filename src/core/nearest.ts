/** Letters only, so that `systemPrompt`, `system-prompt` and `system_prompt` count as one spelling. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '');
}

/**
 * How many letters must be added, removed, replaced or swapped with their neighbour to turn one word
 * into the other (optimal string alignment distance). Beyond `most` it only says that it is more.
 */
export function editDistance(a: string, b: string, most = Number.POSITIVE_INFINITY): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (row[j - 1] ?? 0) + 1,
        (last[j] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    // A swap reaches back two rows, so both must be beyond it.
    if (Math.min(...row) > most && Math.min(...last) > most) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The candidate that `word` was probably meant to be, or undefined where none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(word);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const other = plain(candidate);
    if (Math.abs(other.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, other, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Names that are listed where none is plainly meant; the rest is a command away. */
const MOST_LISTED = 8;

/** How unlike a candidate is: one begins with the other, they share a word, or letters. */
function unlikeness(word: string, candidate: string): number {
  const [wanted, other] = [plain(word), plain(candidate)];
  if (other.startsWith(wanted) || wanted.startsWith(other)) return 0;
  if (other.includes(wanted)) return 1;
  const words = candidate.split('_');
  const isShared = word.split(/[-_ ]/).some((part) => part.length > 2 && words.includes(part));
  return (isShared ? 2 : 3) + editDistance(wanted, other) / 100;
}

/** The only candidate that goes on where the word ends: `greeting_message` for `greeting`. */
function onlyLonger(word: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(word);
  const longer = candidates.filter((candidate) => plain(candidate).startsWith(wanted));
  return wanted.length > 2 && longer.length === 1 ? longer[0] : undefined;
}

/**
 * Suggests what to write instead of an unknown name. `all` is what the candidates are called, `more` where all of
 * them can be looked up, and `show` how a candidate is written.
 */
export function suggestInstead(
  word: string,
  candidates: readonly string[],
  all: string,
  more: string,
  show = (candidate: string) => candidate,
): string {
  const close = didYouMean(word, candidates, undefined, show);
  if (close !== undefined) return close;
  if (candidates.length <= MOST_LISTED) return `${all} are ${candidates.join(', ')}`;
  const near = candidates
    .toSorted((a, b) => unlikeness(word, a) - unlikeness(word, b))
    .slice(0, MOST_LISTED);
  return `The nearest are ${near.join(', ')}; ${more}`;
}

/**
 * `Did you mean agent?` where one candidate is near: the word has a slip in it, or was cut short. Otherwise what is said
 * then. `show` is how a candidate is written.
 */
export function didYouMean<T extends string | undefined>(
  word: string,
  candidates: Iterable<string>,
  otherwise: T,
  show = (candidate: string) => candidate,
): string | T {
  const close = nearest(word, candidates) ?? onlyLonger(word, [...candidates]);
  return close === undefined ? otherwise : `Did you mean ${show(close)}?`;
}
