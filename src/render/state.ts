import type { Address } from '../core/address.ts';
import type { StateCommands } from '../core/documents.generated.ts';
import type { LedgerLine } from '../state/journal.ts';
import { type AppliedLeaf, describeOwner, type Owner, type ResourceState } from '../state/model.ts';
import type { HeldLock, SalvagedJournal } from '../state/store.ts';
import { renderLedgerText } from './runs.ts';
import {
  factLines,
  type Line,
  measureWidest,
  moreLines,
  padText,
  paint,
  type RenderOptions,
  sentence,
  span,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue } from './value-text.ts';
import { formatAge, formatCount } from './wording.ts';

/** The texts of `callsheet state`: the contents of a state, its locks, and the results of an edit. */

/** A resource of the state, as lists have it. */
type ListedState = Pick<
  StateCommands.List['resources'][number],
  'address' | 'id' | 'name' | 'protect'
>;

/** Addresses, one a line, for people and for `xargs`; with `verbose` also the id and the name. */
export function renderAddresses(
  resources: readonly ListedState[],
  { color, verbose }: RenderOptions,
): string {
  const [addresses, ids] = [
    measureWidest(resources.map(({ address }) => sanitiseLine(address))),
    measureWidest(resources.map(({ id }) => sanitiseLine(id))),
  ];
  const lines = resources.map(({ address, id, name, protect }): Line => {
    if (!verbose) return [span(address)];
    const guarded = protect ? ' (protected)' : '';
    return [
      span(padText(sanitiseLine(address), addresses)),
      span(`  ${padText(sanitiseLine(id), ids)}  `),
      span(`${name}${guarded}`),
    ];
  });
  return paint(lines, color);
}

/** Everything that the state remembers of a resource. Of secrets it knows no more than a fingerprint. */
export function renderResource(
  address: Address,
  { kind, id, name, scope, protect, pin, leaves, created_at: created }: ResourceState,
  options: RenderOptions,
): string {
  const facts = [
    ['kind', kind],
    ['id', id],
    ['name', name],
    ...Object.entries(scope),
    ['created', created ?? null],
    ['protected', protect ? 'yes' : 'no'],
    ['last seen', pin === null ? null : (pin.updated_at ?? 'at no known time')],
    ['history', pin?.history_id ? `entry ${pin.history_id}` : null],
  ] as const;
  const written = Object.entries(leaves).map(([path, leaf]) => [path, leafText(leaf)] as const);
  const head = written.length === 0 ? 'Its fields are not known.' : 'As last written:';
  return paint(
    [
      [span(address, 'strong')],
      ...factLines(facts, options.width, 2),
      [],
      [span(head)],
      ...factLines(written, options.width, 2),
    ],
    options.color,
  );
}

function leafText(leaf: AppliedLeaf): string {
  if ('unknown' in leaf) return '(secret, adopted: value not known)';
  if ('fingerprint' in leaf) return '(secret)';
  if ('unsettled' in leaf) return '(not known to be written; the next apply writes it)';
  if ('digest' in leaf && leaf.assumed === true)
    return `(adopted, never sent: assumed to be ${leaf.digest.slice(0, 19)}…)`;
  return 'digest' in leaf ? `(long; ${leaf.digest.slice(0, 19)}…)` : inlineValue(leaf.value);
}

type ShownLock = Omit<StateCommands.Lock, 'format' | 'version'>;

/** Who holds a state, or held it until it was unlocked, and what to do about it. */
export function renderLock(
  { location, held, unlocked }: ShownLock,
  now: Date,
  options: RenderOptions,
): string {
  if (held === null) return sentence(`The state ${location} is not locked.`, options);
  const { holder, lease, beat, owner } = held;
  const age = formatAge(beat, now);
  const who = holder.user === null ? holder.host : `${holder.user} on ${holder.host}`;
  const facts = [
    ['lease', lease],
    ['held by', holder.run === '' ? holder.command : `${holder.command}, run ${holder.run}`],
    ['of', `${who}, process ${holder.pid}`],
    ['since', holder.since],
    ['heartbeat', age === undefined ? beat : `${beat} (${age})`],
    ['process', OWNERS[owner]],
  ] as const;
  const title = unlocked ? 'is unlocked. It was held so:' : 'is locked:';
  const next = unlocked
    ? 'The run that held the lock stops before its next write. Its journal records what it did, and the next apply recovers it.'
    : owner === 'gone'
      ? 'There is nothing to do: the next run takes the lock over.'
      : `To release it: \`callsheet state unlock ${lease}${owner === 'running' ? ' --stop-run' : ''}\``;
  return [
    sentence(`The state ${location} ${title}`, options),
    paint(factLines(facts, options.width, 2), options.color),
    sentence(next, options),
  ].join('');
}

const OWNERS: { readonly [owner in HeldLock['owner']]: string } = {
  running: 'runs on this machine',
  silent: 'on this machine, without heartbeats: paused, or suspended',
  gone: 'has ended',
  elsewhere: 'on another machine, or in another container',
};

/** The result of an edit of the state. */
type ShownEdit = {
  readonly run: string;
  readonly serial: number;
  readonly ledger: readonly LedgerLine[];
};

export function renderEdit({ run, serial, ledger }: ShownEdit, options: RenderOptions): string {
  const last = `The state is at serial ${serial}; the edit is recorded as run ${run}.`;
  return `${renderLedgerText(ledger, options)}${sentence(last, options)}`;
}

/** Shows what went to the state of another stack. */
export function renderMovedOver(
  { run, ledger, to }: ShownEdit & { readonly to: NonNullable<StateCommands.Edit['to']> },
  options: RenderOptions,
): string {
  const what = `${formatCount(ledger.length, 'resource')} and ${formatCount(to.runs, 'run')} moved to ${to.location}, recorded in both states as run ${run}.`;
  const next =
    'Move their files to that stack as well, if they are not there yet: this command does not change the configuration.';
  return `${renderLedgerText(ledger, options)}${sentence(what, options)}${sentence(next, options)}`;
}

/** Shows the former and the present owner of a state; without an edit it was so already. */
export function renderAdoption(
  {
    from,
    owner,
    edited,
    sealed,
  }: {
    readonly sealed: number | null;
    readonly from: Owner | undefined;
    readonly owner: Owner;
    readonly edited?: ShownEdit | undefined;
  },
  options: RenderOptions,
): string {
  const now = describeOwner(owner);
  if (edited === undefined)
    return sentence(`The state is that of ${now} already. Nothing was written.`, options);
  const before =
    from === undefined ? 'said nothing of its owner' : `was that of ${describeOwner(from)}`;
  const seal =
    sealed === null ? '' : ` It is sealed from now on, with ${formatCount(sealed, 'receipt')}.`;
  const last = `The state ${before}, and is that of ${now} now.${seal} It is at serial ${edited.serial}; recorded as run ${edited.run}.`;
  return sentence(last, options);
}

/** Shows the edit that would be made, or says that there is none. */
export function renderUntouched(ledger: readonly LedgerLine[], options: RenderOptions): string {
  const nothing = 'The state knows every secret that it holds. Nothing was written.';
  if (ledger.length === 0) return sentence(nothing, options);
  return `${renderLedgerText(ledger, options)}${sentence('Nothing was written.', options)}`;
}

/** Shows the result of a push; without an edit it had nothing to do. */
export function renderPush(
  edited: ShownEdit | undefined,
  setAside: readonly string[],
  options: RenderOptions,
): string {
  if (edited === undefined)
    return sentence('The state is already the same. Nothing was written.', options);
  const ledger =
    edited.ledger.length === 0
      ? sentence('No resource of the state changed.', options)
      : renderLedgerText(edited.ledger, options);
  const last = `The state is at serial ${edited.serial}; the push is recorded as run ${edited.run}.`;
  return `${ledger}${sentence(last, options)}${asideText(setAside, options)}`;
}

type ShownMigration = Omit<StateCommands.Migration, 'format' | 'version'>;

/** Shows the new place of a state, and the next steps. */
export function renderMigration(
  { from, to, serial, resources, runs, left }: ShownMigration,
  options: RenderOptions,
): string {
  const what = `${formatCount(resources, 'resource')} and ${formatCount(runs, 'run')} moved to ${to}, read back and compared (serial ${serial}).`;
  const behind =
    left.length === 0 ? '' : `Runs that could not be read were not moved: ${left.join(', ')}.`;
  const next = `Set the new location in callsheet.yaml (state) or in CALLSHEET_STATE. ${from} keeps a note of the move, and Callsheet refuses it from now on.`;
  return [what, behind, next]
    .filter((line) => line !== '')
    .map((line) => sentence(line, options))
    .join('');
}

type ShownRepair = Omit<StateCommands.Repair, 'format' | 'version' | 'ledger'>;

/** Resources that a repair kept, of those that are listed unless everything is asked for. */
const MOST_KEPT = 10;

/** Shows what a repair read, kept, found and could not find. */
export function renderRepair(shown: ShownRepair, options: RenderOptions): string {
  const { location, problem, read, journals, run, serial, set_aside: aside, findings } = shown;
  const { kept = [] } = shown;
  if (run === null)
    return sentence(`The state ${location} is sound. Nothing was written.`, options);
  const groups = Object.entries(FINDINGS).flatMap(([finding, title]) => {
    const members = findings.filter((one) => one.finding === finding);
    if (members.length === 0) return [];
    // Resources that are as they were are the least worth reading.
    const listed = options.verbose || finding !== 'kept' ? members : members.slice(0, MOST_KEPT);
    const hidden = members.length - listed.length;
    return [
      [span(`${formatCount(members.length, 'resource')} ${title}`, 'strong')],
      ...factLines(
        listed.map(({ address, id }) => [address, id ?? '']),
        options.width,
        2,
      ),
      ...moreLines(hidden, options),
    ];
  });
  const replayed = journals.filter(({ use }) => use === 'replayed').length;
  return [
    sentence(
      problem === null ? `There was no state at ${location}.` : `The problem was: ${problem}.`,
      options,
    ),
    problem === null ? '' : sentence(READ[read], options),
    replayed === 0
      ? ''
      : sentence(
          `${formatCount(replayed, 'journal')} next to it could be read, and their records were used.`,
          options,
        ),
    ...journals.flatMap((journal) => {
      const text = journalText(journal);
      return text === undefined ? [] : [sentence(text, options)];
    }),
    '\n',
    paint(groups, options.color),
    groups.length === 0 ? '' : '\n',
    ...kept.map(({ feature, name, status, why }) => {
      const was = `${status.replaceAll('_', ' ')}${why === null ? '' : `: ${why}`}`;
      const text = `The ${feature} ${name} was ${was}. To see it: \`callsheet ${feature} show ${name}\``;
      return sentence(text, options);
    }),
    sentence(`The state is rebuilt, at serial ${serial}, and recorded as run ${run}.`, options),
    asideText(aside, options),
  ].join('');
}

const READ: { readonly [read in ShownRepair['read']]: string } = {
  whole: 'The state itself could be read, and all of it was used.',
  part: 'A part of the state could be read, and was used.',
  foreign: 'The state belongs to another stack. None of it was used.',
  nothing: 'The state could not be read.',
};

const FINDINGS = {
  kept: 'kept',
  found: 'found by name, as configured',
  differs: 'found by name that differ, which the plan shows',
  lost: 'known, but gone from the platform',
  absent: 'not on the platform yet',
} as const;

/** Nothing is said of a finished run's journal that could be read. */
function journalText({ run, finished, use, lost }: SalvagedJournal): string | undefined {
  const lines = lost === 0 ? '' : `; ${formatCount(lost, 'line')} of it could not be read`;
  switch (use) {
    case 'stray':
      return `Run ${run} belongs to another stack. None of it was used.`;
    case 'unreadable':
      return `The journal of run ${run} cannot be read.`;
    case 'replayed':
      return finished && lost === 0
        ? undefined
        : `Run ${run} ${finished ? 'finished' : 'did not finish'}: its records were used${lines}.`;
  }
}

function asideText(names: readonly string[], options: RenderOptions): string {
  return names.length === 0
    ? ''
    : sentence(`The previous files are kept next to it: ${names.join(', ')}.`, options);
}
