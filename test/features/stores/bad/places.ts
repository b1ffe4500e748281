import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Origin } from '../../../../src/core/origin.ts';
import { stores } from '../../../../src/features/stores/index.ts';
import { openDatabase } from '../../../../src/features/stores/postgres/database.ts';
import { parsePlace } from '../../../../src/stack/index.ts';
import type { Disk } from '../../../../src/state/file/disk.ts';
import { openStateStore } from '../../../../src/state/open.ts';
import { FINGERPRINT_KEY } from '../../../e2e/clinic.ts';
import { steppedDisk } from '../../../state/breaking.ts';
import { sealed } from '../../../state/sample.ts';
import * as http from '../http-server.ts';
import { admitAll } from '../open-given.ts';
import * as postgres from '../postgres-server.ts';
import * as s3 from '../s3-server.ts';
import { type Door, openDoor } from './door.ts';

/** What can be wrong with a store. */
export type Fault = 'unreachable' | 'slow' | 'page' | 'read-only' | 'full' | 'newer' | 'foreign';

/** A place for a state that can be broken and mended. */
export type BadPlace = {
  /** What messages call it. */
  readonly location: string;
  readonly env: Readonly<Record<string, string>>;
  readonly disk?: Disk;
  readonly credentials: readonly string[];
  readonly break: (fault: Fault) => Promise<void>;
  readonly mend: () => Promise<void>;
  /** The operations that the run which is open wrote down before it asked for them. */
  readonly intended: () => Promise<readonly string[]>;
};

export type StoreName = 'file' | 'HTTP' | 'PostgreSQL' | 'S3';

/** The servers behind the places, one of each for all tests of a file. */
export async function startServers() {
  const [web, bucket, database] = await Promise.all([
    http.startHttpServer(),
    s3.startS3(),
    postgres.startPostgres(),
  ]);
  return {
    web,
    bucket,
    database,
    stop: () => Promise.all([web.stop(), bucket.stop(), database.stop()]),
  };
}
export type Servers = Awaited<ReturnType<typeof startServers>>;

let count = 0;

const SHORT: ReadonlySet<Fault> = new Set(['slow', 'unreachable']);
/** Nobody waits for long for a store that hangs or is away; a busy machine gets its time for the others. */
const patienceFor = (fault: Fault) => ({ CALLSHEET_STATE_TIMEOUT: SHORT.has(fault) ? '2' : '20' });

/** Opens a place of its own. Whoever does closes its door. */
export async function openPlace(name: StoreName, fault: Fault, servers: Servers, folder: string) {
  const patience = patienceFor(fault);
  count += 1;
  const number = count;
  if (name === 'file') return { place: filePlace(folder), close: async () => {} };
  const port = { HTTP: servers.web, S3: servers.bucket, PostgreSQL: servers.database }[name].port;
  const door = await openDoor(port);
  const place =
    name === 'HTTP'
      ? httpPlace(servers, { door, number, patience })
      : name === 'S3'
        ? s3Place(servers, { door, number, patience })
        : await postgresPlace(servers, { door, number, patience });
  return { place, close: door.close };
}

type Way = {
  readonly door: Door;
  readonly number: number;
  readonly patience: Readonly<Record<string, string>>;
};

async function intendedAt(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const store = openStateStore(parsePlace(env.CALLSHEET_STATE ?? '', '/'), {
    features: [stores],
    env: { CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY, ...env },
    admit: admitAll,
  });
  const { pending } = await store.load();
  await store.close();
  return pending.flatMap((entry) => (entry.type === 'intent' ? [entry.operation] : []));
}

/** What the operating system says of a disk that is at fault. */
const CODES = { unreachable: 'ESTALE', 'read-only': 'EROFS', full: 'ENOSPC' } as const;
const LOOKS = new Set(['read', 'look', 'list']);
const NEEDS_NO_ROOM = new Set([...LOOKS, 'rename', 'remove']);

function filePlace(folder: string): BadPlace {
  const path = join(folder, 'kept/state.json');
  const env = { CALLSHEET_STATE: path };
  let code: string | undefined;
  let before: string | undefined;
  const disk = steppedDisk(async ({ name }) => {
    const spared = code === 'ENOSPC' ? NEEDS_NO_ROOM : code === 'EROFS' ? LOOKS : new Set();
    if (code === undefined || spared.has(name)) return;
    throw Object.assign(new Error(code), { code, syscall: 'write', path });
  });
  return {
    location: path,
    env,
    disk,
    credentials: [],
    async break(fault) {
      if (fault === 'newer' || fault === 'foreign') {
        before = await readFile(path, 'utf8');
        await writeFile(path, spoilt(before, fault));
      } else if (fault !== 'slow' && fault !== 'page') code = CODES[fault];
    },
    async mend() {
      code = undefined;
      await mkdir(dirname(path), { recursive: true });
      if (before !== undefined) await writeFile(path, before);
    },
    intended: () => intendedAt(env),
  };
}

const FOREIGN = '{"version":4,"terraform_version":"1.9.0","serial":3,"resources":[]}';

function spoilt(text: string, fault: 'newer' | 'foreign'): string {
  if (fault === 'foreign') return FOREIGN;
  const { checksum: _, ...state } = JSON.parse(text);
  return sealed({ ...state, version: 99 });
}

/** A document that a newer Callsheet wrote, or another program. */
function spoiltDocument(text: string, fault: 'newer' | 'foreign'): string {
  return fault === 'foreign' ? FOREIGN : JSON.stringify({ ...JSON.parse(text), version: 99 });
}

function httpPlace({ web }: Servers, { door, number, patience }: Way): BadPlace {
  const path = `/api/v4/projects/7/terraform/state/bad-${number}`;
  const location = `http://127.0.0.1:${door.port}${path}`;
  const env = {
    ...patience,
    CALLSHEET_STATE: location,
    CALLSHEET_STATE_USERNAME: http.USERNAME,
    CALLSHEET_STATE_PASSWORD: http.PASSWORD,
  };
  const shelf = web.shelfOf(path);
  let before: string | undefined;
  return {
    location,
    env,
    credentials: [http.PASSWORD],
    async break(fault) {
      if (fault === 'unreachable') await door.turn('shut');
      else if (fault === 'slow') await door.turn('silent');
      else if (fault === 'page') await door.turn('page');
      else if (fault === 'read-only')
        shelf.refuses = { status: 403, text: '{"message":"403 Forbidden"}' };
      else if (fault === 'full') shelf.refuses = { status: 507, text: 'Insufficient Storage' };
      else {
        before = shelf.text;
        shelf.text = spoiltDocument(before ?? '', fault);
      }
    },
    async mend() {
      shelf.refuses = undefined;
      if (before !== undefined) shelf.text = before;
      await door.turn('open');
    },
    intended: () => intendedAt(env),
  };
}

function s3Place({ bucket }: Servers, { door, number, patience }: Way): BadPlace {
  const key = `bad/${number}.json`;
  const env = {
    ...patience,
    CALLSHEET_STATE: `s3://${s3.BUCKET}/${key}?endpoint=http://127.0.0.1:${door.port}`,
    AWS_ACCESS_KEY_ID: s3.KEY_ID,
    AWS_SECRET_ACCESS_KEY: s3.SECRET,
  };
  let before: string | undefined;
  const refuse = (status: number, code: string) =>
    bucket.refusals.set(key, { status, code, text: '' });
  return {
    location: `s3://${s3.BUCKET}/${key}`,
    env,
    credentials: [s3.SECRET, s3.KEY_ID],
    async break(fault) {
      if (fault === 'unreachable') await door.turn('shut');
      else if (fault === 'slow') await door.turn('silent');
      else if (fault === 'page') await door.turn('page');
      else if (fault === 'read-only') refuse(403, 'AccessDenied');
      else if (fault === 'full') refuse(507, 'XMinioStorageFull');
      else {
        before = bucket.objects.get(key);
        bucket.objects.set(key, spoiltDocument(before ?? '', fault));
      }
    },
    async mend() {
      bucket.refusals.delete(key);
      if (before !== undefined) bucket.objects.set(key, before);
      await door.turn('open');
    },
    intended: () => intendedAt(env),
  };
}

async function postgresPlace(
  { database }: Servers,
  { door, number, patience }: Way,
): Promise<BadPlace> {
  const name = `bad_${number}`;
  await database.createDatabase(name);
  const address = `127.0.0.1:${door.port}/${name}`;
  const env = {
    ...patience,
    CALLSHEET_STATE: `postgres://${postgres.USER}@${address}?stack=desk`,
    CALLSHEET_STATE_PASSWORD: postgres.PASSWORD,
  };
  const admin = (...texts: readonly string[]) => inDatabase(database.url(name), texts);
  return {
    location: `postgres://${address}#desk`,
    env,
    credentials: [postgres.PASSWORD],
    async break(fault) {
      if (fault === 'unreachable') await door.turn('shut');
      else if (fault === 'slow') await door.turn('silent');
      else if (fault === 'page') await door.turn('page');
      else await admin(...BREAKING[fault](name));
    },
    async mend() {
      await admin(...MENDING(name));
      await door.turn('open');
    },
    intended: () => intendedAt(env),
  };
}

/** A disk is not filled for it: that would fill it for others. The trigger raises what PostgreSQL itself raises. */
function refusing(code: string, message: string): readonly string[] {
  return [
    'create schema if not exists fault',
    `create or replace function fault.refuse() returns trigger language plpgsql as
     $$ begin raise exception '${message}' using errcode = '${code}'; end $$`,
    ...['stack', 'journal'].map(
      (table) =>
        `create trigger refusing before insert or update on callsheet.${table} execute function fault.refuse()`,
    ),
  ];
}

const BREAKING: {
  readonly [F in 'read-only' | 'full' | 'newer' | 'foreign']: (name: string) => readonly string[];
} = {
  // A connection that is open keeps what it began with: the trigger says the same to that.
  'read-only': (name) => [
    `alter database ${name} set default_transaction_read_only = on`,
    'set default_transaction_read_only = off',
    ...refusing('25006', 'cannot execute INSERT in a read-only transaction'),
  ],
  full: () => refusing('53100', 'could not extend file "base/1/2": No space left on device'),
  newer: () => ['update callsheet.version set version = version + 90'],
  foreign: () => [
    'alter schema callsheet rename to hidden',
    'create schema callsheet',
    'create table callsheet.version (id integer, note text)',
  ],
};

const MENDING = (name: string): readonly string[] => [
  'set default_transaction_read_only = off',
  `alter database ${name} reset default_transaction_read_only`,
  'drop schema if exists fault cascade',
  `do $$ begin
     if to_regclass('hidden.version') is not null then
       drop schema callsheet cascade;
       alter schema hidden rename to callsheet;
     end if;
     update callsheet.version set version = version - 90 where version > 90;
   end $$`,
];

async function inDatabase(url: string, texts: readonly string[]): Promise<void> {
  const env = { CALLSHEET_STATE_PASSWORD: postgres.PASSWORD };
  const database = await openDatabase(Origin.given(url), env, 30_000);
  try {
    for (const text of texts) await database.query(text, []);
  } finally {
    await database.close();
  }
}
