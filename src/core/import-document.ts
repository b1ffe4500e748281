/** What an import came to, for people and for `--format json`. */
export type ImportDocument = {
  readonly format: 'callsheet-import';
  readonly version: 1;
  /** The edit of the state; null where there was nothing to do. */
  readonly run: string | null;
  readonly serial: number | null;
  readonly bound: readonly {
    readonly address: string;
    readonly id: string;
    /** Fields in which the configuration says something else: the next plan shows them. */
    readonly differing: readonly string[];
  }[];
  /** Addresses of which nobody can tell which live resource is meant. */
  readonly unclear: readonly {
    readonly address: string;
    readonly reason: string;
    readonly ids: readonly string[];
    /** One for each id, of which one is to be typed. */
    readonly commands: readonly string[];
  }[];
  /** Addresses that nothing live answers to: the next plan makes them. */
  readonly absent: readonly string[];
};
