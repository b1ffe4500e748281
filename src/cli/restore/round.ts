import type { Address } from '../../core/address.ts';
import { digestOf } from '../../core/digest.ts';
import type { Guards } from '../../core/guards.ts';
import { parsePath } from '../../core/path.ts';
import type { Note, PlanOptions } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import { identify } from '../../plan/identify.ts';
import type { Planned } from '../../plan/make.ts';
import type { Held } from '../../restore/held.ts';
import type { Part } from '../../restore/parts.ts';
import { type Rebuilt, rebuild } from '../../restore/rebuild.ts';
import type { Site } from '../../restore/site.ts';
import type { Context } from '../context.ts';
import { planInstead } from '../make-plan.ts';
import { overrideOption } from '../plan-flags.ts';
import type { Session } from '../session.ts';
import type { Holding } from './holding.ts';
import { checkPlaces } from './place.ts';

/** What stays the same from one part and round to the next. */
export type Restoration = {
  readonly holding: Holding;
  readonly addresses: ReadonlyMap<Held, Address>;
  /** Of the stack, as far as a part can be judged by them. */
  readonly guards: Guards;
  readonly site: Omit<Site, 'exists' | 'recorded' | 'leftOut'>;
  readonly organizations: Readonly<Record<string, string>>;
  readonly flags: {
    readonly over?: boolean;
    readonly force?: boolean;
    readonly skipRefused?: boolean;
    readonly overrideFreeze?: string;
  };
};

/** A plan of what is still to be done, and the desired side that it was made from. */
export type Round = {
  readonly planned: Planned;
  readonly rebuilt: Rebuilt;
  /** What was found on the platform that the state does not know, by address. */
  readonly foreign: ReadonlyMap<Address, { readonly kind: string; readonly id: string }>;
  /** Ids of all that was found, by kind and id. */
  readonly found: ReadonlySet<string>;
};

/** A part that is refused can be left out without the resource, once. */
const TRIES = 2;

/** Plans what it takes to make the target hold what the snapshot does of a part. */
export async function planRound(
  { addresses }: Part,
  restoration: Restoration,
  session: Session,
  context: Context,
): Promise<Round> {
  const { resources } = session.state;
  const recorded = (address: Address) =>
    Object.hasOwn(resources, address) ? resources[address] : undefined;
  const site = { ...restoration.site, recorded, leftOut: () => undefined };
  // Once to find what is there, which decides what of it can be said.
  const all = rebuild(addresses, { ...site, exists: () => true }, restoration.addresses).desired;
  checkPlaces(session.store.location, session.state, all);
  const { identities } = await identify(all, session.state, session.reader, { moves: false });
  const there = identities.filter(({ found }) => found !== undefined);
  const existing = new Set(there.map(({ address }) => address));
  const exists = (address: Address) => existing.has(address);
  const leftOut = new Map<string, string>();
  for (let left = TRIES; ; left -= 1) {
    const rebuilt = rebuild(
      addresses,
      { ...site, exists, leftOut: (address, field) => leftOut.get(`${address} ${field}`) },
      restoration.addresses,
    );
    const planned = await planOf(rebuilt, restoration, session, context);
    const before = leftOut.size;
    for (const [key, why] of refusedParts(planned)) leftOut.set(key, why);
    if (left > 0 && leftOut.size > before) continue;
    return {
      planned,
      rebuilt,
      foreign: new Map(
        there.flatMap(({ address, kind, found, by }) =>
          by === 'state' || found === undefined
            ? []
            : [[address, { kind: kind.name, id: found.id }] as const],
        ),
      ),
      found: new Set(there.map(({ kind, found }) => `${kind.name} ${found?.id}`)),
    };
  }
}

/** Parts with endpoints of their own that a refused change writes: the rest of it may be welcome. */
function refusedParts({ plan }: Planned): readonly (readonly [string, string])[] {
  return plan.changes.flatMap(({ address, kind, verdict, reason, fields }) => {
    if (verdict !== 'refused') return [];
    const parts = new Set(kindNamed(kind).facets.map(({ field }) => field));
    const written = new Set(fields.map(({ path }) => parsePath(path)?.[0] ?? ''));
    return [...parts]
      .filter((field) => written.has(field))
      .map((field) => [`${address} ${field}`, reason] as const);
  });
}

function planOf(
  { desired, mentions }: Rebuilt,
  restoration: Restoration,
  session: Session,
  context: Context,
): Promise<Planned> {
  const { holding, organizations, guards, flags, site } = restoration;
  const { sha256, header } = holding;
  const options: PlanOptions = {
    // A restoration makes and changes; only a replacement takes something away.
    allow_delete: flags.over === true,
    accept_conflicts: flags.over === true,
    skip_refused: flags.skipRefused === true,
    resend_secrets: false,
    target: [],
    exclude: [],
    force: flags.force === true,
    ...overrideOption(flags),
  };
  return planInstead(
    session,
    {
      purpose: 'restore',
      snapshot: { made_at: header.made_at, sha256 },
      desired,
      prune: false,
      guards,
      organizations,
      versions: new Map(),
      configDigest: digestOf([sha256, [...site.places], mentions.size]),
      options,
    },
    context,
  );
}

/** What a person should know of texts that name ids. */
export function textNotes(
  { mentions }: Pick<Rebuilt, 'mentions'>,
  rewritesTexts: boolean,
): readonly Note[] {
  return [...mentions].map(([address, fields]) => ({
    severity: 'info',
    address,
    message: rewritesTexts
      ? `${fields.join(', ')} names ids that change, and gets the new ones`
      : `${fields.join(', ')} names ids that change, and keeps the old ones; --map-texts puts the new ones in`,
  }));
}
