import type { SnapshotCommands } from '../core/documents.generated.ts';
import {
  type Fact,
  factLines,
  itemLines,
  type Line,
  listLines,
  measureWidest,
  padText,
  paint,
  type RenderOptions,
  span,
  titled,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { countKind, formatCount, formatSize } from './wording.ts';

/** The description of a snapshot: the document that `--format json` prints. */
export type SnapshotSummary = SnapshotCommands.Summary;

export type Withheld = SnapshotSummary['withheld'][number];

export type Gap = SnapshotSummary['gaps'][number];

/** Lines of a list that are shown unless everything is asked for. */
const MOST_LISTED = 10;

/** A snapshot as a terminal shows it. */
export function renderSnapshotText(one: SnapshotSummary, options: RenderOptions): string {
  const { width } = options;
  const facts: readonly Fact[] = [
    ['file', `${one.file}, ${formatSize(one.size)}, ${ENCRYPTION[one.encryption]}`],
    ['made', `${one.made_at} by Callsheet ${one.made_by}`],
    ['platform', one.platform.base_url],
    ['account', one.platform.account_id],
    ['only', one.organization === null ? null : `organization ${one.organization}`],
    ['base', one.base === null ? null : `${one.base}, which is needed to read it`],
    ['holds', holdings(one)],
    ['sha256', one.sha256.replace('sha256:', '')],
  ];
  const lines = [
    ...factLines(facts, width),
    ...gapLines(one, options),
    ...withheldLines(one, options),
  ];
  return paint(lines, options.color);
}

const ENCRYPTION: { readonly [type in SnapshotSummary['encryption']]: string } = {
  none: 'not encrypted',
  passphrase: 'encrypted with a passphrase',
  age: 'encrypted for keys of age',
};

/** `1,000 agents, 4 retry policies; 12 organizations`. */
function holdings({
  resources,
  organizations,
}: Pick<SnapshotSummary, 'resources' | 'organizations'>): string {
  const kinds = Object.entries(resources).map(([kind, count]) => countKind(count, kind));
  const owners = organizations === 0 ? [] : [formatCount(organizations, 'organization')];
  return [kinds.join(', ') || 'no resource', ...owners].join('; ');
}

/** Lists what could not be read. A refusal that many resources share needs only one line. */
function gapLines({ gaps }: SnapshotSummary, options: RenderOptions): readonly Line[] {
  const title = `Not included, because it could not be read (${gaps.length}):`;
  const item = ({ of, why }: Gap) => itemLines(`${of}  `, why, options.width);
  return titled(span(title, 'strong'), listLines(gaps, item, MOST_LISTED, options), options);
}

function withheldLines(
  { withheld, encryption }: SnapshotSummary,
  options: RenderOptions,
): readonly Line[] {
  if (withheld.length === 0) return [];
  const count = withheld.reduce((sum, { paths }) => sum + paths.length, 0);
  const title =
    encryption === 'none'
      ? `Left out, because the file is not encrypted: ${formatCount(count, 'sensitive value')}`
      : `Left out when its base was made: ${formatCount(count, 'sensitive value')}`;
  const called = ({ resource, name }: Withheld) =>
    name === null ? resource : `${resource} ${name}`;
  // A header that every agent has is one line, not one for each.
  const alike = Map.groupBy(withheld, ({ paths }) => paths.join(', '));
  const items = options.verbose
    ? withheld.map((one) => ({ name: called(one), text: one.paths.join(', ') }))
    : [...alike].map(([text, [first, ...others]]) => ({
        name: `${first === undefined ? '' : called(first)}${others.length === 0 ? '' : ` and ${formatCount(others.length, 'other')}`}`,
        text,
      }));
  const item = ({ name, text }: (typeof items)[number]) =>
    itemLines(`${name}  `, text, options.width);
  const advice = span('  An encrypted one has them (--passphrase-file, --recipient).');
  return [
    ...titled(span(title, 'strong'), listLines(items, item, MOST_LISTED, options), options),
    ...(encryption === 'none' ? wrap([advice], options.width, 2) : []),
  ];
}

/** A file of a folder; without a key, an encrypted one tells nothing of itself. */
export type ListedSnapshot = SnapshotCommands.List['snapshots'][number];

/** The snapshots of a folder, newest first, one a line. */
export function renderSnapshotsText(
  all: readonly ListedSnapshot[],
  dir: string,
  { width, color }: RenderOptions,
): string {
  if (all.length === 0)
    return `There is no snapshot in ${dir === '.' ? 'this folder' : sanitiseLine(dir)}.\n`;
  const files = measureWidest(all.map(({ file }) => sanitiseLine(file)));
  const sizes = measureWidest(all.map(({ size }) => formatSize(size)));
  const lines = all.flatMap((one) => {
    const head = `${padText(sanitiseLine(one.file), files)}  ${padText(formatSize(one.size), sizes)}  `;
    const seal = one.encryption === 'none' ? '' : `, ${ENCRYPTION[one.encryption]}`;
    const base = one.base === null ? '' : `, on ${one.base}`;
    const said =
      one.problem !== null
        ? span(one.problem)
        : span(`${one.made_at}, account ${one.account_id}${seal}${base}`);
    return wrap([span(head), said], width, 4);
  });
  return paint(lines, color);
}
