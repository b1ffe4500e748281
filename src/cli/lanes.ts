import { type Lane, type LaneOptions, openLane } from '../api/lane.ts';

/** The lanes of a process that works on many stacks, one for each base address. */
export type Lanes = {
  /** The lane of a base address. What it is opened with is what its first client asks for. */
  readonly at: (baseUrl: string, options: LaneOptions) => Lane;
  readonly close: () => Promise<void>;
};

/** A process has one set of credentials, so what has the same base address is the same account. */
export function openLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    at(baseUrl, options) {
      const lane = lanes.get(baseUrl) ?? openLane(options);
      lanes.set(baseUrl, lane);
      return lane;
    },
    async close() {
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
    },
  };
}
