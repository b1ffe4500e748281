import { factLines } from './read/facts.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber } from './wording.ts';

/** What a restoration did and proved: the document that `--format json` prints. */
export type RestorationSummary = {
  readonly format: 'callsheet-restoration';
  readonly version: 1;
  /** `planned` of a dry run; `partial` where something failed, or where live is not as the snapshot has it. */
  readonly status: 'planned' | 'done' | 'partial' | 'refused' | 'interrupted';
  readonly snapshot: { readonly file: string; readonly made_at: string; readonly sha256: string };
  readonly platform: { readonly base_url: string; readonly account_id: string };
  /** Organizations and knowledge bases that resources moved to: old id → new one. */
  readonly mapped: { readonly [old: string]: string };
  readonly state: string;
  readonly runs: readonly string[];
  /** What is to be done, of a dry run; what is still not as it was, of the others. */
  readonly remaining: readonly Remaining[];
  /** Resources and values that were read back and held against the snapshot. */
  readonly proof: { readonly resources: number; readonly values: number } | null;
  readonly collisions: readonly Collision[];
  /** Secrets that nobody supplied. */
  readonly secrets: readonly NeededSecret[];
  readonly exceptions: readonly RestorationException[];
};

type Remaining = {
  readonly address: string;
  readonly action: string;
  readonly verdict: string;
  readonly reason: string;
  readonly paths: readonly string[];
};

export type Collision = {
  readonly address: string;
  readonly kind: string;
  readonly id: string;
  readonly name: string | null;
  readonly is_equal: boolean;
};

export type NeededSecret = {
  readonly address: string;
  /** One of them is enough. */
  readonly any_of: readonly { readonly path: string; readonly variable: string }[];
};

export type RestorationException = {
  readonly what: string;
  readonly address: string | null;
  readonly message: string;
};

/** Addresses that are named for one exception, unless everything is asked for. */
const MOST_NAMED = 3;
const MOST_LISTED = 10;

/** What came of a restoration, below the ledgers of its runs. */
export function renderRestorationText(one: RestorationSummary, options: RenderOptions): string {
  const lines: Line[] = [
    ...verdictLines(one, options),
    ...remainingLines(one, options),
    ...secretLines(one, options),
    ...exceptionLines(one, options),
    [],
    ...factLines(
      [
        {
          name: 'snapshot',
          text: sanitiseLine(`${one.snapshot.file}, of ${one.snapshot.made_at}`),
        },
        { name: 'account', text: sanitiseLine(one.platform.account_id) },
        { name: 'state', text: sanitiseLine(one.state) },
      ],
      options.width,
    ),
  ];
  return paint(lines, options.color);
}

function verdictLines({ status, proof }: RestorationSummary, { width }: RenderOptions): Line[] {
  if (proof !== null && status === 'done') {
    const what = `${formatCount(proof.resources, 'resource')} and ${formatNumber(proof.values)} values`;
    const text = `Proven: live equals the snapshot but for what is named below (${what} read back and compared).`;
    return wrap([span(text, 'added')], width, 2) as Line[];
  }
  const text =
    status === 'partial'
      ? 'Not all of the snapshot is there. Run the same command again: it goes on where this one stopped, and makes nothing twice.'
      : status === 'interrupted'
        ? 'Interrupted. Run the same command again: it goes on where this one stopped, and makes nothing twice.'
        : 'Nothing was written.';
  return wrap([span(text, 'warning')], width, 2) as Line[];
}

function remainingLines(
  { remaining, status }: RestorationSummary,
  { width, verbose }: RenderOptions,
): readonly Line[] {
  if (remaining.length === 0 || status === 'planned') return [];
  const shown = verbose ? remaining : remaining.slice(0, MOST_LISTED);
  const hidden = remaining.length - shown.length;
  return [
    [],
    ...wrap([span(`Not as the snapshot has it (${remaining.length}):`, 'warning')], width, 2),
    ...shown.flatMap(({ address, reason, paths }) => {
      const where = paths.length === 0 ? '' : ` (${paths.join(', ')})`;
      const text = sanitiseLine(`${reason}${where}`);
      return wrap([span(`  ${sanitiseLine(address)}  `), span(text, 'dim')], width, 4);
    }),
    ...(hidden > 0 ? [[span(`  ⋯ ${hidden} more; --verbose lists them`, 'dim')]] : []),
  ];
}

/** The same sentence of many resources is said once. */
function exceptionLines(
  { exceptions: all, secrets, status }: RestorationSummary,
  { width, verbose }: RenderOptions,
): readonly Line[] {
  // Of what is to be supplied the list above says more.
  const isListed = status === 'planned' && secrets.length > 0;
  const exceptions = isListed ? all.filter(({ what }) => what !== 'secret') : all;
  if (exceptions.length === 0) return [];
  const grouped = Map.groupBy(exceptions, ({ message }) => message);
  const groups = [...grouped];
  const shown = verbose ? groups : groups.slice(0, 2 * MOST_LISTED);
  const hidden = groups.length - shown.length;
  const title =
    status === 'planned' ? 'What would not be as it was, and why:' : 'Not as it was, and why:';
  return [
    [],
    ...wrap([span(title, 'strong')], width, 2),
    ...shown.flatMap(([message, sharing]) => {
      const of = sharing.flatMap(({ address }) => (address === null ? [] : [address]));
      const named = verbose ? of : of.slice(0, MOST_NAMED);
      const more = of.length - named.length;
      const who =
        of.length === 0 ? '' : `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}: `;
      return wrap([span(`  ${sanitiseLine(who)}`), span(sanitiseLine(message), 'dim')], width, 4);
    }),
    ...(hidden > 0 ? [[span(`  ⋯ ${hidden} more; --verbose lists them`, 'dim')]] : []),
  ];
}

/** What is to be supplied, and in which variable each is looked for. */
function secretLines(
  { secrets, status }: RestorationSummary,
  { width, verbose }: RenderOptions,
): readonly Line[] {
  if (secrets.length === 0 || status !== 'planned') return [];
  const shown = verbose ? secrets : secrets.slice(0, MOST_LISTED);
  const hidden = secrets.length - shown.length;
  const title = `Secrets to supply (${formatNumber(secrets.length)}), in a variable or with --secrets:`;
  return [
    [],
    ...wrap([span(title, 'warning')], width, 2),
    ...shown.flatMap(({ address, any_of: ways }) => [
      ...wrap(
        [
          span(`  ${sanitiseLine(address)}  `),
          span(sanitiseLine(ways.map(({ path }) => path).join(' or ')), 'dim'),
        ],
        width,
        4,
      ),
      // Never broken: it is there to be copied.
      [span(`    ${sanitiseLine(ways[0]?.variable ?? '')}`)],
    ]),
    ...(hidden > 0
      ? [[span(`  ⋯ ${formatNumber(hidden)} more; --verbose lists them`, 'dim')]]
      : []),
  ];
}
