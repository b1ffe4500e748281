import type { Diagnostic } from '../../../src/core/diagnostics.ts';
import type { Report } from '../../../src/render/diagnostics.ts';

/** A problem with a place and a frame; rows change what they are about. */
export function problem(changes: Partial<Diagnostic> = {}): Diagnostic {
  return {
    severity: 'error',
    rule: 'schema/enum',
    message: 'agent.desk: status cannot be "on"',
    hint: 'Use one of active, inactive',
    address: 'agent.desk',
    path: 'status',
    position: { file: 'agents/desk.yaml', line: 4, column: 13, end_column: 15 },
    frame: '  3 |     name: Desk\n> 4 |     status: on\n    |             ^^\n  5 |     model: a',
    ...changes,
  };
}

export function reportOf(
  diagnostics: readonly Diagnostic[],
  changes: Partial<Report> = {},
): Report {
  return { diagnostics, files: ['callsheet.yaml'], folder: '', version: '1.2.3', ...changes };
}

/** Texts that somebody wrote to break out of a format or to act on a terminal. */
export const HOSTILE: readonly string[] = [
  '\u001b[2Jcleared \u009b31m \u0007',
  'a\r\nb\nc\td',
  ']]></failure><testcase name="x"/>&amp;<!--',
  '\n::add-mask::x\r::error file=a::b ##[set-env name=A]b %0A::stop-commands::x',
  '\ud800 lone \udfff \ufffe\uffff \u{1fffe} \u{1f600}',
  '\u202eright to left\u2066 \u200bnothing',
  '[a link](https://evil.example.test) {0} "quoted" \\',
  '__proto__',
];

/** Every text of a diagnostic, and its file, as one of those. */
export const HOSTILE_PROBLEMS: readonly Diagnostic[] = HOSTILE.flatMap((text) => [
  problem({
    rule: `team/${text}`,
    message: text,
    hint: text,
    address: text,
    path: text,
    position: { file: `${text}.yaml`, line: 1, column: 1 },
    frame: `> 1 | ${text}\n    | ^`,
  }),
  { severity: 'warning', rule: text, message: text },
]);
