import type { ImportDocument } from '../core/import-document.ts';
import { sentence } from './facts.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber } from './wording.ts';

/** Most addresses of one list, unless everything is asked for. */
const MOST = 20;

/** What was bound, what was not and why, and what to type for it. */
export function renderImportText(document: ImportDocument, options: RenderOptions): string {
  const { run, serial, bound, unclear, absent } = document;
  const limit = options.verbose === true ? Number.POSITIVE_INFINITY : MOST;
  const lines: Line[] = [
    ...bound
      .slice(0, limit)
      .flatMap(({ address, id, differing }): readonly Line[] => [
        ...wrap(
          [span('= ', 'added'), span(sanitiseLine(address)), span(`  ${sanitiseLine(id)}`, 'dim')],
          options.width,
          4,
        ),
        ...(differing.length === 0
          ? []
          : wrap(
              [span(`    differs in ${differing.map(sanitiseLine).join(', ')}`)],
              options.width,
              4,
            )),
      ]),
    ...more(bound.length - limit),
    ...(bound.length > 0 ? [[]] : []),
    ...(unclear.length === 0
      ? []
      : [[span(`Not clear: ${formatNumber(unclear.length)}`, 'strong')]]),
    ...unclear.flatMap(({ address, reason, commands }): readonly Line[] => [
      ...wrap([span(unclearText(address, reason, commands))], options.width, 4),
      ...commands.map((command) => [span(`    ${sanitiseLine(command)}`)]),
    ]),
    ...(unclear.length > 0 ? [[]] : []),
    ...(absent.length === 0
      ? []
      : [[span(`Not on the platform: ${formatNumber(absent.length)}`, 'strong')]]),
    ...absent.slice(0, limit).map((address) => [span(`  ${sanitiseLine(address)}`)]),
    ...more(absent.length - limit),
    ...(absent.length > 0 ? [[]] : []),
  ];
  const last =
    run === null
      ? 'Nothing is left to bind: the state has it all already. Nothing was written.'
      : `${formatCount(bound.length, 'address', 'addresses')} bound. The state is at serial ${serial}; this is recorded as run ${run}. callsheet plan shows what is left to do.`;
  return `${paint(lines, options.color)}${sentence(last, options)}`;
}

function unclearText(address: string, reason: string, commands: readonly string[]): string {
  const then = commands.length === 0 ? '' : '; type one of';
  return `  ${sanitiseLine(address)}: ${sanitiseLine(reason)}${then}`;
}

function more(count: number): readonly Line[] {
  return count > 0
    ? [[span(`  and ${formatNumber(count)} more (--verbose lists them)`, 'dim')]]
    : [];
}
