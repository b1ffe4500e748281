import type { Problem, Report } from './problems.ts';
import type { Source } from './source.ts';

/** A file that could not be read: its text, where that much is known of it. */
export type Broken = Source | 'unknown';

/** What is said of a name that is not found, or that nothing uses: a file that is broken may have it. */
const ABOUT_OTHERS: readonly string[] = [
  'base/unknown',
  'base/unused',
  'environment/patch',
  'moved/unknown',
];

/** The name that a problem is about, as it stands at its place: `desk` of `agent.desk["a"]`. */
function nameAt({ place }: Problem): string {
  const text = place?.source.text.slice(place.start, place.end) ?? '';
  const plain = text.replace(/^["']|["']$/g, '').replace(/\[.*$/s, '');
  return plain.split('.').at(-1) ?? '';
}

function holdsName(broken: Broken, name: string): boolean {
  if (broken === 'unknown' || !/^[\w-]+$/.test(name)) return true;
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(broken.text);
}

/** A report that leaves out what one broken file may be the only reason for. */
export function withoutDoubts(report: Report, broken: readonly Broken[]): Report {
  if (broken.length === 0) return report;
  return {
    ...report,
    add: (problem) => {
      const isDoubt =
        ABOUT_OTHERS.includes(problem.rule) &&
        broken.some((file) => holdsName(file, nameAt(problem)));
      if (!isDoubt) report.add(problem);
    },
  };
}
