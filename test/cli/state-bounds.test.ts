import { open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatEntry, JOURNAL_HEADER } from '../../src/state/journal-text.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { FINGERPRINT_KEY } from '../e2e/clinic.ts';
import * as http from '../features/stores/http-server.ts';
import * as s3 from '../features/stores/s3-server.ts';
import { isTorture } from '../long.ts';
import { began, deep, sealedText } from '../state/sample.ts';
import { openPeaks } from '../torture/peaks.ts';
import { STATE } from './state-stage.ts';

const MB = 1024 * 1024;
const MOST_MEGABYTES = 512;
const RUN = '20300101t000000z-aaaaaa';

const LARGE = 'x'.repeat(140 * MB);
const TEN = gzipSync(Buffer.alloc(10 * MB, 'x'), { level: 9 });

/** A text that is packed in a thousandth of its size. */
function packed(megabytes: number): string {
  return Buffer.concat(Array.from({ length: megabytes / 10 }, () => TEN)).toString('base64');
}

type Document = {
  state: object;
  open: { run: string; parts: object[] }[];
  finished: { run: string; parts: object[] }[];
};

type Row = {
  readonly name: string;
  readonly store: 'file' | 'HTTP' | 'S3';
  /** Changes what is kept. */
  readonly spoil: (kept: Kept) => unknown;
  readonly says: RegExp;
  /** Whether `state repair` can do without it. */
  readonly isRepaired?: boolean;
  readonly isLong?: boolean;
};

type Kept = {
  readonly stage: Stage;
  /** Replaces the document of a store. */
  readonly edit: (change: (document: Document, text: string) => string | undefined) => void;
  readonly read: (key: string) => string;
  readonly write: (key: string, text: string) => void;
};

/** Puts a file with a line of zeros there, which takes no room on the disk. */
async function stretch(path: string, bytes: number): Promise<void> {
  await (await open(path, 'a')).close();
  await truncate(path, bytes);
}

const leafOf = (value: string) => (text: string) => {
  const { checksum: _, ...state } = JSON.parse(text);
  const [[address = '', resource] = []] = Object.entries<Record<string, unknown>>(state.resources);
  const mark = '"HERE"';
  const leaves = { ...(resource?.leaves as object), greeting_message: { value: 'HERE' } };
  const edited = JSON.stringify({
    ...state,
    resources: { ...state.resources, [address]: { ...resource, leaves } },
  });
  return sealedText(edited.replace(mark, value));
};

const ROWS: readonly Row[] = [
  {
    name: 'a part of 2 MB that unpacks to 2 GB',
    store: 'HTTP',
    spoil: ({ edit }) =>
      edit((document) => {
        document.open.push({ run: RUN, parts: [{ gz: packed(2_000) }] });
        return undefined;
      }),
    says: /the journal of run \S+ in http\S+ has a part of more than 48 MB/,
    isRepaired: true,
  },
  {
    name: 'ten parts that unpack to 30 MB each',
    store: 'HTTP',
    spoil: ({ edit }) =>
      edit((document) => {
        const gz = packed(30);
        document.open.push({ run: RUN, parts: Array.from({ length: 10 }, () => ({ gz })) });
        return undefined;
      }),
    says: /has a size of more than 128 MB/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a state of 10,000 levels',
    store: 'HTTP',
    spoil: ({ edit }) =>
      edit((document) => {
        document.state = { text: leafOf(deep(10_000))(Reflect.get(document.state, 'text')) };
        return undefined;
      }),
    says: /the state http\S+ has JSON of more than 128 levels/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a document of 100,000 levels',
    store: 'HTTP',
    spoil: ({ edit }) => edit((_, text) => text.replace('"aside":[]', `"aside":${deep(100_000)}`)),
    says: /the state http\S+ has JSON of more than 128 levels/,
    isRepaired: true,
  },
  {
    name: 'an entry of a journal of 10,000 levels',
    store: 'file',
    spoil: ({ stage }) => {
      const entry = formatEntry({ ...began(RUN), config_digest: 'HERE' });
      const line = entry.replace('"HERE"', deep(10_000));
      return writeFile(
        join(stage.folder, `.callsheet/runs/${RUN}.open.jsonl`),
        `${JOURNAL_HEADER}${line}`,
      );
    },
    says: /line 2 of the journal \S+ has JSON of more than 128 levels/,
    isRepaired: true,
  },
  {
    name: 'a state of 10,000 levels',
    store: 'file',
    async spoil({ stage }) {
      const path = join(stage.folder, STATE);
      await writeFile(path, leafOf(deep(10_000))(await readFile(path, 'utf8')));
    },
    says: /the state \S+ has JSON of more than 128 levels/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a part of 10,000 levels',
    store: 'S3',
    spoil: ({ edit, read, write }) =>
      edit((document) => {
        const part = `.parts/${Reflect.get(document.state, 'at')}`;
        write(part, leafOf(deep(10_000))(read(part)));
        return undefined;
      }),
    says: /the state s3:\S+ has JSON of more than 128 levels/,
    isRepaired: true,
  },
  {
    name: 'a state of 30 million empty objects',
    store: 'file',
    async spoil({ stage }) {
      const path = join(stage.folder, STATE);
      const many = `[{}${',{}'.repeat(30_000_000)}]`;
      await writeFile(path, leafOf(many)(await readFile(path, 'utf8')));
    },
    says: /the state \S+ has more than \S+ values/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a line of 700 MB in the state',
    store: 'file',
    spoil: ({ stage }) => stretch(join(stage.folder, STATE), 700 * MB),
    says: /the state \S+ has a size of more than 128 MB/,
    isRepaired: true,
  },
  {
    name: 'a line of 700 MB in a journal',
    store: 'file',
    spoil: ({ stage }) =>
      stretch(join(stage.folder, `.callsheet/runs/${RUN}.open.jsonl`), 700 * MB),
    says: /runs\/\S+ has a line of more than 128 MB/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a state of 140 MB',
    store: 'S3',
    spoil: ({ edit, write }) =>
      edit((document) => {
        write(`.parts/${Reflect.get(document.state, 'at')}`, LARGE);
        return undefined;
      }),
    says: /the state s3:\S+ has more than 128 MB/,
    isRepaired: true,
    isLong: true,
  },
  {
    name: 'a document of 140 MB',
    store: 'S3',
    spoil: ({ edit }) => edit(() => LARGE),
    says: /the state s3:\S+ has more than 128 MB/,
    isLong: true,
  },
];

let web: Awaited<ReturnType<typeof http.startHttpServer>>;
let bucket: Awaited<ReturnType<typeof s3.startS3>>;
beforeAll(async () => {
  [web, bucket] = await Promise.all([http.startHttpServer(), s3.startS3()]);
});
afterAll(() => Promise.all([web.stop(), bucket.stop()]));

const KEY = 'desk/state.json';
let count = 0;

function placeOf(store: Row['store'], stage: Stage) {
  count += 1;
  const path = `/plain/bounds-${count}`;
  const shelf = web.shelfOf(path);
  const env: Readonly<Record<string, string>> = {
    file: {},
    HTTP: {
      CALLSHEET_STATE: `${web.origin}${path}`,
      CALLSHEET_STATE_USERNAME: http.USERNAME,
      CALLSHEET_STATE_PASSWORD: http.PASSWORD,
    },
    S3: {
      CALLSHEET_STATE: `s3://${s3.BUCKET}/${KEY}?endpoint=${bucket.endpoint}`,
      AWS_ACCESS_KEY_ID: s3.KEY_ID,
      AWS_SECRET_ACCESS_KEY: s3.SECRET,
    },
  }[store];
  if (store === 'S3') bucket.objects.clear();
  const kept: Kept = {
    stage,
    edit(change) {
      const before = (store === 'S3' ? bucket.objects.get(KEY) : shelf.text) ?? '';
      const document: Document = JSON.parse(before);
      const after = change(document, before) ?? JSON.stringify(document);
      if (store === 'S3') bucket.objects.set(KEY, after);
      else shelf.text = after;
    },
    read: (key) => bucket.objects.get(`${KEY}${key}`) ?? '',
    write: (key, text) => bucket.objects.set(`${KEY}${key}`, text),
  };
  return { env, kept };
}

/** What was set aside is too large to be searched for secrets. */
async function discardLarge(folder: string): Promise<void> {
  for (const file of await readdir(folder, { recursive: true })) {
    const path = join(folder, file);
    if ((await stat(path)).size > 100 * MB) await truncate(path, 0);
  }
}

describe('what is beyond a bound is refused with its name, in 512 MB', () => {
  const rows = ROWS.filter(({ isLong }) => isTorture || isLong !== true);
  test.each(rows)('$name ($store)', async ({ store, spoil, says, isRepaired }) => {
    const stage = await openStage();
    try {
      const { env, kept } = placeOf(store, stage);
      await stage.apply({}, { env });
      const writes = stage.writes().length;
      await spoil(kept);
      const { tell, expectBelow } = openPeaks(stage.folder, {
        CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
        CALLSHEET_BASE_URL: stage.sim.url,
        CALLSHEET_CLIENT_ID: stage.sim.clientId,
        CALLSHEET_CLIENT_SECRET: stage.sim.clientSecret,
        ...env,
      });
      for (const command of [['plan'], ['state', 'list'], ['apply', '--auto-approve']]) {
        const { err } = await tell(1, ...command);
        const told = err.replaceAll(/\s+/g, ' ');
        expect(told).toMatch(says);
        expect(told).toMatch(/callsheet state repair/);
        expect(told).not.toMatch(/itself failed/);
      }
      const { err } = await tell(isRepaired ? 0 : 1, 'state', 'repair');
      expect(err).not.toMatch(/itself failed/);
      expectBelow(MOST_MEGABYTES, 'of commands over what is beyond a bound');
      if (isRepaired)
        expect((await stage.plan({}, { env, exit: 'any' })).format).toBe('callsheet-plan');
      await discardLarge(stage.folder);
      expect(stage.writes().length).toBe(writes);
      expect(stage.leaks()).toEqual([]);
    } finally {
      await stage.close();
    }
  });
});
