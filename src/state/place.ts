import type { Disk } from './disk.ts';
import type { Layout } from './layout.ts';

/** Where a file store works. */
export type Place = {
  readonly layout: Layout;
  /** The state's path as it was given: what messages call it. */
  readonly location: string;
  readonly disk: Disk;
};
