import type { SnapshotCommands } from '../../core/documents.generated.ts';
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
} from '../../render/terminal.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import { countKind, formatCount, formatFirst, formatSize } from '../../render/wording.ts';
import type { Gap, SnapshotSummary, Withheld } from '../../snapshot/format.ts';
import { MOST_ASKED, secretsByVariable } from './restoration.ts';

/** Lines of a list that are shown unless everything is asked for. */
const MOST_LISTED = 10;

/** A snapshot as a terminal shows it. `listing`: the command that lists what a restore asks for, in the place of a list. */
export function renderSnapshotText(
  one: SnapshotSummary,
  options: RenderOptions,
  listing?: string,
): string {
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
    ...(listing === undefined ? askedLines(one, options) : []),
    ...countLines(one, options, listing),
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

/** The things that a restore asks for, one a line. */
function askedLines({ restore }: SnapshotSummary, options: RenderOptions): readonly Line[] {
  const { secrets, exceptions } = restore;
  const byHand = exceptions.filter(({ part }) => part !== undefined);
  const files = exceptions.filter(({ what }) => what === 'file');
  const lost = exceptions.filter(({ what, part }) => what !== 'file' && part === undefined);
  const wanted = secretsByVariable(secrets);
  const secretItem = ({ variable, what }: (typeof wanted)[number]) => [
    ...itemLines('', what, options.width),
    [span(`    ${variable}`)],
  ];
  const item = ([message, those]: readonly [string, typeof exceptions]) => {
    const named = those.flatMap(({ address }) => (address === null ? [] : [address]));
    const who = formatFirst(named, options.verbose ? Infinity : MOST_NAMED);
    return itemLines(who === '' ? '' : `${who}: `, message, options.width);
  };
  const block = (title: string, those: typeof exceptions) => {
    const groups = [...Map.groupBy(those, ({ message }) => message)];
    return titled(span(title, 'strong'), listLines(groups, item, MOST_LISTED, options), options);
  };
  return [
    ...titled(
      span(`Secrets that a restore asks for (${wanted.length}):`, 'strong'),
      listLines(wanted, secretItem, MOST_ASKED, options),
      options,
    ),
    ...block('To set up in the dashboard:', byHand),
    ...block('Files that a restore asks for:', files),
    ...block('Cannot come back:', lost),
  ];
}

/** Resources that are named in one line. */
const MOST_NAMED = 3;

/** Counts what a restore asks for: `41 secrets and 8 SIP registrations`. */
function countLines(
  { restore }: SnapshotSummary,
  { width }: RenderOptions,
  listing: string | undefined,
): readonly Line[] {
  const secrets = secretsByVariable(restore.secrets).length;
  const parts = restore.exceptions.flatMap(({ part }) => part ?? []);
  const files = restore.exceptions.filter(({ what }) => what === 'file').length;
  const counts = [
    ...(secrets === 0 ? [] : [formatCount(secrets, 'secret')]),
    ...[...Map.groupBy(parts, (part) => part)].map(([part, all]) => formatCount(all.length, part)),
    ...(files === 0 ? [] : [formatCount(files, 'file')]),
  ];
  if (counts.length === 0) return [];
  const said = `A restore will ask for ${new Intl.ListFormat('en').format(counts)}`;
  if (listing === undefined) return wrap([span(`${said}.`)], width, 2);
  return [...wrap([span(`${said}. This lists them:`)], width, 2), [span(`  ${listing}`)]];
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
