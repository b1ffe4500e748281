/** How many requests to a host are under way at once. */
export type Width = {
  /** The most that may be. */
  readonly most: () => number;
  /** A request was let in that was sent as the so-manyth under way. */
  readonly letIn: (place: number, at: number) => void;
  /** A request was refused, while so many were under way, itself among them. */
  readonly refused: (place: number, underWay: number) => void;
  /** The host takes requests again. True where it refused because too many were under way: then fewer will be. */
  readonly wasCrowd: (at: number) => boolean;
};

/** After a cut, one more is tried only when so many were let in while as many were under way as may be, */
const FEWEST_BEFORE_MORE = 300;
/** and not sooner than in so many milliseconds, twice as many each time that there turns out to be no room for more. */
const REST_MS = { first: 20_000, longest: 160_000 };
/** Where there was room for more, more still is tried after so many. */
const FEWEST_AFTER_MORE = 30;

/**
 * A limit on requests under way is told from one on their rate by who is refused: the former refuses those that were
 * sent while many were under way, and lets no others in there; the latter lets in as many, and then refuses any.
 */
export function createWidth(most: number): Width {
  const seen = Array.from({ length: most + 1 }, () => 0);
  let [cap, step, left, rest, restUntil] = [most, 1, 0, REST_MS.first, 0];
  let row = { refused: 0, lowest: most, underWay: 0 };

  function fit(at: number): number | undefined {
    const { refused, lowest, underWay } = row;
    const besides = seen.slice(lowest).reduce((sum, count) => sum + count, 0);
    const fits = Math.max(underWay - refused, lowest - 1);
    if (refused <= besides || fits < 1 || fits >= cap) return undefined;
    rest = restUntil === 0 ? REST_MS.first : Math.min(REST_MS.longest, rest * 2);
    restUntil = at + rest;
    return fits;
  }

  return {
    most: () => cap,
    letIn(place, at) {
      seen[place] = (seen[place] ?? 0) + 1;
      if (cap === most || place < cap) return;
      left -= 1;
      if (left > 0 || at < restUntil) return;
      [cap, step, left] = [Math.min(most, cap + step), step * 2, FEWEST_AFTER_MORE];
    },
    refused(place, underWay) {
      row = {
        refused: row.refused + 1,
        lowest: Math.min(row.lowest, place),
        underWay: Math.max(row.underWay, underWay),
      };
    },
    wasCrowd(at) {
      const fits = fit(at);
      if (fits !== undefined) [cap, step, left] = [fits, 1, FEWEST_BEFORE_MORE];
      seen.fill(0);
      row = { refused: 0, lowest: most, underWay: 0 };
      return fits !== undefined;
    },
  };
}
