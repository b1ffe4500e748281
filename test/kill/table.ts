import type { KillMatrix, Kills } from '../../scripts/reliability/figures.ts';
import { type Outcome, stepOf } from './matrix.ts';

/** The figures of a kill matrix, as JSON. */
export function matrixResult(outcomes: readonly Outcome[]): KillMatrix {
  return {
    ...countOf(outcomes),
    by_scenario: countsBy(outcomes, ({ scenario }) => scenario),
    by_step: countsBy(outcomes, stepOf),
    broken: outcomes.filter(({ converged }) => !converged),
  };
}

/** The same for people: one line a step, points and those of them that converged. */
export function matrixTable(outcomes: readonly Outcome[]): string {
  const { by_scenario: scenarios, by_step: steps, ...all } = matrixResult(outcomes);
  const rows = [
    ...Object.entries(steps),
    ...Object.entries(scenarios).map(([name, count]) => [`all of: ${name}`, count] as const),
    ['all' as string, all as Kills] as const,
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = (name: string, points: string, converged: string) =>
    `${name.padEnd(width)}  ${points.padStart(6)}  ${converged.padStart(9)}`;
  return [
    line('killed', 'points', 'converged'),
    ...rows.map(([name, { points, converged }]) => line(name, String(points), String(converged))),
  ].join('\n');
}

function countsBy(outcomes: readonly Outcome[], nameOf: (outcome: Outcome) => string) {
  const groups = [...Map.groupBy(outcomes, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(groups.map(([name, group]) => [name, countOf(group)]));
}

function countOf(outcomes: readonly Outcome[]): Kills {
  return {
    points: outcomes.length,
    converged: outcomes.filter(({ converged }) => converged).length,
  };
}
