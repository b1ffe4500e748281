import type { CommonFlags, Context } from '../../console/context.ts';
import { reportFailure } from '../../console/events.ts';
import { messagesOnly } from '../../console/terminal.ts';
import { type Address, nameInWords } from '../../core/address.ts';
import { CallsheetError, firstLines } from '../../core/errors.ts';
import { placeKey, placeName } from '../../core/stores.ts';
import { getOwn, invert, type Json } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { getNaturalKey } from '../../plan/natural-key.ts';
import { checkBaseUrl } from '../../platform/endpoints.ts';
import { toFailure } from '../../run/document.ts';
import { openStore, readState } from '../../run/session.ts';
import { loadOptions } from '../../run/stack.ts';
import { STACK_FILE, withoutLinks } from '../../stack/folder.ts';
import { loadStack, type Stack } from '../../stack/index.ts';
import { isForgottenBy } from '../../stack/moves.ts';
import type { ResourceState, State } from '../../state/model.ts';
import { type FoundStack, inTree, type TreeRequest } from './request.ts';
import { eachStack, type StackResult } from './run-stack.ts';

/** A claim of one stack that no other may have. */
type Claim = {
  /** Equal for two claims to the same thing. */
  readonly key: string;
  readonly stack: string;
  /** For people: `the agent "Front desk" of organization 3c6e…`. */
  readonly what: string;
  /** Undefined for where the state is kept, which the stack as a whole claims. */
  readonly address: Address | undefined;
  /** `clinics/harbor/agents.yaml:3`, or what else says it. */
  readonly place: string;
  /** True if others may have it, too, as long as each names its live resource. */
  readonly isAdopted: boolean;
  /** True for a name by which the platform is searched, because nothing else identifies the live resource. */
  readonly isSought?: boolean;
  /** True for a name that the stack gives up: until then another stack's search for it finds this stack's resource. */
  readonly isFormer?: boolean;
};

/**
 * Lists the claims of a stack: the place of its state, the ids in its state and in `lifecycle.adopt`, and the names
 * by which its resources are found. A stack that cannot be loaded has none: nothing of it is written either, and its
 * own result says why. `withState` is false where nothing beyond the configuration is to be read.
 */
async function listClaims(
  found: FoundStack,
  flags: Omit<CommonFlags, 'dir'>,
  context: Context,
  withState: boolean,
): Promise<readonly Claim[]> {
  const { stack } = await loadStack({
    ...loadOptions({ ...flags, dir: found.dir }, context),
    secrets: 'skip',
  });
  if (stack === undefined) return [];
  const account = getPlatform(stack, context);
  const state = withState ? await readRecorded(stack, context) : undefined;
  return [
    stateClaim(found, stack),
    ...configuredClaims(found, stack, state, account),
    ...(state === undefined ? [] : recordedClaims(found, stack, state, account)),
  ];
}

/**
 * Returns the platform of a stack, in one spelling of the address: stacks with the same address have the same
 * account. Empty where the address is missing or wrong: then nothing is sent, and only `validate` goes on.
 */
function getPlatform({ platform }: Stack, { env }: Context): string {
  try {
    return checkBaseUrl(env.CALLSHEET_BASE_URL ?? platform.base_url);
  } catch {
    return '';
  }
}

/** The state, where it can be had. Where it cannot, the stack itself stops at it, and says why. */
async function readRecorded(stack: Stack, context: Context): Promise<State | undefined> {
  try {
    const store = openStore(stack, context);
    try {
      return (await readState(store)).state;
    } finally {
      await store.close();
    }
  } catch {
    return undefined;
  }
}

function stateClaim({ path }: FoundStack, { state }: Stack): Claim {
  const what = `the state ${placeName(state)}`;
  const key = `state ${placeKey(state, withoutLinks)}`;
  const place = inTree(path, STACK_FILE);
  return { key, stack: path, what, address: undefined, place, isAdopted: false };
}

function configuredClaims(
  { path }: FoundStack,
  { resources, organizations }: Stack,
  state: State | undefined,
  account: string,
): readonly Claim[] {
  return resources.flatMap(({ address, kind, document, lifecycle, position }) => {
    const { adopt } = lifecycle;
    const file = position === undefined ? path : inTree(path, `${position.file}:${position.line}`);
    const common = { stack: path, address, place: file, isAdopted: adopt !== undefined };
    const isSought = adopt === undefined && state?.resources[address] === undefined;
    const name = getNaturalKey(kindNamed(kind), document);
    return [
      ...(adopt === undefined
        ? []
        : [{ ...common, ...byId(account, kind, adopt), isAdopted: false }]),
      ...(name === undefined
        ? []
        : [{ ...common, isSought, ...byName(account, kind, name, organizations) }]),
    ];
  });
}

/**
 * Claims of the state. The name that was last written counts, too, where the configuration no longer has the resource
 * or has another name for it: another stack that has that name now would take over a resource that this one deletes
 * or renames. Resources that are let go of by `forget` belong to no stack.
 */
function recordedClaims(
  { path }: FoundStack,
  { moves, resources, organizations }: Stack,
  { resources: recorded }: State,
  account: string,
): readonly Claim[] {
  const configured = new Map(resources.map((resource) => [resource.address, resource]));
  const isForgotten = isForgottenBy(moves);
  return Object.entries(recorded).flatMap(([address, resource]) => {
    const kept = configured.get(address);
    const isKept = kept !== undefined;
    if (!isKept && isForgotten(address)) return [];
    const at = kept?.position;
    const place = at === undefined ? `the state of ${path}` : inTree(path, `${at.file}:${at.line}`);
    const common = { stack: path, address, place, isAdopted: false };
    const kind = kindNamed(resource.kind);
    const name = getNaturalKey(kind, rebuildDocument(resource));
    const isSame = isKept && name === getNaturalKey(kind, kept.document);
    return [
      { ...common, ...byId(account, resource.kind, resource.id) },
      ...(name === undefined || isSame
        ? []
        : [
            {
              ...common,
              isFormer: isKept,
              ...byName(account, resource.kind, name, organizations),
            },
          ]),
    ];
  });
}

/** As much of what was written last as stands there in clear, which names are. */
function rebuildDocument({ scope, leaves }: ResourceState): { readonly [field: string]: Json } {
  const values = Object.entries(leaves).flatMap(([path, leaf]) =>
    'value' in leaf ? [[path, leaf.value] as const] : [],
  );
  return { ...Object.fromEntries(values), ...scope };
}

function byId(account: string, kind: string, id: string): Pick<Claim, 'key' | 'what'> {
  return { key: `id ${account} ${kind} ${id}`, what: `the live ${nameInWords(kind)} ${id}` };
}

function byName(
  account: string,
  kind: string,
  name: string,
  organizations: Stack['organizations'],
): Pick<Claim, 'key' | 'what'> {
  const fields: readonly (readonly [string, string])[] = JSON.parse(name);
  const names = invert(organizations);
  const [last, ...others] = fields.toReversed();
  const where = others.map(
    ([field, value]) => `${nameInWords(field)} ${getOwn(names, value) ?? value}`,
  );
  return {
    key: `name ${account} ${kind} ${name}`,
    what: [`the ${nameInWords(kind)} ${JSON.stringify(last?.[1] ?? '')}`, ...where].join(' of '),
  };
}

/** Two stacks that claim the same thing. `own` is the claim of the stack whose error reports the overlap. */
type Overlap = { readonly own: Claim; readonly other: Claim };

/** Finds the overlaps of each stack, by its path; stacks without any are left out. */
function findOverlaps(claims: readonly Claim[]): ReadonlyMap<string, readonly Overlap[]> {
  const overlaps = new Map<string, Overlap[]>();
  for (const group of Map.groupBy(claims, ({ key }) => key).values()) {
    // Resources may share a name where each says which live one it takes over; then the ids tell.
    if (group.length < 2 || group.every(({ isAdopted, isFormer }) => isAdopted || isFormer))
      continue;
    const first = new Map(group.toReversed().map((claim) => [claim.stack, claim]));
    for (const own of first.values()) {
      // The stack that gives a name up may go on: then the other one can, too.
      if (own.isFormer === true) continue;
      const other = [...first.values()].findLast(
        ({ stack, isFormer }) => stack !== own.stack && (isFormer !== true || own.isSought),
      );
      if (other === undefined) continue;
      overlaps.set(own.stack, [...(overlaps.get(own.stack) ?? []), { own, other }]);
    }
  }
  return overlaps;
}

/** More overlaps than this are only counted. */
const MAX_REPORTED = 5;

/** Why a stack is refused, in words: both addresses and where each is written. */
function describeOverlaps(overlaps: readonly Overlap[]): {
  readonly message: string;
  readonly hint: string;
} {
  // The same two resources may meet by id and by name.
  const distinct = [...new Map(overlaps.map((one) => [formatPair(one), one])).values()];
  const lines = firstLines(distinct.map(describe), MAX_REPORTED, ' that both stacks manage');
  const [first] = distinct;
  return { message: lines.join('\n'), hint: hintFor(first) };
}

function formatPair({ own, other }: Overlap): string {
  return JSON.stringify([own.address, other.stack, other.address]);
}

function describe({ own, other }: Overlap): string {
  return own.address === undefined
    ? `the stacks ${own.stack} and ${other.stack} both keep ${own.what} (${own.place}, ${other.place})`
    : other.isFormer === true
      ? `${own.address} (${own.place}) takes the name of ${own.what}, which is ${other.address} of the stack ${other.stack} (${other.place}) until that stack is applied`
      : `${own.address} (${own.place}) and ${other.address} of the stack ${other.stack} (${other.place}) both manage ${own.what}`;
}

function hintFor(overlap: Overlap | undefined): string {
  if (overlap?.own.address === undefined) {
    return 'Each stack needs a state of its own: set another location under state in the callsheet.yaml of one of them.';
  }
  if (overlap.other.isFormer === true) return `Apply the stack ${overlap.other.stack} first.`;
  return 'Only one stack can manage a live resource. Remove it from the other stack, with forget: [ADDRESS] in its callsheet.yaml so that it is not deleted, and apply that stack first.';
}

/** The stacks that are not worked on because they reach for what another one has, by path. */
export type Refusals = ReadonlyMap<string, StackResult>;

/**
 * Looks at all stacks of the tree, whichever of them this job works on, before anything is sent to the platform.
 * `validate` does so without their states, which may lie behind a network; `drift` writes nothing and looks at nothing.
 */
export async function refuseOverlaps(
  { command, flags }: TreeRequest,
  found: readonly FoundStack[],
  context: Context,
): Promise<Refusals> {
  if (command === 'drift' || found.length < 2) return new Map();
  const claims: Claim[] = [];
  await eachStack(
    found,
    { verb: 'Reading the stacks' },
    context,
    (stack) => listClaims(stack, flags, context, command !== 'validate'),
    (own) => void claims.push(...own),
  );
  const overlaps = findOverlaps(claims);
  return new Map(
    [...overlaps].map(([path, own]) => {
      const { message, hint } = describeOverlaps(own);
      const error = new CallsheetError(command === 'validate' ? 'config' : 'refused', message, {
        hint,
      });
      return [path, refusal(path, error, context)];
    }),
  );
}

function refusal(path: string, error: CallsheetError, { terminal }: Context): StackResult {
  const said: string[] = [];
  const exit = reportFailure(error, messagesOnly(terminal, said), false);
  return { path, exit, document: undefined, error: toFailure(error), said: said.join('') };
}
