/** What `pull` did or would do, as `--format json` prints it. No live value is in it. */
export type PullDocument = {
  readonly format: 'callsheet-pull';
  readonly version: 1;
  /** `refused`: something cannot be pulled, and nothing was written. */
  readonly status: 'written' | 'dry_run' | 'refused' | 'nothing';
  readonly pulled: readonly {
    readonly address: string;
    readonly path: string;
    /** Where it is written; of a value that follows from others, what it is put together from. */
    readonly file: string;
    /** Where it stood; null for a text that is a file of its own. */
    readonly line: number | null;
  }[];
  /** Changed in the configuration and not applied yet. */
  readonly kept: readonly PullLeft[];
  readonly refused: readonly PullLeft[];
  /** What new files do not say as the platform has it, and why; the path is null for a resource as a whole. */
  readonly remarks?: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly reason: string;
  }[];
  /** Values that the new files ask for, and where from. */
  readonly secrets?: readonly {
    readonly address: string;
    readonly path: string;
    readonly source: string;
  }[];
  readonly files: readonly {
    readonly path: string;
    /** Whether it is a new file. */
    readonly created: boolean;
    /** In the unified format; with `--dry-run` alone. */
    readonly diff?: string;
  }[];
};

/** A live value that is not pulled. */
export type PullLeft = {
  readonly address: string;
  /** Empty for the resource as a whole. */
  readonly path: string;
  readonly reason: string;
  readonly advice: string;
};
