/** What an export came to, for people and for `--format json`. No value of a secret is in it. */
export type ExportDocument = {
  readonly format: 'callsheet-export';
  readonly version: 1;
  /** The folder of the stack, as it was given. */
  readonly dir: string;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** Resources by kind, in the order of kinds. */
  readonly resources: readonly { readonly kind: string; readonly count: number }[];
  /** Bases that common settings were lifted into. */
  readonly bases: number;
  readonly files: number;
  /** Files that were in the folder and belong to the stack all the same. */
  readonly kept: readonly string[];
  /** Whether a state was written. */
  readonly state: boolean;
  /** What must be supplied. `told`: whether the platform returns its value. */
  readonly secrets: readonly {
    readonly name: string;
    readonly address: string;
    readonly path: string;
    readonly told: boolean;
  }[];
  /** Where the values went that the platform returns; null where nobody asked for them. */
  readonly secrets_file: string | null;
  /** What the stack does not say, or not as a field. */
  readonly remarks: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly reason: string;
  }[];
  /** Kinds that could not be listed. */
  readonly unlisted: readonly { readonly kind: string; readonly reason: string }[];
  /** Variables that stand for ids of what the stack cannot have as a resource. */
  readonly variables: readonly { readonly name: string; readonly id: string }[];
};
