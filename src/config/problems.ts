import type { Diagnostic, Severity } from '../core/diagnostics.ts';
import { frameOf } from './frame.ts';
import { type Place, positionOf, type Source } from './source.ts';

/** A diagnostic before its place is turned into a position and a frame. */
export type Problem = {
  /** `error` unless said otherwise. */
  readonly severity?: Severity;
  readonly rule: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly address?: string | undefined;
  readonly path?: string | undefined;
  readonly place?: Place | undefined;
};

/**
 * Collects the problems of a load. Frames are drawn at the end, when every stretch that holds a secret
 * is known: a frame shows the lines around its place, and a neighbour may be the one to hide.
 */
export type Report = {
  readonly add: (problem: Problem) => void;
  /** Hides a stretch of a file in every frame. */
  readonly mask: (place: Place) => void;
  /** Every problem, by file, line and column. */
  readonly diagnostics: () => readonly Diagnostic[];
};

function compare(a: Diagnostic, b: Diagnostic): number {
  const [first, second] = [a.position, b.position];
  if (first === undefined || second === undefined) {
    return Number(first !== undefined) - Number(second !== undefined);
  }
  if (first.file !== second.file) return first.file < second.file ? -1 : 1;
  return first.line - second.line || first.column - second.column;
}

function toDiagnostic(problem: Problem, masks: readonly Place[]): Diagnostic {
  const { severity = 'error', rule, message, hint, address, path, place } = problem;
  return {
    severity,
    rule,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(address === undefined ? {} : { address }),
    ...(path === undefined || path === '' ? {} : { path }),
    ...(place === undefined ? {} : { position: positionOf(place) }),
    // A file that could not be read has no lines to show.
    ...(place === undefined || place.source.text === '' ? {} : { frame: frameOf(place, masks) }),
  };
}

export function openReport(): Report {
  const problems: Problem[] = [];
  const masks = new Map<Source, Place[]>();
  const seen = new Map<Source, Set<string>>();
  return {
    add: (problem) => {
      if (problem.place !== undefined) {
        // A prompt that many agents share has its mistake reported once.
        const known = seen.get(problem.place.source) ?? new Set();
        seen.set(problem.place.source, known);
        const name = [problem.rule, problem.place.start, problem.place.end].join(' ');
        const shared = problem.rule.startsWith('template/') || problem.rule.startsWith('text/');
        const isProse = problem.rule.startsWith('prompt/') && problem.address !== undefined;
        const message = isProse ? problem.message.replace(problem.address, '') : problem.message;
        const key = shared ? name : `${name} ${message}`;
        if (known.has(key)) return;
        known.add(key);
      }
      problems.push(problem);
    },
    mask: (place) => {
      const known = masks.get(place.source);
      if (known === undefined) masks.set(place.source, [place]);
      else known.push(place);
    },
    diagnostics: () =>
      problems
        .map((problem) =>
          toDiagnostic(problem, problem.place ? (masks.get(problem.place.source) ?? []) : []),
        )
        .sort(compare),
  };
}
