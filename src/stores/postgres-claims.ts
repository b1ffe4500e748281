import type { Claim, Overlap } from '../state/claim.ts';
import { readLine } from '../state/journal-text.ts';
import { isRecord } from '../state/shape.ts';
import type { Query } from './postgres-database.ts';

/**
 * Which stack of a database manages what. It is known from three places, so that there is no moment in which a
 * resource is nobody's:
 *
 * | from                     | what                                                      | until                    |
 * |--------------------------|-----------------------------------------------------------|--------------------------|
 * | the rows of a state      | what a stack manages                                      | a commit lets go of it   |
 * | the claims of a run      | what it is going to write or to take over                 | its commit, or its end   |
 * | the journal of open runs | what it made, by the ids that the platform answered with  | its commit               |
 *
 * Stacks of other accounts do not count, and neither does a state that was moved away.
 */
export async function findOverlaps(
  query: Query,
  stack: string,
  account: string,
  claims: readonly Claim[],
): Promise<readonly Overlap[]> {
  if (claims.length === 0) return [];
  const byIdentity = new Map(claims.map((claim) => [`${claim.kind} ${claim.id}`, claim]));
  const ids = claims.map(({ id }) => id);
  const rows = await query(
    `select s.name as stack, r.address, r.kind, r.id, false as running
       from callsheet.resource r join callsheet.stack s on s.name = r.stack
       where s.account = $2 and s.name <> $1 and r.id = any($3::text[])
     union all
     select s.name, c.address, c.kind, c.id, true
       from callsheet.claim c join callsheet.stack s on s.name = c.stack
       where c.account = $2 and s.name <> $1 and c.id = any($3::text[])
         and (s.lease = c.lease
              or exists (select from callsheet.run r where r.stack = s.name and not r.filed))`,
    [stack, account, ids],
  );
  const found = new Map<string, Overlap>();
  for (const row of [...rows, ...(await madeByOpenRuns(query, stack, claims))]) {
    const claim = byIdentity.get(`${row.kind} ${row.id}`);
    if (claim === undefined || found.has(claim.address)) continue;
    const other = { stack: String(row.stack), address: String(row.address) };
    found.set(claim.address, { ...claim, other, isRunning: row.running === true });
  }
  return claims.flatMap(({ address }) => found.get(address) ?? []);
}

/**
 * What runs of other stacks made and did not commit. A large run's journal has tens of thousands of entries, and so
 * many may be claimed: the ids of both are joined, and only the lines that have one of them are sent.
 */
async function madeByOpenRuns(query: Query, stack: string, claims: readonly Claim[]) {
  const lines = await query(
    `select j.stack, line from callsheet.journal j
       join callsheet.run r on r.stack = j.stack and r.run = j.run
       cross join lateral unnest(string_to_array(j.text, E'\\n')) as line
       cross join lateral regexp_matches(line, '"id":("(?:[^"\\\\]|\\\\.)*")', 'g') as found
       join unnest($2::text[]) as wanted (id) on wanted.id = found[1]
     where not r.filed and j.stack <> $1 and line like '%"type":"resource"%'`,
    [stack, claims.map(({ id }) => JSON.stringify(id))],
  );
  return lines.flatMap(({ stack: other, line }) =>
    madeIn(readLine(String(line))).map((made) => ({ ...made, stack: other })),
  );
}

/** The resource that an entry of a journal recorded. */
function madeIn(entry: unknown) {
  if (!isRecord(entry) || entry.type !== 'resource' || !isRecord(entry.resource)) return [];
  const { address, resource } = entry;
  return [{ address, kind: resource.kind, id: resource.id, running: true }];
}

/** Whoever claims waits for the others of its account, so that of two who want the same the second sees the first. */
export async function claimAll(
  query: Query,
  {
    stack,
    lease,
    account,
  }: { readonly stack: string; readonly lease: string; readonly account: string },
  claims: readonly Claim[],
): Promise<readonly Overlap[] | 'lost'> {
  await query(`select pg_advisory_xact_lock(hashtextextended('callsheet claim ' || $1, 0))`, [
    account,
  ]);
  const [held] = await query(
    'select name from callsheet.stack where name = $1 and lease = $2 for update',
    [stack, lease],
  );
  if (held === undefined) return 'lost';
  const overlaps = await findOverlaps(query, stack, account, claims);
  if (overlaps.length > 0) return overlaps;
  await query(DROP_CLAIMS, [stack]);
  await query(
    `insert into callsheet.claim (stack, lease, account, address, kind, id)
     select $1, $2, $3, address, kind, id
     from unnest($4::text[], $5::text[], $6::text[]) as new (address, kind, id)
     on conflict do nothing`,
    [
      stack,
      lease,
      account,
      claims.map(({ address }) => address),
      claims.map(({ kind }) => kind),
      claims.map(({ id }) => id),
    ],
  );
  return [];
}

/** What a run claimed is in the rows of its state by now, or was let go. */
export const DROP_CLAIMS = 'delete from callsheet.claim where stack = $1';
