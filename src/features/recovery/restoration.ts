import type { Restoration } from '../../core/documents.generated.ts';
import {
  factLines,
  itemLines,
  type Line,
  listLines,
  paint,
  type RenderOptions,
  span,
  titled,
  type Way,
  wayLines,
  wrap,
} from '../../render/terminal.ts';
import { formatCount, formatFirst, formatNumber } from '../../render/wording.ts';

/** The results and proofs of a restoration: the document that `--format json` prints. */
export type RestorationSummary = Restoration.Document;

type Remaining = RestorationSummary['remaining'][number];

export type Collision = RestorationSummary['collisions'][number];

export type NeededSecret = RestorationSummary['secrets'][number];

export type RestorationException = RestorationSummary['exceptions'][number];

/** Addresses that are named for one exception, unless everything is asked for. */
const MOST_NAMED = 3;
const MOST_LISTED = 10;
/** Secrets that are listed: people supply them by this list. */
export const MOST_ASKED = 200;

/** Shows how a restoration ended, below the ledgers of its runs, and last the commands that go on from it. */
export function renderRestorationText(
  one: RestorationSummary,
  ways: readonly Way[],
  options: RenderOptions,
): string {
  const lines: Line[] = [
    ...verdictLines(one, options),
    ...stackLines(one, options),
    ...remainingLines(one, options),
    ...secretLines(one, options),
    ...exceptionLines(one, options),
    [],
    ...factLines(
      [
        ['snapshot', `${one.snapshot.file}, of ${one.snapshot.made_at}`],
        ['account', one.platform.account_id],
        ['state', one.state],
        ...(one.ids ? [['ids', `${one.ids}, before and now`] as const] : []),
      ],
      options.width,
    ),
    ...(ways.length === 0 ? [] : [[], ...wayLines(ways, options)]),
  ];
  return paint(lines, options.color);
}

function verdictLines(
  { status, proof }: RestorationSummary,
  { width }: RenderOptions,
): readonly Line[] {
  if (proof !== null && status === 'done') {
    const what = `${formatCount(proof.resources, 'resource')} and ${formatNumber(proof.values)} values`;
    const text = `Verified: the platform matches the snapshot, except for the differences named below (${what} read back and compared).`;
    return wrap([span(text, 'strong')], width, 2);
  }
  const text =
    status === 'partial'
      ? 'The restore is not complete. Run the same command again: it continues where this one stopped, and creates nothing twice.'
      : status === 'interrupted'
        ? 'Interrupted. Run the same command again: it continues where this one stopped, and creates nothing twice.'
        : 'Nothing was written.';
  return wrap([span(text, 'strong')], width, 2);
}

/** Says what the state of the stack has of a restore, or why it has nothing. */
export function describeStack({
  location,
  resources,
  secrets,
  problem,
}: NonNullable<RestorationSummary['stack']>): string {
  if (problem !== null)
    return `The state of the stack (${location}) was not written, so that no apply knows which secrets are missing: ${problem}.`;
  const recorded = `The state of the stack (${location}) has ${formatCount(resources, 'resource')} of this restore`;
  if (secrets === 0) return `${recorded}.`;
  return `${recorded}; the next apply writes ${formatCount(secrets, 'secret')} to ${resources === 1 ? 'it' : 'them'}.`;
}

function stackLines({ stack }: RestorationSummary, { width }: RenderOptions): readonly Line[] {
  return stack === null ? [] : wrap([span(describeStack(stack))], width, 2);
}

function remainingLines(
  { remaining, status }: RestorationSummary,
  options: RenderOptions,
): readonly Line[] {
  if (status === 'planned') return [];
  const unsure = status === 'interrupted' ? ', or not known to be as it' : '';
  const title = `Different from the snapshot${unsure} (${remaining.length}):`;
  const why = ({ reason, paths }: Remaining) =>
    `${reason}${paths.length === 0 ? '' : ` (${paths.join(', ')})`}`;
  const groups = [...Map.groupBy(remaining, why)];
  const item = ([message, sharing]: (typeof groups)[number]) => {
    const addresses = sharing.map(({ address }) => address);
    const who = formatFirst(addresses, options.verbose ? Infinity : MOST_NAMED);
    return itemLines(`${who}  `, message, options.width);
  };
  const lines = listLines(groups, item, MOST_LISTED, options);
  return titled(span(title, 'strong'), lines, options);
}

/** The same sentence of many resources is said once. */
function exceptionLines(
  { exceptions: all, secrets, status }: RestorationSummary,
  options: RenderOptions,
): readonly Line[] {
  // The list above says more of the secrets to supply.
  const isListed = status === 'planned' && secrets.length > 0;
  const exceptions = isListed ? all.filter(({ what }) => what !== 'secret') : all;
  const groups = [...Map.groupBy(exceptions, ({ message }) => message)];
  const title = status === 'planned' ? 'Would not be restored, and why:' : 'Not restored, and why:';
  const item = ([message, sharing]: (typeof groups)[number]) => {
    const of = sharing.flatMap(({ address }) => (address === null ? [] : [address]));
    const who = formatFirst(of, options.verbose ? Infinity : MOST_NAMED);
    return itemLines(of.length === 0 ? '' : `${who}: `, message, options.width);
  };
  const lines = listLines(groups, item, 2 * MOST_LISTED, options);
  return titled(span(title, 'strong'), lines, options);
}

/** Secrets that are looked for in one variable are one secret; `what` says where it goes. */
export function secretsByVariable(
  secrets: readonly NeededSecret[],
): readonly { readonly variable: string; readonly what: string }[] {
  const shared = Map.groupBy(secrets, ({ any_of: [first] }) => first?.variable ?? '');
  return [...shared].map(([variable, all]) => {
    const paths = all[0]?.any_of.map(({ path }) => path) ?? [];
    const who = formatFirst(
      all.map(({ address }) => address),
      MOST_NAMED,
    );
    return { variable, what: `${who}  ${paths.join(' or ')}` };
  });
}

/** Lists the secrets to supply, and the variable of each. */
function secretLines(
  { secrets, status }: RestorationSummary,
  options: RenderOptions,
): readonly Line[] {
  if (status !== 'planned') return [];
  const wanted = secretsByVariable(secrets);
  const title = `Secrets to supply (${formatNumber(wanted.length)}), in a variable or with --secrets:`;
  const item = ({ variable, what }: (typeof wanted)[number]): readonly Line[] => [
    ...itemLines('', what, options.width),
    // Never broken: it is there to be copied.
    [span(`    ${variable}`)],
  ];
  const lines = listLines(wanted, item, MOST_ASKED, options);
  return titled(span(title, 'strong'), lines, options);
}
