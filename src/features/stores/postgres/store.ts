import { hash, randomUUID } from 'node:crypto';
import { checkSize } from '../../../core/bounds.ts';
import { MOST_READ_BYTES, within } from '../../../state/bounds.ts';
import { refuseNewer } from '../../../state/failures.ts';
import { linesIn, readLine } from '../../../state/journal-text.ts';
import { type LockRecord, parseLockRecord, RELEASED, TIMING } from '../../../state/lock.ts';
import { isRecord, type State } from '../../../state/model.ts';
import { END_LENGTH, type EndsByRun } from '../../../state/runs.ts';
import { NO_SEALS, type Seals } from '../../../state/seal.ts';
import { isAtLeast, piecesOfState, readHead } from '../../../state/state-text.ts';
import type { Claim, Overlap } from '../../../state/store.ts';
import { type Retries, takenByOthers } from '../remote/failures.ts';
import type { Change, Kept, Remote } from '../remote/store.ts';
import { type Database, type Query, type Row, type Value, worded } from './database.ts';

const SEPARATOR = ',\n';
const END = '\n}}\n';

/** Digests of the rows of a state, by the head that they go with. */
type Known = { readonly head: string; readonly sums: ReadonlyMap<string, string> };

/**
 * A database that keeps many states, each under a name. A state is the lines of its text, one row each, so that a
 * commit writes the rows that changed. Every write locks the row of its stack and asks it for the lease.
 */
export function postgresRemote(
  database: Database,
  stack: string,
  location: string,
  { again }: Retries,
  seals: Seals = NO_SEALS,
): Remote {
  let known: Known | undefined;
  /** The version of the tables, once they are there. */
  let version: number | undefined;

  async function attempt<T>(what: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw worded(error, what, location);
    }
  }

  /** Reads what may be read twice; `none` where there are no tables yet. */
  const reading = <T>(none: T, work: () => Promise<T>): Promise<T> =>
    again(() =>
      attempt('read', async () => {
        version ??= await readVersion(database.query, location);
        return version === undefined ? none : work();
      }),
    );

  /** Selects as of one moment, in one statement that asks for the version of the tables as well. */
  async function select(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const rows = await database.query(
      // Once: a state may have a million rows.
      `select case when row_number() over () = 1 then to_jsonb(v) end as version, q.*
         from callsheet.version v
         left join (select true as is_row, * from (${text}) as wanted) as q on true`,
      values,
    );
    version = versionIn(rows.find((row) => row.version !== null)?.version, location);
    return rows.filter((row) => row.is_row === true);
  }

  /** The same of rows that are a part of a state. Throws `BeyondBounds` before more of them are sent than are taken. */
  async function selectBounded(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const most = `$${values.length + 1}::bigint`;
    const rows = await select(
      `with found as materialized (${text}),
         size as (select coalesce(sum(octet_length(text)), 0) as bytes from found)
       select found.* from found, size where bytes <= ${most}
       union all
       select 'size', null, null, 0 from size where bytes > ${most}`,
      [...values, MOST_READ_BYTES],
    );
    if (rows.some(({ what }) => what === 'size'))
      within(
        `the state ${location}`,
        () => checkSize(MOST_READ_BYTES + 1, MOST_READ_BYTES, 'a size'),
        'Put a backup of the database back, or delete the rows of callsheet.run that no run needs any more.',
      );
    return rows;
  }

  /** Writes what may be written twice. */
  const writing = <T>(work: () => Promise<T>): Promise<T> => again(() => attempt('write', work));

  /** Every part of it may be done twice; what is appended is known by its id. */
  async function write(lease: string, change: Change, id: string): Promise<boolean> {
    const { append, state, beat: _, ...others } = change;
    const isPlain = state === undefined && Object.values(others).every((list) => list.length === 0);
    if (isPlain && append !== undefined && append.isWhole !== true)
      return appendTo(database.query, lease, { ...append, id });
    // Done before the transaction begins: a database gives up on one that stands still.
    const rows = state && prepareRows(state, [...(await piecesOfState(state, seals))]);
    const next = await database.transaction('write', async (query) => {
      const [row] = await query(
        'select head from callsheet.stack where name = $1 and lease = $2 for update',
        [stack, lease],
      );
      if (row === undefined) return 'lost';
      if (append?.isWhole === true)
        await query('delete from callsheet.journal where stack = $1 and run = $2', [
          stack,
          append.run,
        ]);
      if (append !== undefined) await appendTo(query, lease, { ...append, id });
      await moveJournals(query, others);
      return rows && (await replaceState(query, rows, row.head));
    });
    if (next === 'lost') return false;
    if (next !== undefined) known = next;
    return true;
  }

  /** One statement, as it is what a run waits for before each request. What is there under the id stays as it is. */
  async function appendTo(
    query: Query,
    lease: string,
    { run, text, id }: { readonly run: string; readonly text: string; readonly id: string },
  ): Promise<boolean> {
    const rows = await query(
      `with held as (
         select name from callsheet.stack where name = $1 and lease = $2 for update
       ), opened as (
         insert into callsheet.run (stack, run) select name, $3 from held on conflict do nothing
       ), appended as (
         insert into callsheet.journal (stack, run, text, id) select name, $3, $4, $5 from held
         on conflict do nothing
       )
       select name from held`,
      [stack, lease, run, text, id],
    );
    return rows.length > 0;
  }

  async function moveJournals(query: Query, change: Change) {
    const { file = [], drop = [], forget = [], aside = [] } = change;
    if (forget.length > 0)
      await query(
        'delete from callsheet.run where stack = $1 and run = any($2::text[]) and filed',
        [stack, forget],
      );
    if (file.length > 0)
      await query(
        'update callsheet.run set filed = true where stack = $1 and run = any($2::text[])',
        [stack, file],
      );
    if (drop.length > 0)
      await query('delete from callsheet.run where stack = $1 and run = any($2::text[])', [
        stack,
        drop,
      ]);
    for (const { name, pieces } of aside) {
      await query(
        `insert into callsheet.aside (stack, name, text) values ($1, $2, '')
         on conflict (stack, name) do update set text = ''`,
        [stack, name],
      );
      for (const piece of pieces)
        await query('update callsheet.aside set text = text || $3 where stack = $1 and name = $2', [
          stack,
          name,
          piece,
        ]);
    }
  }

  /** Writes what differs from the rows that are there. */
  async function replaceState(
    query: Query,
    { head, lines, sums, resources, manages }: Rows,
    headThere: unknown,
  ): Promise<Known> {
    const before = known?.head === headThere ? known?.sums : undefined;
    const there = before ?? (await readSums(query));
    const changed = [...lines.keys()].filter((address) => sums.get(address) !== there.get(address));
    const gone = [...there.keys()].filter((address) => !sums.has(address));
    if (gone.length > 0)
      await query('delete from callsheet.resource where stack = $1 and address = any($2::text[])', [
        stack,
        gone,
      ]);
    for (const some of inBatches(changed, (address) => lines.get(address)?.length ?? 0))
      await query(
        `insert into callsheet.resource (stack, address, line, kind, id)
         select $1, address, line, kind, id
         from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as new (address, line, kind, id)
         on conflict (stack, address) do update
         set line = excluded.line, kind = excluded.kind, id = excluded.id`,
        [
          stack,
          some,
          some.map((address) => lines.get(address) ?? ''),
          some.map((address) => resources[address]?.kind ?? ''),
          some.map((address) => resources[address]?.id ?? ''),
        ],
      );
    await query(
      `with dropped as (${DROP_CLAIMS})
       update callsheet.stack set head = $2, account = $3 where name = $1`,
      [stack, head, manages],
    );
    return { head, sums };
  }

  async function readSums(query: Query): Promise<ReadonlyMap<string, string>> {
    const rows = await query(
      'select address, md5(line) as sum from callsheet.resource where stack = $1',
      [stack],
    );
    return new Map(rows.map(({ address, sum }) => [String(address), String(sum)] as const));
  }

  /** The state and the journals of open runs. */
  async function readKept(known: string | undefined): Promise<Kept> {
    const rows = await selectBounded(
      `select 'head' as what, null as name, head as text, 0::bigint as part
         from callsheet.stack where name = $1 and head is not null
       union all
       select 'line', r.address, r.line, 0 from callsheet.resource r
         join callsheet.stack s on s.name = r.stack
         where r.stack = $1 and s.head is distinct from $2
       union all
       select 'journal', r.run, j.text, j.part
         from callsheet.run r left join callsheet.journal j on j.stack = r.stack and j.run = r.run
         where r.stack = $1 and not r.filed
       union all
       select 'newest', max(run), null, 0 from callsheet.run where stack = $1 and filed`,
      [stack, known ?? null],
    );
    const of = (what: string) => rows.filter((row) => row.what === what);
    const [head] = of('head');
    const open = new Map<string, string[]>();
    for (const { name, text } of of('journal').toSorted(byPart)) {
      const pieces = open.get(String(name)) ?? [];
      if (text !== null) pieces.push(String(text));
      open.set(String(name), pieces);
    }
    const mark = head && String(head.text);
    return {
      // A head has the checksum of all lines.
      state: mark === undefined ? undefined : mark === known ? 'known' : stateIn(mark, of('line')),
      mark,
      ...newestIn(of('newest')),
      open: [...open].map(([run, pieces]) => ({ run, pieces })),
    };
  }

  function stateIn(head: string, rows: readonly Row[]): readonly string[] {
    const lines = new Map(rows.map(({ name, text }) => [String(name), String(text)] as const));
    const sums = [...lines].map(([address, line]) => [address, hash('md5', line)] as const);
    known = { head, sums: new Map(sums) };
    const sorted = [...lines.keys()].sort().map((address, index) => {
      const line = lines.get(address) ?? '';
      return index === 0 ? line : `${SEPARATOR}${line}`;
    });
    return [head, ...sorted, END];
  }

  return {
    location,
    seals,
    timing: TIMING,
    lockRecord: () =>
      reading<LockRecord | undefined>(undefined, async () => {
        const [row] = await select('select ticket, beat from callsheet.stack where name = $1', [
          stack,
        ]);
        const record = row && parseLockRecord(String(row.ticket));
        return record && { ...record, beat: String(row.beat) };
      }),
    read: (_, known) => reading<Kept>({ state: undefined, open: [] }, () => readKept(known)),
    ...(database.traffic && { traffic: database.traffic }),
    acquire: (seen, own) =>
      writing(async () => {
        if (version !== STEPS.length) await migrate(database, location);
        version = STEPS.length;
        const taken = await database.query(
          `insert into callsheet.stack as s (name, id, lease, ticket, beat) values ($1, $2, $2, $3, $4)
           on conflict (name) do update set id = $2, lease = $2, ticket = $3, beat = $4
           where (s.id = $5 and s.beat = $6) or s.id = $2 returning name`,
          [stack, own.id, JSON.stringify(own), own.beat, seen?.id ?? '', seen?.beat ?? ''],
        );
        return taken.length > 0;
      }),
    beat: (lease, beat) =>
      writing(async () => {
        const held = await database.query(
          `update callsheet.stack set beat = $3, lease = case when $4 then null else lease end
           where name = $1 and lease = $2 returning name`,
          [stack, lease, beat, beat === RELEASED],
        );
        return held.length > 0;
      }),
    async overlaps(account, claims) {
      const none: readonly Overlap[] = [];
      return reading(none, () =>
        database.transaction('read', async (query) => {
          const version = (await readVersion(query, location)) ?? 0;
          return version < CLAIMS_SINCE ? none : findOverlaps(query, stack, account, claims);
        }),
      );
    },
    claim: (lease, account, claims) =>
      writing(() =>
        database.transaction('write', (query) =>
          claimAll(query, { stack, lease, account }, claims),
        ),
      ),
    write(lease, change) {
      const id = randomUUID();
      return writing(() => write(lease, change, id));
    },
    keeps: (written) =>
      reading(false, async () => {
        const [row] = await select('select head from callsheet.stack where name = $1', [stack]);
        return isAtLeast(row && (await readHead(linesIn([String(row.head)]))), written);
      }),
    runs: () =>
      reading<readonly string[]>([], async () => {
        const text = 'select run from callsheet.run where stack = $1 and filed';
        return (await select(text, [stack])).map(({ run }) => String(run));
      }),
    ends: (runs) =>
      reading<EndsByRun>(new Map(), async () => {
        const end = (which: 'left' | 'right', order: 'asc' | 'desc') =>
          `(select ${which}(text, ${END_LENGTH}) from callsheet.journal j
             where j.stack = r.stack and j.run = r.run order by part ${order} limit 1)`;
        const rows = await select(
          `select r.run as name, ${end('left', 'asc')} as first, ${end('right', 'desc')} as last
             from callsheet.run r where r.stack = $1 and r.run = any($2::text[])`,
          [stack, runs],
        );
        return new Map(
          rows.map(({ name, first, last }) => [
            String(name),
            { first: String(first), last: String(last) },
          ]),
        );
      }),
    journal: (run) =>
      reading<readonly string[] | undefined>(undefined, async () => {
        const text = `select 'journal' as what, run as name, text, part
          from callsheet.journal where stack = $1 and run = $2`;
        const rows = (await selectBounded(text, [stack, run])).toSorted(byPart);
        return rows.length === 0 ? undefined : rows.map(({ text }) => String(text));
      }),
    close: () => database.close(),
  };
}

function newestIn([row]: readonly Row[]): Pick<Kept, 'newest'> {
  return typeof row?.name === 'string' ? { newest: row.name } : {};
}

/** A state as the rows that it is kept in, by address in their order. */
type Rows = {
  readonly head: string;
  readonly lines: ReadonlyMap<string, string>;
  readonly sums: ReadonlyMap<string, string>;
  readonly resources: State['resources'];
  /** The account whose resources it manages: none where it was moved away. */
  readonly manages: string | null;
};

function prepareRows(
  { resources, account_id: account, moved_to: movedTo }: State,
  [head = '', ...rest]: readonly string[],
): Rows {
  const lines = new Map(
    Object.keys(resources)
      .sort()
      .map((address, index) => [address, toLine(rest[index] ?? '')] as const),
  );
  const sums = new Map([...lines].map(([address, line]) => [address, hash('md5', line)] as const));
  const manages = movedTo === undefined ? (account ?? null) : null;
  return { head, lines, sums, resources, manages };
}

/** Characters of the rows that go into one statement: the time to make it of them is short on a busy machine, too. */
const MOST_AT_ONCE = 4_000_000;

function inBatches(
  addresses: readonly string[],
  getSize: (address: string) => number,
): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let size = Infinity;
  for (const address of addresses) {
    if (size > MOST_AT_ONCE) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)?.push(address);
    size += getSize(address);
  }
  return batches;
}

/** The order in which the pieces of a journal were written. */
function byPart(one: Row, other: Row): number {
  return Number(one.part) - Number(other.part);
}

function toLine(piece: string): string {
  return piece.startsWith(SEPARATOR) ? piece.slice(SEPARATOR.length) : piece;
}

/**
 * Finds which stack of a database manages what. It is known from three places, so that a resource always has its
 * stack:
 *
 * | from                     | what                                                      | until                    |
 * |--------------------------|-----------------------------------------------------------|--------------------------|
 * | the rows of a state      | what a stack manages                                      | a commit lets go of it   |
 * | the claims of a run      | what it is going to write or to take over                 | its commit, or its end   |
 * | the journal of open runs | what it made, by the ids that the platform answered with  | its commit               |
 *
 * Stacks of other accounts do not count, and neither does a state that was moved away.
 */
async function findOverlaps(
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
 * Returns creations of other stacks' runs that are not committed. A large run's journal has tens of thousands of
 * entries, and so many may be claimed: the ids of both are joined, and only the lines that have one of them are sent.
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

/** Waits for other claims of the account, so that of two runs that want the same the second sees the first. */
async function claimAll(
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

/** A run's claims are in the rows of its state by now, or were let go. */
const DROP_CLAIMS = 'delete from callsheet.claim where stack = $1';

/**
 * The tables, step by step: the version of a database is how many steps it has taken. Steps are only ever added.
 *
 * | table      | a row is                                                            |
 * |------------|---------------------------------------------------------------------|
 * | `version`  | the one row that says which step was taken last                     |
 * | `stack`    | a state: who holds it (`lease` is null if it is free), its head     |
 * | `resource` | a resource: its line of the state's text, and what is found by it   |
 * | `run`      | a run, and whether its journal is filed among the finished          |
 * | `journal`  | some lines of a journal, written together, under an id of their own |
 * | `claim`    | what a run is going to write, or to take over                       |
 * | `aside`    | what a repair or a push took the place of                           |
 */
export const STEPS: readonly string[] = [
  `create table callsheet.stack (
     name text primary key,
     id text not null,
     lease text,
     ticket text not null,
     beat text not null,
     head text
   );
   create table callsheet.resource (
     stack text not null references callsheet.stack on delete cascade,
     address text not null,
     line text not null,
     primary key (stack, address)
   );
   create table callsheet.run (
     stack text not null references callsheet.stack on delete cascade,
     run text not null,
     filed boolean not null default false,
     primary key (stack, run)
   );
   create table callsheet.journal (
     stack text not null,
     run text not null,
     part bigint generated always as identity,
     text text not null,
     primary key (stack, run, part),
     foreign key (stack, run) references callsheet.run on delete cascade
   );
   create table callsheet.aside (
     stack text not null references callsheet.stack on delete cascade,
     name text not null,
     text text not null,
     primary key (stack, name)
   )`,
  // Who manages what, so that two stacks do not manage the same. The lines are those of the text of a state.
  `alter table callsheet.stack add column account text;
   alter table callsheet.resource add column kind text, add column id text;
   update callsheet.stack set account = substring(head from '"account_id":"([^"]+)"')
     where head not like '%"moved_to":"%';
   update callsheet.resource set kind = substring(line from '"kind":"([^"]+)"'),
     id = substring(line from '"id":"([^"]+)"');
   create index resource_by_id on callsheet.resource (id);
   create table callsheet.claim (
     stack text not null references callsheet.stack on delete cascade,
     lease text not null,
     account text not null,
     address text not null,
     kind text not null,
     id text not null,
     primary key (stack, kind, id)
   );
   create index claim_by_id on callsheet.claim (id)`,
  // Lines that were sent twice, because the first answer was lost, are there once.
  `alter table callsheet.journal add column id text;
   create unique index journal_by_id on callsheet.journal (stack, run, id)`,
];

/** The version whose tables say who manages what. */
const CLAIMS_SINCE = 2;

const OTHERS = 'the schema callsheet of that database holds tables of another program';

/** Any number will do, as long as every Callsheet takes the same. */
const MIGRATION_LOCK = 7_122_043_351;

/** Returns the version of the tables; undefined where there are none. Throws `NewerDocument` for an unknown version. */
export async function readVersion(
  query: Query,
  location: string,
  steps: readonly string[] = STEPS,
): Promise<number | undefined> {
  // By the catalogue: a name may be resolved by what the connection knew before somebody else made the table.
  const [there] = await query(
    `select exists (select from pg_tables where schemaname = 'callsheet' and tablename = 'version') as there`,
    [],
  );
  if (there?.there !== true) return undefined;
  const [row] = await query('select to_jsonb(v) as row from callsheet.version v', []);
  return versionIn(row?.row, location, steps);
}

/** The version in the row of its table, as JSON: of a table without such a column the bare name would be the whole row. */
function versionIn(row: unknown, location: string, steps: readonly string[] = STEPS): number {
  const version = isRecord(row) ? row.version : undefined;
  if (typeof version !== 'number') throw takenByOthers(location, OTHERS);
  refuseNewer(location, version, steps.length);
  return version;
}

/** Makes the tables, or takes the steps that are missing. Of several at once one does, and the others wait for it. */
export async function migrate(
  database: Database,
  location: string,
  steps: readonly string[] = STEPS,
): Promise<void> {
  if ((await readVersion(database.query, location, steps)) === steps.length) return;
  await database.transaction('write', async (query) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await readVersion(query, location, steps);
    if (version === undefined) {
      const [other] = await query(
        "select tablename from pg_tables where schemaname = 'callsheet' limit 1",
        [],
      );
      if (other !== undefined) throw takenByOthers(location, OTHERS);
      await query('create schema if not exists callsheet', []);
      await query('create table callsheet.version (version integer not null)', []);
      await query('insert into callsheet.version values (0)', []);
    }
    for (const step of steps.slice(version ?? 0))
      for (const statement of step.split(';')) await query(statement, []);
    await query('update callsheet.version set version = $1::int', [steps.length]);
  });
}
