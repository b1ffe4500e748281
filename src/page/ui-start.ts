/** What the page of `callsheet ui` knows from the beginning; it asks for the rest. */
export type UiStart = {
  /** Name of the stack's folder. */
  readonly dir: string;
  readonly hasPlan: boolean;
  readonly version: string;
};
