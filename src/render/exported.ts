import type { ExportDocument } from '../core/export-document.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber, kindTitle } from './wording.ts';

/** Most lines of one list; the rest is counted. */
const MOST = 12;

/** What an export wrote, what somebody must supply or look at, and what to type next. */
export function renderExportText(
  document: ExportDocument,
  { width, color }: RenderOptions,
): string {
  const { dir, organizations, resources, bases, files, kept, state, secrets, remarks } = document;
  const flag = dir === '.' ? '' : ` --dir ${/^[\w./-]+$/.test(dir) ? dir : JSON.stringify(dir)}`;
  const from =
    organizations.length === 0 ? '' : ` of ${formatCount(organizations.length, 'organization')}`;
  const said = (text: string, style?: Parameters<typeof span>[1]) =>
    wrap([span(text, style)], width, 0);
  const lines: Line[] = [
    [span(`${formatCount(files, 'file')} in ${sanitiseLine(dir)}`, 'strong'), span(`${from}:`)],
    ...resources.map(({ kind, count }) => [
      span(`  + ${formatNumber(count)} `, 'added'),
      span(count === 1 ? kind.replaceAll('_', ' ') : kindTitle(kind)),
    ]),
    ...(bases === 0
      ? []
      : [[span(`  + ${formatNumber(bases)} `, 'added'), span(bases === 1 ? 'base' : 'bases')]]),
    ...(state
      ? []
      : said(
          'No state was written: a state that is there stays as it is, and the next plan finds the rest by its name.',
          'dim',
        )),
    ...section(
      `Secrets to supply (SECRETS.md): ${formatNumber(secrets.length)}`,
      secretLines(document),
    ),
    ...section(
      `Not as on the platform: ${formatNumber(remarks.length)}`,
      remarks.map(
        ({ address, path, reason }) => `${address}${path === null ? '' : `: ${path}`}: ${reason}`,
      ),
      width,
    ),
    ...section('Not exported', unexported(document), width),
    ...section('Was there, and is not in this export', kept),
    ...(kept.length === 0
      ? []
      : said(
          'These belong to the stack, too. Delete those of what was renamed or is gone on the platform: the next plan would make it again.',
        )),
    [],
    [span('Next:', 'strong')],
    ...(secrets.length === 0 ? [] : supplyLines(document, width)),
    [span(`  callsheet validate${flag}`)],
    [span(`  callsheet plan${flag}`)],
  ];
  return paint(lines, color);
}

function section(title: string, items: readonly string[], width?: number): readonly Line[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, MOST).map((item) => sanitiseLine(item));
  const more = items.length - shown.length;
  return [
    [],
    [span(title, 'strong')],
    ...shown.flatMap((item): readonly Line[] =>
      width === undefined ? [[span(`  ${item}`)]] : wrap([span(`  ${item}`)], width, 4),
    ),
    ...(more > 0 ? [[span(`  and ${formatNumber(more)} more`, 'dim')]] : []),
  ];
}

function secretLines({ secrets, secrets_file: file }: ExportDocument): readonly string[] {
  if (file === null) return secrets.map(({ name }) => name);
  const told = secrets.filter((one) => one.told).length;
  const where = `${formatNumber(told)} of them ${told === 1 ? 'is' : 'are'} in ${file}: keep it out of Git`;
  return [where, ...secrets.filter((one) => !one.told).map(({ name }) => name)];
}

/** A plan says of a secret that is not set that it was not compared. */
function supplyLines({ secrets_file: file }: ExportDocument, width: number): readonly Line[] {
  if (file === null)
    return wrap([span('  set the variables of SECRETS.md, or take their lines out')], width, 4);
  const path = /^[\w./-]+$/.test(file) ? file : JSON.stringify(file);
  const from = path.includes('/') ? path : `./${path}`;
  return [
    ...wrap(
      [span(`  fill in ${sanitiseLine(path)}, or take its empty lines out of the stack`)],
      width,
      4,
    ),
    [span(`  set -a; . ${sanitiseLine(from)}; set +a`)],
  ];
}

function unexported({ unlisted, variables }: ExportDocument): readonly string[] {
  const named = variables.length;
  return [
    ...unlisted.map(({ kind, reason }) => `${kindTitle(kind)}: ${reason}`),
    ...(named === 0
      ? []
      : [
          `${formatCount(named, 'custom voice')}: the platform gives no clip back; variables in callsheet.yaml name ${named === 1 ? 'it' : 'them'}`,
        ]),
  ];
}
