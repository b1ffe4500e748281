/** A file on this machine. It is read while it is sent. */
export type LocalFile = {
  /** Absolute, or relative to the working directory. */
  readonly path: string;
  /** Media type, such as `audio/wav`. */
  readonly type: string;
};
