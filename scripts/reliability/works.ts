import type { KillMatrix, Kills } from './figures.ts';

/** Kills at one kind of work: how many points lay before it, in the middle of it and after it. */
export type Work = Kills & {
  readonly name: string;
  readonly before: number;
  readonly within: number;
  readonly after: number;
};

/**
 * The steps of a kill matrix by the work that they belong to: each entry of the journal, each method of a
 * request, and whatever is done to files, be it the state, a draft of it or a journal.
 */
export function worksIn(steps: KillMatrix['by_step']): readonly Work[] {
  const works = new Map<string, Work>();
  for (const [step, { points, converged }] of Object.entries(steps)) {
    const [when = '', ...what] = step.split(' ');
    const name = workOf(what);
    const known = works.get(name) ?? { ...NOTHING, name };
    const at = (moment: string) => (when === moment ? points : 0);
    works.set(name, {
      name,
      points: known.points + points,
      converged: known.converged + converged,
      before: known.before + at('before'),
      within: known.within + at('within'),
      after: known.after + at('after'),
    });
  }
  return [...works.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const NOTHING = { points: 0, converged: 0, before: 0, within: 0, after: 0 };

function workOf([verb = '', object = '']: readonly string[]): string {
  return verb === 'journal' || verb === 'request' ? `${verb} \`${object}\`` : `file: ${verb}`;
}
