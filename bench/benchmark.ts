/**
 * `bench/` measures Callsheet against the least that the same work takes (DESIGN §11). A benchmark is one file
 * that says what is run and against what; `benchmarks.ts` lists them, `measure.ts` runs any of them, and
 * `pages.ts` writes the figures into `docs/`. Nothing here is part of `npm test` but a tiny run of each, so that
 * they keep working.
 */
export type Benchmark = {
  readonly name: string;
  /** A sentence that names what is measured and what it is compared with. */
  readonly about: string;
  /** How many agents, unless `--size` says otherwise. */
  readonly sizes: readonly number[];
  /** Milliseconds that the platform lets every request wait; none where there is no platform. */
  readonly latencies?: readonly number[];
  readonly cases: readonly Case[];
  /** Ends what cases left running or lying for those behind them. */
  readonly tidy?: () => Promise<void>;
};

export type Case = {
  readonly name: string;
  /** Those of the benchmark's sizes that it is measured at; all unless given. */
  readonly sizes?: readonly number[];
  /** The most that Callsheet may take, as a multiple of the floor; undefined where nothing was promised. */
  readonly goal?: number | ((scale: Scale) => number);
  /** The most requests that Callsheet may make with a fleet of so many; a run that makes more fails the case. */
  readonly requests?: (size: number) => number;
  /** The most round trips in a row that Callsheet may make; a run that makes more fails the case. */
  readonly roundTrips?: number;
  /** The most MB that Callsheet may hold with a fleet of so many; a run that holds more fails the case. */
  readonly memory?: (size: number) => number;
  /** Writes what both read. The same size gives the same bytes. */
  readonly prepare?: (dir: string, size: number) => void;
  /** Opens what both need beside files; closed after the last run. */
  readonly serve?: (dir: string, scale: Scale) => Promise<Surroundings>;
  readonly callsheet: Program;
  /** The least that the same work takes. */
  readonly floor: Program;
  /** Another part of the same work, which could go on beside it: the longer of the two is the floor of each run. */
  readonly beside?: Program;
};

export type Scale = { readonly size: number; readonly latency: number };

export type Side = 'callsheet' | 'floor';

/** The surroundings are what both programs work with beside the files, such as a simulated platform. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string>>;
  /** The floor gets this instead of `env` if each has a platform of its own. */
  readonly floorEnv?: Readonly<Record<string, string>>;
  /** Done before each run of Callsheet, and not measured. */
  readonly before?: () => Promise<void>;
  /** Done after it and before the floor, which may be given what Callsheet did. */
  readonly between?: () => Promise<void>;
  /** How many requests each of the last two runs made, where there is a platform that counts them. */
  readonly requests?: () => Promise<Readonly<Record<Side, number>>>;
  /** How many round trips in a row the last run of Callsheet made, where the platform lets requests wait. */
  readonly roundTrips?: () => Promise<number | undefined>;
  readonly close: () => Promise<void>;
};

/** A program that a process of its own is started for, in the folder that was prepared. */
export type Program = {
  readonly argv: (size: number) => readonly string[];
  /** Throws where the program did not do what is measured. */
  readonly check: (output: string, size: number) => void;
};
