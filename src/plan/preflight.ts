import type { DesiredResource } from '../core/desired.ts';
import type { Change, Note } from '../core/plan-document.ts';
import type { ValueObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import { type Demand, demandsOf, type Writing } from './demands.ts';
import {
  type Findings,
  judge,
  judgeOperation,
  type PreflightContext,
  type Subject,
} from './judge.ts';
import { listKnown } from './listed.ts';
import { scopeOf } from './natural-key.ts';
import { writesOf } from './operations.ts';
import type { Whose } from './refusals.ts';

export type { PreflightContext } from './judge.ts';

/** Whose the resources of a stack are. `organization`: that of resources which name none. */
export function ownersOf(
  desired: readonly DesiredResource[],
  organization?: string,
): Pick<PreflightContext, 'ownerOf' | 'likelyOwner'> {
  const owners = new Map(
    desired.flatMap(({ address, document }) => {
      const owner = ownerIn(document);
      return owner === undefined ? [] : [[address, owner] as const];
    }),
  );
  const [first, ...others] = new Set(owners.values());
  return {
    ownerOf: (address) => owners.get(address),
    likelyOwner: organization ?? (others.length === 0 ? first : undefined),
  };
}

/** Gives a change that the platform would refuse its verdict, with every reason (DESIGN §4.7). */
export async function preflight(
  change: Change,
  writing: Omit<Writing, 'kind' | 'operations'>,
  context: PreflightContext,
): Promise<{ readonly change: Change; readonly notes: readonly Note[] }> {
  if (change.verdict !== 'ok') return { change, notes: [] };
  const { refusals, notes } = await findRefusals(change, writing, context);
  if (refusals.length === 0) return { change, notes };
  const reason = `${refusals.join('; ')} (${change.reason})`;
  return { change: { ...change, verdict: 'refused', reason }, notes };
}

/** What the platform objects to, and where. `path` is null where that is the resource itself. */
export type Barred = { readonly path: string | null; readonly why: string };

/** Asks the platform what it would object to in a change. A change that needs nothing asks nothing. */
export async function findRefusals(
  change: Change,
  written: Omit<Writing, 'kind' | 'operations'>,
  context: PreflightContext,
): Promise<Findings & { readonly barred: readonly Barred[] }> {
  const kind = kindNamed(change.kind);
  const writing: Writing = { ...written, kind, operations: change.operations };
  const demands = demandsOf(writing);
  const id = demands.length === 0 ? null : await organizationOf(writing, context);
  const subject: Subject = { ...context, change, organization: id, whose: whoseOf(id, context) };
  const calls = await Promise.all(
    writesOf(change, kind).map((operation) => judgeOperation(operation, subject)),
  );
  const rights = await judgeAll(demands.filter(isRight), subject);
  const locked = new Set(rights.flatMap(({ path, refusals }) => (refusals.length ? [path] : [])));
  // What a lock bars is told by the lock: that a catalogue leaves it out too says nothing more.
  const rest = demands.filter((demand) => !isRight(demand) && !locked.has(demand.path));
  const found = [
    ...calls.map((finding) => ({ path: null, ...finding })),
    ...rights,
    ...(await judgeAll(rest, subject)),
  ];
  return {
    barred: found.flatMap(({ path, refusals: reasons }) => reasons.map((why) => ({ path, why }))),
    refusals: [...new Set(found.flatMap(({ refusals }) => refusals))],
    notes: found.flatMap(({ notes }) => notes),
  };
}

function judgeAll(
  demands: readonly Demand[],
  subject: Subject,
): Promise<readonly (Findings & Pick<Demand, 'path'>)[]> {
  return Promise.all(
    demands.map(async (demand) => ({ path: demand.path, ...(await judge(demand, subject)) })),
  );
}

function isRight({ type }: Demand): boolean {
  return type === 'feature' || type === 'feature_of_id';
}

function whoseOf(id: string | null, { organizations }: PreflightContext): Whose {
  return { organization: id === null ? undefined : (organizations[id] ?? id) };
}

/**
 * Whose a resource will be: one may move to another organization. What does not say whose it is belongs to
 * whom its neighbours in the list belong to, and where it has none, to the stack's organization.
 */
async function organizationOf(
  { kind, document, live }: Writing,
  { reader, likelyOwner }: PreflightContext,
): Promise<string | null> {
  const own = ownerIn(document) ?? ownerIn(live);
  if (own !== undefined) return own;
  const listed = await listKnown(reader, kind, scopeOf(kind, document));
  const isOwned = Object.hasOwn(kind.schema.properties ?? {}, 'organization_id');
  if (isOwned && listed?.length === 0) return likelyOwner ?? null;
  return listed?.map(({ record }) => ownerIn(record)).find((owner) => owner !== undefined) ?? null;
}

function ownerIn({ organization_id: owner }: ValueObject): string | undefined {
  return typeof owner === 'string' ? owner : undefined;
}

/** The same is not said twice of what many changes asked. */
export function distinctNotes(notes: readonly Note[]): readonly Note[] {
  return [...new Map(notes.map((note) => [`${note.address} ${note.message}`, note])).values()];
}
