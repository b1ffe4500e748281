import type { Address } from '../../core/address.ts';
import { computeDigest } from '../../core/digest.ts';
import { CallsheetError, formatFirst } from '../../core/errors.ts';
import {
  type Change,
  type ChangeGroup,
  type Guards,
  isEdited,
  isRunnable,
  type Note,
  type PlanDocument,
  summarise,
} from '../../core/plan-document.ts';
import { listLeaves } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import { guardChanges } from '../../plan/guards.ts';
import type { Planned } from '../../plan/make.ts';
import { distinctNotes } from '../../plan/preflight.ts';
import { formatCount, kindTitle } from '../../render/wording.ts';
import { type Exception, formatLines, type Held, type Holding } from './held.ts';
import type { Rebuilt } from './rebuild.ts';
import {
  type Collision,
  type NeededSecret,
  type RestorationSummary,
  secretsByVariable,
} from './restoration.ts';
import type { Need } from './secrets.ts';
import type { Choice } from './target.ts';

/** A plan of what is still to be done, and the desired side that it was made from. */
export type Round = {
  readonly planned: Planned;
  readonly rebuilt: Rebuilt;
  /** Why nothing can be put into some places. */
  readonly obstacles: ReadonlyMap<string, string>;
  /** Resources on the platform that the state does not have, by address. */
  readonly foreign: ReadonlyMap<Address, { readonly kind: string; readonly id: string }>;
  /** Ids of all that was found, by kind and id. */
  readonly found: ReadonlySet<string>;
};

/** A round once all its parts are planned, without the documents. */
export type Overview = Omit<Rebuilt, 'desired' | 'missing'> &
  Pick<Round, 'obstacles' | 'found'> & {
    readonly plan: PlanDocument;
    readonly collisions: readonly Collision[];
    /** Changes refused by limits of the whole, with the reason: a part alone cannot know them. */
    readonly struck: ReadonlyMap<Address, string>;
    /** Counts of what was read back as the snapshot has it; meaningless while changes are left. */
    readonly proof: NonNullable<RestorationSummary['proof']>;
  };

/** Keeps the resources of `own`: the resources that they refer to are reported by their own part. */
export function buildOverview(round: Round, own: ReadonlySet<Address>): Overview {
  const { planned, rebuilt, obstacles, found } = round;
  const isOwn = ({ address }: { readonly address: Address | null }) =>
    address === null || own.has(address);
  const desired = rebuilt.desired.filter(isOwn);
  const { plan } = planned;
  const changes = plan.changes.filter(isOwn);
  return {
    plan: {
      ...plan,
      changes,
      notes: plan.notes.filter(isOwn),
      summary: summarise(changes, desired.length - changes.length),
    },
    exceptions: rebuilt.exceptions.filter(isOwn),
    needs: rebuilt.needs.filter(isOwn),
    mentions: new Map([...rebuilt.mentions].filter(([address]) => own.has(address))),
    deferred: new Map([...rebuilt.deferred].filter(([address]) => own.has(address))),
    collisions: collisionsIn(round).filter(isOwn),
    obstacles,
    found,
    struck: new Map(),
    proof: {
      resources: desired.length,
      values: isRunnable(planned.plan) ? 0 : countValues(desired),
    },
  };
}

function countValues(desired: Rebuilt['desired']): number {
  return desired.reduce((sum, { kind, document }) => {
    const { leaves } = listLeaves(kindNamed(kind).schema, document);
    return sum + [...leaves.values()].filter(({ facts }) => !facts.unreadable).length;
  }, 0);
}

/** Without the values of what is equal already, and of what is made, which the snapshot has (`snapshot show`). */
export function withoutValues(overview: Overview): Overview {
  const { plan } = overview;
  const changes = plan.changes.map((change): Change => {
    if (change.action === 'create') return { ...change, before: null, after: null, fields: [] };
    return change.action === 'adopt' ? { ...change, before: null, after: null } : change;
  });
  return { ...overview, plan: { ...plan, changes } };
}

/** Fewer new resources stand by themselves. */
const FEWEST_NAMED = 3;

/** The plan of a restoration in brief: what is made is named, kind by kind, and only what differs has values. */
export function inBrief(overview: Overview): PlanDocument {
  const { plan } = withoutValues(overview);
  const made = Map.groupBy(
    plan.changes.filter(({ action }) => action === 'create'),
    ({ kind, verdict, reason }) => JSON.stringify([kind, verdict, verdict === 'ok' ? '' : reason]),
  );
  const named = [...made.values()].flatMap((own): readonly ChangeGroup[] => {
    const [first] = own;
    if (first === undefined || own.length < FEWEST_NAMED) return [];
    const addresses = own.map(({ address }) => address);
    return [{ kind: first.kind, action: 'create', addresses, fields: [] }];
  });
  const groups = (plan.groups ?? []).filter(({ action }) => action !== 'create');
  return { ...plan, groups: [...groups, ...named] };
}

/** Parts as the one plan that a person agrees to; limits of the whole are judged here. */
export function together(
  parts: readonly [Overview, ...(readonly Overview[])],
  guards: Guards,
): Overview {
  const [first, ...others] = parts;
  if (others.length === 0) return first;
  const plans = parts.map(({ plan }) => plan);
  const found = new Set(parts.flatMap((part) => [...part.found]));
  const planned = plans.flatMap((plan) => plan.changes);
  const changes = guardChanges(planned, {
    purpose: first.plan.purpose,
    options: first.plan.options,
    guards,
    // Each part was asked that.
    isProtected: () => false,
    existing: found.size,
    isConfigurationEmpty: false,
    claims: [],
  });
  const allowed = new Set(
    planned.filter(({ verdict }) => verdict === 'ok').map(({ address }) => address),
  );
  const struck = changes.filter(
    ({ verdict, address }) => verdict === 'refused' && allowed.has(address),
  );
  const sum = (of: (plan: PlanDocument) => number) =>
    plans.reduce((all, plan) => all + of(plan), 0);
  const refusals = new Map(
    plans.flatMap((plan) => plan.refusals ?? []).map((one) => [`${one.guard} ${one.message}`, one]),
  );
  return {
    plan: {
      ...first.plan,
      digest: computeDigest(plans.map(({ digest }) => digest)),
      changes,
      summary: summarise(
        changes,
        sum(({ summary }) => summary.no_op),
      ),
      requests: {
        reads: sum(({ requests }) => requests.reads),
        writes: sum(({ requests }) => requests.writes),
        seconds: sum(({ requests }) => requests.seconds),
      },
      assumptions: [...new Set(plans.flatMap(({ assumptions }) => assumptions))].sort(),
      notes: distinctNotes(plans.flatMap(({ notes }) => notes)),
      ...(refusals.size === 0 ? {} : { refusals: [...refusals.values()] }),
    },
    exceptions: parts.flatMap(({ exceptions }) => exceptions),
    needs: parts.flatMap(({ needs }) => needs),
    mentions: new Map(parts.flatMap(({ mentions }) => [...mentions])),
    deferred: new Map(parts.flatMap(({ deferred }) => [...deferred])),
    collisions: parts.flatMap(({ collisions }) => collisions),
    obstacles: first.obstacles,
    found,
    struck: new Map(struck.map(({ address, reason }) => [address, reason])),
    proof: {
      resources: parts.reduce((all, { proof }) => all + proof.resources, 0),
      values: parts.reduce((all, { proof }) => all + proof.values, 0),
    },
  };
}

export function textNotes(
  { mentions }: Pick<Rebuilt, 'mentions'>,
  rewritesTexts: boolean,
): readonly Note[] {
  return [...mentions].map(([address, fields]) => ({
    severity: 'info',
    address,
    message: rewritesTexts
      ? `${fields.join(', ')} names ids that change, and gets the new ones`
      : `${fields.join(', ')} names ids that change, and keeps the old ids; --map-texts replaces them`,
  }));
}

/**
 * Finds resources where one of the snapshot is to go: those that this restoration did not make, and those that it
 * made and that were edited since.
 */
function collisionsIn({ planned, foreign }: Round): readonly Collision[] {
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const edited = planned.plan.changes.flatMap((change): readonly Collision[] => {
    const { address, kind, id } = change;
    if (foreign.has(address) || id === null || !change.fields.some(isEdited)) return [];
    return [{ address, kind, id, name: nameIn(change), is_equal: false }];
  });
  const met = [...foreign].flatMap(([address, { kind, id }]): readonly Collision[] => {
    const change = changes.get(address);
    const isEqual = change === undefined || change.action === 'adopt' || change.action === 'no_op';
    // An equal resource of the account as a whole blocks nothing.
    if (isEqual && kindNamed(kind).scope.length === 0) return [];
    return [{ address, kind, id, name: nameIn(change), is_equal: isEqual }];
  });
  return [...met, ...edited];
}

function nameIn(change: Change | undefined): string | null {
  return change === undefined || change.name === '' ? null : change.name;
}

/** Names the count of equal resources, and the first few. */
function equalLine(equal: readonly Collision[], more: string): string {
  if (equal.length === 0) return '';
  const names = equal.map(({ address }) => address);
  return `\n  ${equal.length} equal: ${formatFirst(names, MOST_EQUAL, more)}`;
}

/** Equal resources that a refusal names. */
const MOST_EQUAL = 3;

/** Refuses to restore into a place that has resources. Differing ones come first, one a line. */
export function targetNotEmpty(
  collisions: readonly Collision[],
  strangers: number,
  { isVerbose }: { readonly isVerbose: boolean },
): CallsheetError {
  const equal = collisions.filter((one) => one.is_equal);
  const differing = collisions.filter((one) => !one.is_equal);
  const formatLine = ({ address, id, is_equal: isEqual }: Collision) =>
    `${address}  ${id}  ${isEqual ? 'equal' : 'differs'}`;
  const verbosely = '; --verbose lists them all';
  const lines = isVerbose
    ? [...differing, ...equal].map((one) => `\n  ${formatLine(one)}`).join('')
    : `${formatLines(differing.map(formatLine), verbosely)}${equalLine(equal, verbosely)}`;
  const parts = [
    ...(collisions.length > 0
      ? [
          `${formatCount(collisions.length, 'resource')} of the snapshot ${collisions.length === 1 ? 'is' : 'are'} there already (${differing.length} of them changed)`,
        ]
      : []),
    ...(strangers > 0 ? [formatCount(strangers, 'other resource')] : []),
  ];
  return new CallsheetError('refused', `the target is not empty: ${parts.join(', and ')}${lines}`, {
    hint: 'Nothing was written. --over restores the resources that are there already and does not change others. To see the changes first: --dry-run --over.',
  });
}

/** Words the refusal of a restore as a note of its dry run. */
export function needsOver({ message }: CallsheetError): string {
  return `The restore needs --over: ${message}`;
}

/** A table for people and for `--format json`: which secret, of what, and where it is looked for. */
export function neededSecrets(needs: readonly Need[]): readonly NeededSecret[] {
  return needs.map(({ address, paths, variables }) => ({
    address,
    any_of: paths.map((path, index) => ({ path, variable: variables[index] ?? '' })),
  }));
}

export function secretsMissing(needs: readonly Need[]): CallsheetError {
  const wanted = secretsByVariable(neededSecrets(needs));
  const lines = wanted.map(({ variable, what }) => `${what}\n    ${variable}`);
  return new CallsheetError(
    'usage',
    `${formatCount(wanted.length, 'secret')} must be supplied, because no snapshot holds ${wanted.length === 1 ? 'it' : 'them'}:${formatLines(lines, '; --dry-run --format json lists them all')}`,
    {
      hint: 'Nothing was written. Set those variables, or give a file with --secrets. To restore everything else: --without-secrets.',
    },
  );
}

type Restored = {
  readonly holding: Holding;
  readonly choice: Choice;
  readonly addresses: ReadonlyMap<Held, Address>;
  /** The file that it remembers in what it made. */
  readonly state: string;
};

/**
 * Secrets of what was there already and is not the resource of the snapshot itself, which has those that it had: the
 * platform returns none, so nothing can be said of them.
 */
export function unknownSecrets(
  { changes }: PlanDocument,
  { addresses, isSameAccount }: { readonly isSameAccount: boolean } & Pick<Restored, 'addresses'>,
): readonly Exception[] {
  const ids = new Map([...addresses].map(([held, address]) => [address, held.id]));
  return changes.flatMap(({ address, id, fields }) => {
    if (isSameAccount && ids.get(address) === id) return [];
    const paths = fields.filter(({ cause }) => cause === 'unknown_secret').map(({ path }) => path);
    if (paths.length === 0) return [];
    const message = `${paths.join(', ')}: there already; secrets cannot be compared, so it will not be changed`;
    return [{ what: 'secret' as const, address, message }];
  });
}

/** Lists what no restoration brings back, and what was not chosen. */
function listEndings({ choice, addresses }: Restored): readonly Exception[] {
  const kinds = new Set([...addresses.keys()].map(({ kind }) => kind));
  const withHistory = [...kinds].filter((kind) => kindNamed(kind).history !== undefined);
  const never = (message: string): Exception => ({ what: 'never', address: null, message });
  return [
    ...withHistory.map((kind) =>
      never(`history, call logs and metrics of ${kindTitle(kind)} start empty for new resources`),
    ),
    never(
      'ids, versions, timestamps and values that the platform sets itself (tests of MCP connections, business listings) are new for new resources',
    ),
    ...(choice.others === 0
      ? []
      : [
          never(
            `${formatCount(choice.others, 'resource')} of the snapshot ${choice.others === 1 ? 'was' : 'were'} not asked for`,
          ),
        ]),
  ];
}

/** Findings from before the first round, and the runs; carried from round to round. */
export type Progress = Pick<RestorationSummary, 'exceptions' | 'collisions' | 'secrets'> & {
  readonly runs: string[];
};

/** Builds the document from which text and JSON output are made. */
export function buildSummary(
  status: RestorationSummary['status'],
  { plan, proof, exceptions, deferred }: Overview,
  progress: Progress & { readonly unproven: ReadonlySet<Address> },
  platform: RestorationSummary['platform'],
  restored: Restored,
  stack: RestorationSummary['stack'],
): RestorationSummary {
  const { holding, choice, state } = restored;
  const changes = plan.changes.filter(({ action }) => action !== 'adopt');
  const named = new Set(plan.changes.map(({ address }) => address));
  return {
    format: 'callsheet-restoration',
    version: 1,
    status,
    snapshot: {
      file: holding.file,
      made_at: holding.header.made_at,
      sha256: holding.sha256,
    },
    platform,
    mapped: Object.fromEntries(choice.places),
    state,
    stack,
    runs: progress.runs,
    remaining: [
      ...changes.map(({ address, action, verdict, reason, fields }) => ({
        address,
        action,
        verdict,
        reason,
        paths: action === 'create' ? [] : fields.map(({ path }) => path),
      })),
      // A resource that was made, and whose parts were to follow.
      ...[...deferred]
        .filter(([address]) => !named.has(address))
        .map(([address, paths]) => ({
          address,
          action: 'update',
          verdict: 'ok',
          reason: 'written once the resource exists',
          paths: [...paths],
        })),
      // The platform may have set a value by itself, which only the next round would change.
      ...(status !== 'interrupted' ? [] : [...progress.unproven])
        .filter((address) => !named.has(address) && !deferred.has(address))
        .map((address) => ({
          address,
          action: 'update',
          verdict: 'ok',
          reason: 'written, but not all of it may be as it was sent; the next round looks at it',
          paths: [],
        })),
    ],
    proof: status === 'done' ? proof : null,
    collisions: progress.collisions,
    secrets: progress.secrets,
    exceptions: [...exceptions, ...holding.gaps, ...progress.exceptions, ...listEndings(restored)],
  };
}
