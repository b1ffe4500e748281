import type { PlanDocument } from '../core/plan-document.ts';

export type PageOptions = {
  /** Characters that the page may have. */
  readonly limit?: number;
  /** Folder of the stack within its repository; empty or left out where it is the repository. */
  readonly stack?: string;
};

/**
 * First line of a page, by which a bot finds the comment or issue to update. It is the same for every plan of a
 * stack and environment, and another one for another stack: a pull request may change several.
 */
export function markerOf(
  page: 'plan' | 'drift' | 'fleet',
  { environment = '' }: Pick<PlanDocument, 'environment'>,
  { stack = '' }: PageOptions,
): string {
  const parts = [
    `callsheet:${page}`,
    ...(stack === '' ? [] : [`stack=${encodeURI(stack)}`]),
    ...(environment === '' ? [] : [`env=${encodeURI(environment)}`]),
  ];
  // Two hyphens could end the comment.
  return `<!-- ${parts.join(' ').replaceAll('--', '-%2D')} -->`;
}
