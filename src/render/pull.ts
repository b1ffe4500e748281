import type { PullDocument, PullLeft } from '../core/pull-document.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount } from './wording.ts';

const MIN_WIDTH = 40;

/** What was written into which file, and what was left as it is and why. */
export function renderPullText(document: PullDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const { pulled, kept, refused, files, status, secrets = [], remarks = [] } = document;
  const lines: Line[] = [...wrap([span(headlineOf(document), 'strong')], options.width, 2)];
  for (const { path, pulled: own } of byFile(document)) {
    lines.push([], [span(sanitiseLine(path), 'strong')]);
    for (const leaf of own) lines.push(...leafLines(leaf, status === 'written', options));
  }
  if (kept.length > 0) {
    lines.push(
      [],
      ...wrap([span('Kept: changed here and not applied yet.', 'strong')], options.width, 2),
    );
    lines.push(...kept.map((left): Line => [span('  = ', 'dim'), span(nameOf(left))]));
  }
  if (secrets.length > 0) {
    lines.push(
      [],
      ...wrap([span('To be supplied before the next plan:', 'strong')], options.width, 2),
    );
    for (const { source, ...leaf } of secrets) {
      const what = span(`  ${sanitiseLine(source)}`);
      lines.push(...wrap([what, span(`  ${nameOf(leaf)}`, 'dim')], options.width, 6));
    }
  }
  if (remarks.length > 0) {
    lines.push([], ...wrap([span('Not as on the platform:', 'strong')], options.width, 2));
    for (const { address, path, reason } of remarks) {
      const what = span(`  ${nameOf({ address, path: path ?? '' })}`);
      lines.push(...wrap([what, span(`  ${sanitiseLine(reason)}`, 'dim')], options.width, 6));
    }
  }
  if (refused.length > 0) {
    lines.push([], ...wrap([span('Not pulled:', 'strong')], options.width, 2));
    for (const left of refused) lines.push(...leftLines(left, options));
  }
  const ends = endOf(document);
  if (ends !== undefined && (pulled.length > 0 || refused.length > 0 || files.length > 0)) {
    lines.push([], ...wrap([span(ends, 'dim')], options.width, 0));
  }
  return paint(lines, options.color);
}

function headlineOf({ status, pulled, files, refused }: PullDocument): string {
  const isNew = files.some(({ created }) => created);
  const noun = isNew ? 'new resource' : 'live value';
  const what = `${formatCount(pulled.length, noun)} into ${formatCount(files.length, 'file')}`;
  switch (status) {
    case 'written':
      return `${isNew ? 'Wrote' : 'Pulled'} ${what}.`;
    case 'dry_run':
      return `Would ${isNew ? 'write' : 'pull'} ${what}. Nothing was written.`;
    case 'refused':
      return `Nothing was written: ${formatCount(refused.length, 'live value')} cannot be pulled.`;
    case 'nothing':
      return refused.length === 0
        ? 'Nothing to pull: nobody changed on the platform what the configuration says.'
        : 'Nothing was pulled.';
  }
}

function byFile({ pulled, files }: PullDocument) {
  const groups = Map.groupBy(pulled, ({ file }) => file);
  const rest = [...groups.keys()].filter((file) => !files.some(({ path }) => path === file));
  return [...files.map(({ path }) => path), ...rest].flatMap((path) => {
    const own = groups.get(path) ?? [];
    return own.length === 0 ? [] : [{ path, pulled: own }];
  });
}

function leafLines(
  { address, path, line }: PullDocument['pulled'][number],
  isWritten: boolean,
  { width }: RenderOptions,
): readonly Line[] {
  const where = line === null ? '' : `  line ${line}`;
  const mark = path === '' ? span('  + ', 'added') : span('  ~ ', isWritten ? 'changed' : 'dim');
  return wrap([mark, span(nameOf({ address, path })), span(where, 'dim')], width, 6);
}

function nameOf({ address, path }: Pick<PullLeft, 'address' | 'path'>): string {
  return sanitiseLine(path === '' ? address : `${address} ${path}`);
}

function leftLines(left: PullLeft, { width }: RenderOptions): readonly Line[] {
  const { reason, advice } = left;
  return [
    ...wrap([span('  ! ', 'warning'), span(nameOf(left))], width, 6),
    ...wrap([span(`      ${sanitiseLine(sentence(reason))}`, 'dim')], width, 6),
    ...wrap([span(`      ${sanitiseLine(sentence(advice))}`, 'dim')], width, 6),
  ];
}

function sentence(text: string): string {
  // The name of a file keeps its letters.
  const first = /^[a-z]+ /.test(text) ? text.slice(0, 1).toUpperCase() : text.slice(0, 1);
  return `${first}${text.slice(1)}.`;
}

function endOf({ status, files, refused }: PullDocument): string | undefined {
  switch (status) {
    case 'written':
      if (files.some(({ created }) => created)) return 'The next plan takes them over as they are.';
      if (refused.length > 0)
        return '`git diff` shows what changed; commit it. The next plan still has what was not pulled.';
      return '`git diff` shows what changed; commit it, and the next plan agrees.';
    case 'refused':
      return 'To leave them out and write the rest: callsheet pull --skip-refused, with the same addresses.';
    default:
      return undefined;
  }
}
