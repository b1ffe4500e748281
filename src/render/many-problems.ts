import type { Diagnostic } from '../core/diagnostics.ts';
import { formatCount, formatNumber } from './wording.ts';

/** A mistake in a column is made once and found in every row: the first of them tell it. */
const MOST_ALIKE = 3;
/** Of one rule in one file, whatever the words are. */
const MOST_OF_RULE = 20;

/** A problem to show, and what is said after it of those that are left out. */
export type ShownProblem = { readonly problem: Diagnostic; readonly after: string | undefined };

/** What a problem says, whichever resource it is said of. */
function wordsOf({ message, address }: Diagnostic): string {
  const isSaid = address !== undefined && message.startsWith(address);
  return isSaid ? message.slice(address.length) : message;
}

function ruleInFile({ rule, position }: Diagnostic): string {
  return JSON.stringify([rule, position?.file ?? null]);
}

/** The problems that a person reads: of many that are alike the first ones, with how many more there are. */
export function withoutEchoes(problems: readonly Diagnostic[]): readonly ShownProblem[] {
  const alike = Map.groupBy(problems, (problem) =>
    JSON.stringify([ruleInFile(problem), wordsOf(problem)]),
  );
  const after = new Map<Diagnostic, string>();
  const first = new Set<Diagnostic>();
  for (const same of alike.values()) {
    // A single one is shorter than the line that would stand for it.
    const shown = same.length > MOST_ALIKE + 1 ? same.slice(0, MOST_ALIKE) : same;
    for (const problem of shown) first.add(problem);
    const [last, end] = [shown.at(-1), same.at(-1)];
    if (shown.length === same.length || last === undefined) continue;
    const line = end?.position === undefined ? '' : `, the last in line ${end.position.line}`;
    after.set(last, `and ${formatCount(same.length - shown.length, 'other')} alike${line}`);
  }
  const ofRule = Map.groupBy(
    problems.filter((problem) => first.has(problem)),
    ruleInFile,
  );
  for (const [, same] of ofRule) {
    if (same.length <= MOST_OF_RULE + 1) continue;
    for (const problem of same.slice(MOST_OF_RULE)) first.delete(problem);
    const last = same[MOST_OF_RULE - 1] as Diagnostic;
    const said = after.get(last);
    const rest = formatCount(same.length - MOST_OF_RULE, 'other problem');
    const more = `and ${rest} of ${last.rule}${last.position ? ` in ${last.position.file}` : ''}`;
    after.set(last, [said, more].filter(Boolean).join('; '));
  }
  return problems
    .filter((problem) => first.has(problem))
    .map((problem) => ({ problem, after: after.get(problem) }));
}

/** Beside the results of a command: `validate` is where problems are read in full. */
const MOST_BESIDE = { error: 3, warning: 1 } as const;

/** The first problems of each rule, whichever files they are in, with how many more there are. */
export function firstOfRules(problems: readonly Diagnostic[]): readonly ShownProblem[] {
  const after = new Map<Diagnostic, string>();
  const hidden = new Set<Diagnostic>();
  const groups = Map.groupBy(problems, ({ severity, rule }) => `${severity} ${rule}`);
  for (const same of groups.values()) {
    const [first] = same;
    const most = first === undefined ? 0 : MOST_BESIDE[first.severity];
    const [last, rest] = [same[most - 1], same.slice(most)];
    // A single one more is as short as the line that would stand for it.
    if (last === undefined || rest.length <= 1) continue;
    for (const problem of rest) hidden.add(problem);
    const files = new Set(rest.flatMap(({ position }) => position?.file ?? []));
    const where = files.size > 1 ? ` in ${formatCount(files.size, 'file')}` : '';
    after.set(last, `and ${formatNumber(rest.length)} more of ${last.rule}${where}`);
  }
  return problems
    .filter((problem) => !hidden.has(problem))
    .map((problem) => ({ problem, after: after.get(problem) }));
}
