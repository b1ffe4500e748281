/** Pipelines that `init` knows. Apart, as every start of the program names them. */
export const PIPELINES = ['none', 'github', 'gitlab'] as const;
export type Pipeline = (typeof PIPELINES)[number];
