import type { Address } from '../core/address.ts';
import type { AppliedLeaf, ResourceState } from '../state/model.ts';
import type { HeldLock } from '../state/store.ts';
import { sentence, table } from './facts.ts';
import { type Line, paint, type RenderOptions, span } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue } from './value-text.ts';
import { padText, widestOf } from './width.ts';
import { formatDuration } from './wording.ts';

/** A resource of the state, as lists have it. */
type ListedState = {
  readonly address: Address;
  readonly id: string;
  readonly name: string;
  readonly protect: boolean;
};

/** Addresses, one a line, for people and for `xargs`; with `verbose` also the id and the name. */
export function renderAddresses(
  resources: readonly ListedState[],
  { color, verbose }: RenderOptions,
): string {
  const [addresses, ids] = [
    widestOf(resources.map(({ address }) => sanitiseLine(address))),
    widestOf(resources.map(({ id }) => sanitiseLine(id))),
  ];
  const lines = resources.map(({ address, id, name, protect }): Line => {
    if (!verbose) return [span(sanitiseLine(address))];
    const guarded = protect ? ' (protected)' : '';
    return [
      span(padText(sanitiseLine(address), addresses)),
      span(`  ${padText(sanitiseLine(id), ids)}  `, 'dim'),
      span(`${sanitiseLine(name)}${guarded}`),
    ];
  });
  return paint(lines, color);
}

/** Everything that the state remembers of a resource. Of secrets it knows no more than a fingerprint. */
export function renderResource(
  address: Address,
  { kind, id, name, scope, protect, pin, leaves }: ResourceState,
  options: RenderOptions,
): string {
  const facts = [
    ['kind', kind],
    ['id', id],
    ['name', name],
    ...Object.entries(scope),
    ['protected', protect ? 'yes' : 'no'],
    ['last seen', pin === null ? null : (pin.updated_at ?? 'at no known time')],
    ['history', pin?.history_id ? `entry ${pin.history_id}` : null],
  ] as const;
  const written = Object.entries(leaves).map(([path, leaf]) => [path, leafText(leaf)] as const);
  const head = written.length === 0 ? 'Nothing is known of its fields.' : 'As last written:';
  return paint(
    [
      [span(sanitiseLine(address), 'strong')],
      ...table(facts, options),
      [],
      [span(head)],
      ...table(written, options),
    ],
    options.color,
  );
}

function leafText(leaf: AppliedLeaf): string {
  if ('unknown' in leaf) return '(secret, taken over: not known)';
  if ('fingerprint' in leaf) return '(secret)';
  if ('unsettled' in leaf) return '(unknown since a run died; it is written again)';
  return 'digest' in leaf ? `(long; ${leaf.digest.slice(0, 19)}…)` : inlineValue(leaf.value);
}

type ShownLock = {
  readonly location: string;
  readonly held: Omit<HeldLock, 'watch'> | null;
  readonly unlocked: boolean;
};

/** Who holds a state, or held it until it was unlocked, and what to do about it. */
export function renderLock(
  { location, held, unlocked }: ShownLock,
  now: Date,
  options: RenderOptions,
): string {
  if (held === null) return sentence(`The state ${location} is not locked.`, options);
  const { holder, lease, beat, owner } = held;
  const who = holder.user === null ? holder.host : `${holder.user} on ${holder.host}`;
  const facts = [
    ['lease', lease],
    ['held by', holder.run === '' ? holder.command : `${holder.command}, run ${holder.run}`],
    ['of', `${who}, process ${holder.pid}`],
    ['since', holder.since],
    ['heartbeat', `${beat}${ageOf(beat, now)}`],
    ['process', OWNERS[owner]],
  ] as const;
  const title = unlocked ? 'is unlocked. It was held so:' : 'is locked:';
  const next = unlocked
    ? 'Whoever held it stops before the next write. What it did is in its journal, and the next apply settles it.'
    : owner === 'gone'
      ? 'Nothing need be done: the next run takes the lock over.'
      : `To end it: callsheet state unlock ${lease}${owner === 'running' ? ' --force' : ''}`;
  return [
    sentence(`The state ${location} ${title}`, options),
    paint(table(facts, options), options.color),
    sentence(next, options),
  ].join('');
}

const OWNERS: { readonly [owner in HeldLock['owner']]: string } = {
  running: 'runs on this machine',
  gone: 'has ended',
  elsewhere: 'on another machine, or in another container',
};

/** By this machine's clock, which may not be that of the holder. */
function ageOf(beat: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(beat)) / 1000;
  if (Number.isNaN(seconds)) return '';
  if (seconds < 0) return ' (ahead of the clock here)';
  return seconds < 1 ? ' (just now)' : ` (${formatDuration(seconds)} ago)`;
}
