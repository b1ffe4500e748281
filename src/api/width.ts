/** How many requests to a host are under way at once. */
export type Width = {
  /** The most that may be. */
  readonly most: () => number;
  /** A request was let in that was sent as the so-manyth under way. */
  readonly letIn: (place: number, at: number) => void;
  /** A request was refused that was sent as the so-manyth under way. */
  readonly refused: (place: number) => void;
  /** The host takes requests again. True where it refused because too many were under way: then fewer will be. */
  readonly wasCrowd: (at: number) => boolean;
};

/** After a cut, one more is tried only when so many were let in while as many were under way as may be, */
const FEWEST_BEFORE_MORE = 300;
/** and not sooner than in so many milliseconds, twice as many each time that there turns out to be no room for more. */
const REST_MS = { first: 30_000, longest: 240_000 };
/** Where there was room for more, more still is tried after so many. */
const FEWEST_AFTER_MORE = 30;
/** Fewer answers do not say how many there mostly were. */
const FEWEST_TAKEN = 100;

/**
 * A limit on requests under way is told from one on their rate by who is refused: the former refuses those that were
 * sent while many were under way, and lets no others in there; the latter lets in as many, and then refuses any.
 */
export function createWidth(most: number): Width {
  const places = () => Array.from({ length: most + 1 }, () => 0);
  const [takenAt, refusedAt] = [places(), places()];
  let [cap, step, left, rest, restUntil] = [most, 1, 0, REST_MS.first, 0];
  /** So many fit in, as was found the last time; undefined where that was wrong. */
  let found: number | undefined;

  /** How many fit in by what was heard; undefined where that does not go by how many there are. */
  function fittingIn(): number | undefined {
    const refused = sum(refusedAt);
    const taken = sum(takenAt);
    // Answers that speak against so many: others that were let in, and these that were not.
    let against = taken;
    let best = { fits: 0, against };
    for (let fits = 1; fits < cap; fits += 1) {
      against += (refusedAt[fits] ?? 0) - (takenAt[fits] ?? 0);
      if (against < best.against) best = { fits, against };
    }
    if (best.fits === 0 || best.against > refused / 2) return undefined;
    // Where there were seldom so many, it is by chance that there were when the rate was too high.
    const wasFull = sum(takenAt.slice(best.fits)) >= taken / 2;
    return wasFull || taken < FEWEST_TAKEN ? best.fits : undefined;
  }

  return {
    most: () => cap,
    letIn(place, at) {
      takenAt[place] = (takenAt[place] ?? 0) + 1;
      if (cap === most || place < cap) return;
      left -= 1;
      if (left > 0 || at < restUntil) return;
      [cap, step, left] = [Math.min(most, cap + step), step * 2, FEWEST_AFTER_MORE];
    },
    refused(place) {
      refusedAt[place] = (refusedAt[place] ?? 0) + 1;
    },
    wasCrowd(at) {
      const fits = cap === found ? undefined : fittingIn();
      found = fits;
      takenAt.fill(0);
      refusedAt.fill(0);
      if (fits === undefined) return false;
      rest = restUntil === 0 ? REST_MS.first : Math.min(REST_MS.longest, rest * 2);
      [cap, step, left, restUntil] = [fits, 1, FEWEST_BEFORE_MORE, at + rest];
      return true;
    },
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
