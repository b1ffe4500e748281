/** What the page of `callsheet ui` knows from the beginning; it asks for the rest. */
export type UiStart = {
  /** Folder of the stack, as it was given. */
  readonly dir: string;
  readonly hasPlan: boolean;
  readonly version: string;
};
