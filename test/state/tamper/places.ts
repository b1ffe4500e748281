import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import type { StatePlace } from '../../../src/core/stores.ts';
import { stores } from '../../../src/features/stores/index.ts';
import { openDatabase } from '../../../src/features/stores/postgres/database.ts';
import { openStateStore } from '../../../src/state/open.ts';
import type { StateStore } from '../../../src/state/store.ts';
import {
  PASSWORD as HTTP_PASSWORD,
  startHttpServer,
  USERNAME,
} from '../../features/stores/http-server.ts';
import { admitAll } from '../../features/stores/open-given.ts';
import { PASSWORD as PG_PASSWORD, startPostgres } from '../../features/stores/postgres-server.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from '../../features/stores/s3-server.ts';
import { makeFolder } from '../sample.ts';

/** Stores whose texts a test reads and writes behind their back. */

export type Texts = { readonly state: string; readonly journals: ReadonlyMap<string, string> };

export type Tampered = {
  readonly open: (key?: string) => StateStore;
  readonly read: () => Promise<Texts>;
  readonly write: (texts: Texts) => Promise<void>;
};

export type Servers = Awaited<ReturnType<typeof startServers>>;

export async function startServers() {
  const [http, s3, postgres] = [await startHttpServer(), await startS3(), await startPostgres()];
  return {
    http,
    s3,
    postgres,
    async stop() {
      await Promise.all([http.stop(), s3.stop(), postgres.stop()]);
    },
  };
}

let count = 0;

function opener(place: StatePlace, env: Readonly<Record<string, string>>): Tampered['open'] {
  return (key) =>
    openStateStore(place, {
      features: [stores],
      env: { ...env, ...(key === undefined ? {} : { CALLSHEET_FINGERPRINT_KEY: key }) },
      admit: admitAll,
    });
}

/** An empty place in each store. */
export const PLACES: Readonly<Record<string, (servers: Servers) => Promise<Tampered>>> = {
  async file() {
    const folder = join(await makeFolder(), '.callsheet');
    const at = (name: string) => join(folder, name);
    const journals = async () =>
      (await readdir(at('runs'))).map((name) => ({
        run: name.replace(/(\.open)?\.jsonl$/, ''),
        file: join(at('runs'), name),
      }));
    return {
      open: opener({ file: at('state.json') }, {}),
      async read() {
        const texts = (await journals()).map(
          async ({ run, file }) => [run, await readFile(file, 'utf8')] as const,
        );
        const state = await readFile(at('state.json'), 'utf8');
        return { state, journals: new Map(await Promise.all(texts)) };
      },
      async write(texts) {
        await writeFile(at('state.json'), texts.state);
        for (const { run, file } of await journals())
          await writeFile(file, texts.journals.get(run) ?? '');
      },
    };
  },

  async HTTP({ http }) {
    count += 1;
    const path = `/plain/tampered-${count}`;
    const shelf = http.shelfOf(path);
    const text = (part: Part) =>
      part.text ?? gunzipSync(Buffer.from(part.gz ?? '', 'base64')).toString('utf8');
    return {
      open: opener(
        { http: { address: `${http.origin}${path}` }, by: 'operator' },
        { CALLSHEET_STATE_USERNAME: USERNAME, CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD },
      ),
      read: async () => textsIn(JSON.parse(shelf.text ?? ''), text),
      async write(texts) {
        const document: Document = JSON.parse(shelf.text ?? '');
        const rewritten = ({ run }: Journal) => ({
          run,
          parts: [{ text: texts.journals.get(run) ?? '' }],
        });
        shelf.text = JSON.stringify({
          ...document,
          state: { text: texts.state },
          open: document.open.map(rewritten),
          finished: document.finished.map(rewritten),
        });
      },
    };
  },

  async S3({ s3 }) {
    count += 1;
    const key = `tampered-${count}/state.json`;
    const nameOf = ({ at }: Part) => `${key}.parts/${at}`;
    const read = () => JSON.parse(s3.objects.get(key) ?? '') as Document;
    return {
      open: opener(
        {
          s3: { bucket: BUCKET, key, endpoint: s3.endpoint, region: 'eu-central-1' },
          by: 'operator',
        },
        { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
      ),
      read: async () => textsIn(read(), (part) => s3.objects.get(nameOf(part)) ?? ''),
      async write(texts) {
        const { state, open, finished } = read();
        s3.objects.set(nameOf(state), texts.state);
        for (const { run, parts } of [...open, ...finished])
          for (const [index, part] of parts.entries())
            s3.objects.set(nameOf(part), index === 0 ? (texts.journals.get(run) ?? '') : '');
      },
    };
  },

  async PostgreSQL({ postgres }) {
    count += 1;
    const url = postgres.url();
    const stack = `tampered ${count}`;
    const env = { CALLSHEET_STATE_PASSWORD: PG_PASSWORD };
    const database = await openDatabase(Origin.given(url), env, 30_000);
    onTestFinished(() => database.close());
    const ask = (text: string, ...values: readonly string[]) =>
      database.query(text, [stack, ...values]);
    return {
      open: opener({ postgres: { url, stack }, by: 'operator' }, env),
      async read() {
        const [head] = await ask('select head from callsheet.stack where name = $1');
        const lines = await ask(
          'select line from callsheet.resource where stack = $1 order by address',
        );
        const rows = await ask(
          'select run, text from callsheet.journal where stack = $1 order by part',
        );
        const journals = new Map<string, string>();
        for (const { run, text } of rows)
          journals.set(String(run), `${journals.get(String(run)) ?? ''}${text}`);
        const state = `${head?.head}${lines.map(({ line }) => line).join(',\n')}\n}}\n`;
        return { state, journals };
      },
      async write(texts) {
        const [head = '', rest = ''] = texts.state.split(/(?<="resources":\{\n)/);
        const lines = rest.split('\n').filter((line) => line.startsWith('"'));
        await ask('update callsheet.stack set head = $2 where name = $1', head);
        await ask('delete from callsheet.resource where stack = $1');
        for (const line of lines.map((one) => one.replace(/,$/, ''))) {
          const [address = ''] = Object.keys(JSON.parse(`{${line}}`));
          await ask(
            "insert into callsheet.resource (stack, address, line, kind, id) values ($1, $2, $3, '', '')",
            address,
            line,
          );
        }
        await ask('delete from callsheet.journal where stack = $1');
        for (const [run, text] of texts.journals)
          await ask(
            'insert into callsheet.journal (stack, run, text, id) values ($1, $2, $3, $2)',
            run,
            text,
          );
      },
    };
  },
};

type Part = { readonly text?: string; readonly gz?: string; readonly at?: string };
type Journal = { readonly run: string; readonly parts: readonly Part[] };
type Document = {
  readonly state: Part;
  readonly open: readonly Journal[];
  readonly finished: readonly Journal[];
};

function textsIn({ state, open, finished }: Document, text: (part: Part) => string): Texts {
  const journals = [...open, ...finished].map(
    ({ run, parts }) => [run, parts.map(text).join('')] as const,
  );
  return { state: text(state), journals: new Map(journals) };
}
