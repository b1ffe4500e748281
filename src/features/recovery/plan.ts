import { resolve } from 'node:path';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type Address, getKind } from '../../core/address.ts';
import { computeDigest } from '../../core/digest.ts';
import { CallsheetError } from '../../core/errors.ts';
import { parsePath } from '../../core/path.ts';
import { getOwn } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { organizationTitles } from '../../live/entitlements.ts';
import { openReadings, type Readings } from '../../live/readings.ts';
import { identify } from '../../plan/identify.ts';
import type { Planned } from '../../plan/make.ts';
import type { Reader } from '../../plan/reader.ts';
import { readAccountId } from '../../run/client.ts';
import type { CallsChoice } from '../../run/context.ts';
import { planInstead, planOptions } from '../../run/plan.ts';
import { withPlatform } from '../../run/platform-session.ts';
import { openSessionOn, openStore, type Session } from '../../run/session.ts';
import { type LoadedStack, spareMemory } from '../../run/stack.ts';
import { type Stack, unreadableVariables } from '../../stack/index.ts';
import { getIdentity, type State } from '../../state/model.ts';
import type { StateStore } from '../../state/store.ts';
import { assignAddresses, inOrder, MOST_TOGETHER, type Part, splitParts } from './addresses.ts';
import { type Held, type Holding, refuseClashes, type Target } from './held.ts';
import { buildOverview, type Overview, type Round, together, withoutValues } from './overview.ts';
import { type Rebuilt, rebuild } from './rebuild.ts';
import { listPlacesGone } from './secrets.ts';
import { gatherSupplies, type Supplies, type SupplyFlags } from './supplies.ts';
import {
  type Choice,
  checkOrganizations,
  checkPlaces,
  chooseFrom,
  findObstacles,
  organizationNames,
  type PlaceFlags,
  placeState,
} from './target.ts';

export type LookFlags = CallsChoice & {
  readonly over?: boolean;
  readonly skipRefused?: boolean;
  readonly overrideFreeze?: string;
  readonly overrideLimits?: string;
  readonly mapTexts?: boolean;
  /** Takes everything for gone: for a drill, which writes nothing. */
  readonly asIfGone?: boolean;
  readonly format: 'text' | 'json';
};

/** A part that is refused can be left out without the resource, once, and so can what lacks its secret. */
const TRIES = 2;

/** Plans what it takes to make the target hold what the snapshot does of a part. */
export async function look(
  { addresses }: Part,
  opened: Opened,
  live: Session,
  flags: LookFlags,
  context: Context,
): Promise<Round> {
  const { choice, supplies, isSameAccount, gone } = opened;
  const obstacles = await findObstacles(choice, live.reader);
  const session = flags.asIfGone === true ? withoutAll(live) : live;
  const { state, reader, store } = session;
  const target: Target = {
    places: choice.places,
    isSameAccount,
    obstacleAt: (place) => obstacles.get(place),
    exists: () => true,
    isOriginal: () => true,
    isMade: () => false,
    isPlaceGone: () => false,
    recorded: (address) => getOwn(state.resources, address),
    secretAt: supplies.secretAt,
    variableAt: supplies.variableAt,
    fileFor: supplies.fileFor,
    sharedFile: supplies.sharedFile,
    leftOut: () => undefined,
    hasStack: opened.hasStack,
    rewritesTexts: flags.mapTexts === true,
  };
  // Once to find what is there, which decides what of it can be said.
  const all = rebuild(addresses, target, opened.addresses).desired;
  checkPlaces(store.location, state, all);
  const { identities } = await identify(all, state, reader, { moves: false });
  const there = identities.filter(({ found }) => found !== undefined);
  const existing = new Map(there.map(({ address, found }) => [address, found?.id]));
  const leftOut = new Map<string, string>();
  const known: Target = {
    ...target,
    exists: (address) => existing.has(address),
    isOriginal: (held, address) => isSameAccount && existing.get(address) === held.id,
    isMade: (address) => opened.made.has(`${getKind(address)} ${existing.get(address)}`),
    isPlaceGone: (address, path) => gone.has(`${address} ${path}`),
    leftOut: (address, field) => leftOut.get(`${address} ${field}`),
  };
  for (let left = TRIES; ; left -= 1) {
    const rebuilt = rebuild(addresses, known, opened.addresses);
    const planned = await makePartPlan(rebuilt, opened, session, flags, context);
    const before = leftOut.size + gone.size;
    for (const [key, why] of refusedParts(planned)) leftOut.set(key, why);
    for (const place of listPlacesGone(rebuilt.missing, planned.plan.changes))
      gone.add(place.join(' '));
    if (left > 0 && leftOut.size + gone.size > before) continue;
    return {
      planned,
      rebuilt,
      obstacles,
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

/** A session that finds nothing on the platform, and knows nothing that it made. */
function withoutAll(session: Session): Session {
  const list: Session['reader']['list'] = async (...asked) =>
    (await session.reader.list(...asked)) && [];
  const reader = { ...session.reader, list, read: async () => undefined };
  return { ...session, reader, state: { ...session.state, resources: {} } };
}

/** Everything that is to be done, before anything is. `only`: of several parts what is shown is kept, and no round. */
export async function survey(
  opened: Opened,
  session: Session,
  flags: LookFlags,
  context: Context,
): Promise<{ readonly overview: Overview; readonly only: Round | undefined }> {
  const [first, ...others] = opened.parts;
  if (first === undefined) throw new Error('a restoration has no part');
  const round = await look(first, opened, session, flags, context);
  const overview = buildOverview(round, first.own);
  if (others.length === 0) return { overview, only: round };
  const isShownWhole = flags.format === 'text' && context.terminal.render.verbose === true;
  const kept = (one: Overview) => (isShownWhole ? one : withoutValues(one));
  const overviews: [Overview, ...Overview[]] = [kept(overview)];
  for (const part of others)
    overviews.push(
      kept(buildOverview(await look(part, opened, session, flags, context), part.own)),
    );
  return { overview: together(overviews, session.stack.guards), only: undefined };
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

function makePartPlan(
  { desired, mentions }: Rebuilt,
  { holding, choice, parts, organizations }: Opened,
  session: Session,
  flags: LookFlags,
  context: Context,
): Promise<Planned> {
  const { sha256, header } = holding;
  const { guards } = session.stack;
  // How much of the whole is touched is no question about a part of it.
  const { freeze } = guards;
  const ofPart = freeze === undefined ? {} : { freeze };
  return planInstead(
    session,
    {
      purpose: 'restore',
      snapshot: { made_at: header.made_at, sha256 },
      desired,
      prune: false,
      guards: parts.length === 1 ? guards : ofPart,
      organizations,
      versions: new Map(),
      configDigest: computeDigest([sha256, [...choice.places], mentions.size]),
      // A restoration makes and changes; only a replacement takes something away.
      options: planOptions({
        ...flags,
        allowDelete: flags.over === true,
        acceptConflicts: flags.over === true,
      }),
      calls: flags.calls,
    },
    context,
  );
}

/** Everything that is known before the first round. */
export type Opened = {
  readonly holding: Holding;
  readonly choice: Choice;
  readonly addresses: ReadonlyMap<Held, Address>;
  /** Resources that are planned and carried out together; usually one part has all. */
  readonly parts: readonly Part[];
  readonly supplies: Supplies;
  /** The file that it remembers in what it made. */
  readonly state: string;
  /** True in the folder of a stack, unless `CALLSHEET_STATE` names the state of the restoration itself. */
  readonly hasStack: boolean;
  readonly isSameAccount: boolean;
  /** Opens that file alone. */
  readonly store: () => StateStore;
  /** Takes the kinds and ids of what the rounds make. */
  readonly made: Set<string>;
  /** Keeps what the rounds read, for the closing proof and for the state of the stack. */
  readonly readings: Readings;
  /** A reader that asks for little twice; `own`: the resources of the state of the restoration. */
  readonly sparing: (reader: Reader, own: State['resources']) => Reader;
  /** Takes what a round finds of secrets, by address and path: the platform had no more what they stood in. */
  readonly gone: Set<string>;
  readonly organizations: Readonly<Record<string, string>>;
  /** A session of its own for each round: what was read for one is old by the next. */
  readonly session: () => Promise<Session>;
};

export type OpenFlags = CommonFlags &
  PlaceFlags &
  SupplyFlags & {
    readonly state?: string;
    readonly concurrency?: number;
    /** Resources that are planned at once at most; no flag of the command line. */
    readonly together?: number;
  };

/** Looks at what is to be restored, and at where to. Nothing is written. */
export function openRestoration(
  holding: Holding,
  flags: OpenFlags,
  context: Context,
): Promise<Opened> {
  return withPlatform(flags, context, async ({ client, settings, stack: loadStack }) => {
    const stack = settings && (await loadStack());
    const account = await readAccountId(client);
    const choice = await chooseFrom(holding, flags, {
      stack: stack?.organizations ?? {},
      target: () => organizationTitles(client, context.now()),
    });
    if (choice.chosen.length === 0) throw nothing(holding);
    refuseClashes(choice.chosen, choice.places);
    await checkOrganizations(choice, client, holding, account);
    const all = assignAddresses(holding.all);
    if (choice.chosen.length > MOST_TOGETHER) spareMemory();
    const ordered = inOrder(choice.chosen, choice.places);
    const addresses = new Map(ordered.map((held) => [held, all.get(held) ?? held.id]));
    const supplies = await gatherSupplies(addresses, all, flags, stack, holding, context);
    const state = placeState(flags.state, holding, account, choice.places, stack);
    const loaded: LoadedStack = {
      stack: {
        ...(stack ?? blankStack(flags.dir)),
        state: { file: state },
        digest: holding.sha256,
      },
      warnings: [],
      findSecret: supplies.findSecret,
      secretValues: supplies.secretValues,
      // Missing secrets were asked for before.
      needSecrets: async () => {},
      // Nothing is compared with what the files had.
      async *loadAt() {},
    };
    const { platform } = holding.header;
    const readings = openReadings(loaded.stack.platform);
    const trust = openTrust(new Set(holding.all.map(getIdentity)));
    const sparing: Opened['sparing'] = (reader, own) => readings.keeping(trust(reader, own));
    return {
      holding,
      choice,
      addresses,
      parts: splitParts(addresses, choice.places, flags.together),
      supplies,
      state,
      hasStack: stack !== undefined && !('file' in stack.state && stack.state.file === state),
      store: () => openStore(loaded.stack, context),
      isSameAccount: platform.account_id === account && platform.base_url === client.baseUrl,
      gone: new Set(),
      made: new Set(),
      readings,
      sparing,
      organizations: organizationNames(holding, choice.places, stack),
      session: async () => {
        const session = await openSessionOn(
          loaded,
          openStore(loaded.stack, context),
          flags,
          context,
          { openFile: holding.media.open },
        );
        return { ...session, reader: sparing(session.reader, session.state.resources) };
      },
    };
  });
}

/** Resources of a snapshot that are asked for by their ids, of those that a list lacks. */
const MOST_UNLISTED = 5;

/**
 * Takes a list that lacks resources of a snapshot at its word, once a few of them cannot be read by their ids either: in a
 * disaster each would be asked for in vain. What the restoration has in its own state is always asked for, as a list may
 * come late to what was just made.
 */
function openTrust(ids: ReadonlySet<string>): (reader: Reader, own: State['resources']) => Reader {
  const asked = new Map<string, Map<string, ReturnType<Reader['read']>>>();
  return (reader, own) => {
    const recorded = new Set(Object.values(own).map(getIdentity));
    return {
      ...reader,
      async read(kind, at, facets) {
        const key = getIdentity({ kind: kind.name, id: at.id });
        if (at.isUnlisted !== true || !ids.has(key) || recorded.has(key))
          return reader.read(kind, at, facets);
        const place = JSON.stringify([kind.name, at.scope]);
        const few = asked.get(place) ?? new Map<string, ReturnType<Reader['read']>>();
        asked.set(place, few);
        if (few.size < MOST_UNLISTED && !few.has(key)) {
          const reading = reader.read(kind, at, facets);
          few.set(key, reading);
          // A failure says nothing of the list.
          reading.catch(() => few.delete(key));
        }
        const found = await Promise.all(few.values());
        return found.every((one) => one === undefined) ? undefined : reader.read(kind, at, facets);
      },
    };
  };
}

function nothing({ file }: Holding): CallsheetError {
  return new CallsheetError(
    'usage',
    `the snapshot ${file} contains none of the requested resources`,
    {
      hint: '`callsheet snapshot show` lists its contents.',
    },
  );
}

/** A stack that says nothing: for a restoration where there is none. */
function blankStack(dir: string): Stack {
  return {
    dir: resolve(dir),
    id: undefined,
    environment: undefined,
    platform: { base_url: undefined, by: 'operator', assume: true, endpoints: {} },
    organizations: {},
    organization: undefined,
    state: { file: '' },
    guards: {},
    moves: { moved: [], forget: [] },
    rules: () => ({ refusals: [], notes: [] }),
    sections: {},
    resources: [],
    secrets: [],
    traceOrigin: () => undefined,
    readTextParts: () => undefined,
    written: () => ({
      resources: [],
      variables: unreadableVariables,
      files: [],
      organization: undefined,
      masked: () => [],
    }),
    digest: '',
  };
}
