import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { type Stage, staged } from '../apply/stage.ts';
import * as http from '../features/stores/http-server.ts';
import * as s3 from '../features/stores/s3-server.ts';
import { coveringRows } from '../long.ts';
import { stateCommands } from './state-stage.ts';

/** A part of a store's document: what stands there, or where it lies. */
type Part = Record<string, unknown>;
type Document = {
  state: Part;
  open: { run: string; parts: Part[] }[];
  finished: { run: string; parts: Part[] }[];
  aside: { name: string; parts: Part[] }[];
};

/** Every member of a document that names a part. */
const MEMBERS: readonly (readonly [string, (document: Document, part: Part) => void])[] = [
  ['state', (document, part) => Object.assign(document, { state: part })],
  [
    'open',
    (document, part) => document.open.push({ run: '20260101t000000z-aaaaaa', parts: [part] }),
  ],
  ['finished', (document, part) => document.finished[0]?.parts.splice(0, 1, part)],
  ['aside', (document, part) => document.aside.push({ name: 'state.before-r1', parts: [part] })],
];

const UUID = '7b1f2c1e-2f2e-4c11-9d55-0a2f6e1b7c01';
const NAMES = [
  '../../prod/other-stack.json',
  '../../../vault/prod.env',
  '/vault/prod.env',
  `..%2f..%2fvault%2f${UUID}`,
  `${UUID}/../../prod/other-stack.json`,
  `../${UUID}`,
  `${UUID}\n`,
  UUID.toUpperCase(),
  'https://vault.example.test/prod.env',
  '',
];

/** A store whose document somebody else edits. */
type Shop = {
  readonly env: Readonly<Record<string, string>>;
  readonly read: () => string;
  /** Puts the document in the place of the one that is there; what it named is there again. */
  readonly write: (text: string) => void;
  readonly requests: string[];
  /** Whether a request goes to what the state owns. */
  readonly isOwn: (request: string) => boolean;
};

let bucket: Awaited<ReturnType<typeof s3.startS3>>;
let web: Awaited<ReturnType<typeof http.startHttpServer>>;
beforeAll(async () => {
  [bucket, web] = await Promise.all([s3.startS3(), http.startHttpServer()]);
});
afterAll(() => Promise.all([bucket.stop(), web.stop()]));

let count = 0;
const OTHERS = ['prod/other-stack.json', 'teams/prod/other-stack.json', 'vault/prod.env'];

const SHOPS: readonly (readonly [string, () => Shop])[] = [
  [
    'S3',
    () => {
      const key = 'teams/desk/state.json';
      bucket.objects.clear();
      for (const other of OTHERS) bucket.objects.set(other, `canary of ${other}`);
      const kept = new Map<string, string>();
      const own = `/${s3.BUCKET}/${key}`;
      const isPart = new RegExp(`^${own}\\.parts/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);
      return {
        env: {
          CALLSHEET_STATE: `s3://${s3.BUCKET}/${key}?endpoint=${bucket.endpoint}`,
          AWS_ACCESS_KEY_ID: s3.KEY_ID,
          AWS_SECRET_ACCESS_KEY: s3.SECRET,
        },
        read: () => bucket.objects.get(key) ?? '',
        write(text) {
          for (const one of bucket.objects) kept.set(...one);
          for (const one of kept) bucket.objects.set(...one);
          bucket.objects.set(key, text);
        },
        requests: bucket.requests,
        isOwn: (request) => {
          const path = request.replace(/^\w+ /, '');
          return path === own || isPart.test(path);
        },
      };
    },
  ],
  [
    'HTTP',
    () => {
      count += 1;
      const path = `/plain/desk-${count}`;
      const shelf = web.shelfOf(path);
      return {
        env: {
          CALLSHEET_STATE: `${web.origin}${path}`,
          CALLSHEET_STATE_USERNAME: http.USERNAME,
          CALLSHEET_STATE_PASSWORD: http.PASSWORD,
        },
        read: () => shelf.text ?? '',
        write: (text) => {
          shelf.text = text;
        },
        requests: web.requests,
        isOwn: (request) => new URL(request.replace(/^\w+ /, ''), web.origin).pathname === path,
      };
    },
  ],
];

type Env = Shop['env'];
type Command = (stage: Stage, env: Env) => Promise<{ readonly err: string }>;
const COMMANDS: readonly (readonly [string, Command])[] = [
  [
    'plan',
    ({ folder, run }, env) =>
      run((to) => plan({ dir: folder, format: 'text' }, to), { env, exit: 1 }),
  ],
  [
    'apply',
    ({ folder, run }, env) =>
      run((to) => apply(undefined, { dir: folder, format: 'text', autoApprove: true }, to), {
        env,
        exit: 1,
      }),
  ],
  ['state list', (stage, env) => stateCommands(stage, 'text').list([], { env, exit: 1 })],
  [
    'state migrate',
    (stage, env) => stateCommands(stage, 'text').migrate('moved.json', { env, exit: 1 }),
  ],
  [
    'state push',
    (stage, env) => stateCommands(stage, 'text').push('good.json', false, { env, exit: 1 }),
  ],
];

describe('a part that Callsheet gave no name is neither read nor removed', () => {
  const rows = SHOPS.flatMap(([where, open]) =>
    MEMBERS.map(([member, spoil]) => ({ where, open, member, spoil })),
  );
  for (const { where, open, member, spoil } of coveringRows(rows, (row) => [row.where, row.member]))
    staged(`${member} in ${where}`, async (stage) => {
      const { env, read, write, requests, isOwn } = open();
      await stage.apply({}, { env });
      const good = (await stateCommands(stage).pull({ env })).out;
      await writeFile(join(stage.folder, 'good.json'), good);
      const sound = read();
      const before = stage.writes().length;
      requests.length = 0;
      const spoilt = (name: string) => {
        const document = JSON.parse(sound);
        spoil(document, { at: name });
        write(JSON.stringify(document));
      };
      for (const [index, name] of NAMES.entries()) {
        // All commands for the first names, and one of them for each other.
        const some = COMMANDS.filter((_, at) => index < 2 || at === index % COMMANDS.length);
        for (const [command, run] of some) {
          spoilt(name);
          const { err } = await run(stage, env);
          const told = err.replaceAll(/\s+/g, ' ');
          expect(told, command).toContain(env.CALLSHEET_STATE?.replace(/\?.*/, '') ?? 'none');
          expect(told, command).toContain(
            `names ${JSON.stringify(name)} as a part of`.replaceAll(/\s+/g, ' '),
          );
          expect(told, command).toContain('callsheet state repair');
        }
      }
      for (const name of NAMES.slice(0, 2)) {
        for (const overwrite of [false, true]) {
          spoilt(name);
          const { repair, push } = stateCommands(stage);
          await (overwrite ? push('good.json', true, { env }) : repair({ env }));
          // The plan is empty again, and nothing but the rest that was set aside shows what was there.
          expect((await stage.plan({}, { env })).changes).toEqual([]);
          if (where === 'HTTP') expect(read()).not.toContain(`{"at":`);
        }
      }
      expect(requests.filter((request) => !isOwn(request))).toEqual([]);
      expect(stage.writes().length).toBe(before);
      if (where === 'S3')
        for (const other of OTHERS) {
          expect(bucket.objects.get(other)).toBe(`canary of ${other}`);
          expect(
            [...bucket.objects.values()].filter((text) => text.includes(`canary of ${other}`)),
          ).toHaveLength(1);
        }
    });
});
