import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { migrate, mv, rm } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { State } from '../../src/state/model.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { isTorture, longRows } from '../long.ts';
import { began, deadPid, holder } from '../state/sample.ts';
import { temporaryFolder } from '../temporary.ts';
import {
  envBetween,
  mortalStores,
  openAt,
  type Place,
  putStock,
  readStock,
  STORES,
  type Stock,
  servedPlaces,
} from './moving-stage.ts';

/**
 * The stack `north` of four agents and `south` of one, on one platform. The three clinics of the north have secrets, and
 * two runs wrote them. They go south and back, and no request is made for it.
 */
const AGENT = (name: string, greeting: string) => `
  ${name}:
    name: ${name}
    status: active
    system_prompt: You answer the phone.
    greeting_message: ${greeting}
`;
const SECRETS = `    integrations:
      smsProvider: { account_sid: AC01, auth_token: { $secret: env:SMS_TOKEN }, fromNumber: "+15550100" }
`;
const CLINICS = ['clinic_1', 'clinic_2', 'clinic_3'];
const clinics = (greeting: string) =>
  `agents:${CLINICS.map((name) => `${AGENT(name, greeting)}${SECRETS}`).join('')}`;
const settings = (stack: string) => `callsheet: 1
stack: ${stack}
platform: { base_url: "\${var.base_url}" }
variables: { base_url: { env: CALLSHEET_BASE_URL } }
organizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }
organization: harbor
`;

const place = servedPlaces();

/** Both stacks on a platform, applied. `env`: variables of every command. */
async function openStacks(env: Context['env'] = {}) {
  const [first, south] = [temporaryFolder(), temporaryFolder()];
  await writeFile(join(first, 'callsheet.yaml'), settings('north'));
  await writeFile(join(first, 'agents.yaml'), `agents:${AGENT('front', 'Hello')}`);
  await writeFile(join(first, 'clinics.yaml'), clinics('Hello'));
  await writeFile(join(south, 'callsheet.yaml'), settings('south'));
  await writeFile(join(south, 'agents.yaml'), `agents:${AGENT('pier', 'Hello')}`);
  const stage = await openStage({ stack: first, env });
  await stage.apply();
  await stage.write('clinics.yaml', clinics('Good day'));
  await stage.apply();
  const inSouth = { dir: south, format: 'json' as const };
  await stage.run((to) => apply(undefined, { ...inSouth, autoApprove: true }, to));
  /** `state mv --to` from one of the folders. */
  const move = (dir: string, addresses: readonly string[], to: string, options?: Options) =>
    stage.run((context) => mv(addresses, { dir, format: 'json', to }, context), options);
  const planIn = async (dir: string, options?: Options): Promise<PlanDocument> =>
    JSON.parse((await stage.run((to) => plan({ dir, format: 'json' }, to), options)).out);
  return { ...stage, north: stage.folder, south, move, planIn };
}

type Options = NonNullable<Parameters<Stage['run']>[1]>;

const inFolder = (folder: string): Place => ({
  to: join(folder, '.callsheet/state.json'),
  env: {},
});

let stage: Awaited<ReturnType<typeof openStacks>>;
let stocks: { readonly north: Stock; readonly south: Stock };
beforeAll(async () => {
  stage = await openStacks();
  const [north, south] = [inFolder(stage.north), inFolder(stage.south)];
  stocks = { north: await readStock(north), south: await readStock(south) };
}, 60_000);
afterAll(() => stage.close());

/** Everything but what counts writes. */
function told({ state, runs }: Stock) {
  const { serial: _, last_run: __, owner: ___, ...rest } = state ?? { serial: 0 };
  const own = runs.filter(
    ({ entries: [first] }) => first?.type === 'began' && first.purpose !== 'state mv',
  );
  return { ...rest, runs: Object.fromEntries(own.map(({ run, entries }) => [run, entries])) };
}

const addressesIn = ({ state }: Stock) => Object.keys(state?.resources ?? {}).sort();

const PAIRS = STORES.flatMap((from) => STORES.map((to) => [from, to] as const));
/** Each store is left and come to once. */
const isCovering = ([from, to]: (typeof PAIRS)[number]) =>
  (STORES.indexOf(from) + 1) % STORES.length === STORES.indexOf(to);
/** `npm test` dies at some moments of each pair, and at one of each name over all pairs. */
function* taken(moments: readonly string[], pair: number) {
  const names = [...new Set(moments)];
  for (const [at, name] of moments.entries())
    if (isTorture || (moments.indexOf(name) === at && names.indexOf(name) % STORES.length === pair))
      yield at;
}

describe('a migration that is killed anywhere ends in one place once it is run again', () => {
  for (const [pair, [from, to]] of longRows(PAIRS, isCovering).entries())
    test(`from ${from} to ${to}`, async () => {
      const killed = async (at?: number) => {
        const [source, target] = [place(from), place(to)];
        await putStock(source, stocks.north, 'north');
        const before = await readStock(source);
        const { timed, moments, isDead } = mortalStores(at);
        const flags = { dir: stage.folder, format: 'json' as const, to: target.to };
        const act = (options: Options) => stage.run((to) => migrate(flags, to), options);
        const env = envBetween(source, target);
        await act({ env, exit: 'any', outside: { timed } });
        expect(isDead()).toBe(at !== undefined);
        const { out } = await act({ env });
        expect(JSON.parse(out), moments.at(-1)).toMatchObject({ resources: 4, runs: 2 });
        expect(await readStock(target), moments.at(-1)).toEqual(before);
        await expect(readStock(source), moments.at(-1)).rejects.toThrow('was moved to');
        return { moments, source };
      };
      const { moments, source } = await killed();
      expect(moments.length).toBeGreaterThan(6);
      for (const at of taken(moments, pair)) await killed(at);
      const flags = { dir: stage.folder, format: 'text' as const };
      const { err } = await stage.run((to) => plan(flags, to), {
        env: envBetween(source),
        exit: 1,
      });
      expect(err.replaceAll(/\s+/g, ' ')).toContain('was moved to');
    });
});

test('a migration whose target was used since it stopped is refused by name', async () => {
  const [source, target] = [place('file'), place('file')];
  await putStock(source, stocks.north, 'north');
  const { state } = stocks.north;
  if (state === undefined) throw new Error('no state');
  await putStock(target, { ...stocks.north, state: { ...state, serial: 9 } }, 'north');
  const flags = { dir: stage.folder, format: 'text' as const, to: target.to };
  const { err } = await stage.run((to) => migrate(flags, to), { env: envBetween(source), exit: 4 });
  expect(err.replaceAll(/\s+/g, ' ')).toContain('both were used since a migration stopped');
  expect((await readStock(source)).state?.serial).toBe(state.serial);
});

describe('a move between two states that is killed anywhere ends in one right end', () => {
  for (const [pair, [from, to]] of longRows(PAIRS, isCovering).entries())
    test(`from ${from} to ${to}, and back`, async () => {
      const killed = async (at?: number) => {
        const [northern, southern] = [place(from), place(to)];
        await putStock(northern, stocks.north, 'north');
        await putStock(southern, stocks.south, 'south');
        const flags = { dir: stage.folder, format: 'json' as const };
        const take = async (source: Place, target: Place, dir: string) => {
          const { timed, moments, isDead } = mortalStores(at);
          const env = envBetween(source, target);
          const act = (options: Options) =>
            stage.run(
              (to) => mv(['agent.clinic_*'], { ...flags, dir, to: target.to }, to),
              options,
            );
          await act({ env, exit: 'any', outside: { timed } });
          expect(isDead()).toBe(at !== undefined && at < moments.length);
          const { out } = await act({ env });
          expect(JSON.parse(out).ledger, moments.at(-1)).toHaveLength(3);
          return moments;
        };
        const there = await take(northern, southern, stage.folder);
        const [left, taken] = [await readStock(northern), await readStock(southern)];
        expect(addressesIn(left), there.at(-1)).toEqual(['agent.front']);
        expect(addressesIn(taken)).toEqual([
          ...CLINICS.map((name) => `agent.${name}`),
          'agent.pier',
        ]);
        await take(southern, northern, stage.south);
        expect(told(await readStock(northern)), there.at(-1)).toEqual(told(stocks.north));
        expect(addressesIn(await readStock(southern))).toEqual(['agent.pier']);
        return there;
      };
      const moments = await killed();
      expect(moments.length).toBeGreaterThan(20);
      for (const at of taken(moments, pair)) await killed(at);
    });
});

describe('what went to another stack is managed there as it was', () => {
  const KEYS: readonly (readonly [string, Context['env']])[] = [
    ['with a key', {}],
    ['without one', { CALLSHEET_FINGERPRINT_KEY: '' }],
  ];
  for (const [name, env] of KEYS)
    test(name, async () => {
      const { north, south, ...own } = await openStacks(env);
      try {
        const written = own.writes().length;
        const { out } = await own.move(north, ['agent.clinic_*'], south);
        expect(JSON.parse(out)).toMatchObject({ to: { runs: 2 }, serial: 3 });
        await rename(join(north, 'clinics.yaml'), join(south, 'clinics.yaml'));
        for (const dir of [north, south]) expect((await own.planIn(dir)).changes).toEqual([]);
        expect(own.writes()).toHaveLength(written);
        // The fingerprints came along: another token is a change, of these three.
        const rotated = { env: { SMS_TOKEN: 'canary-another-5f1c' } };
        const { changes } = await own.planIn(south, rotated);
        expect(changes.map(({ reason }) => reason)).toEqual(
          CLINICS.map(() => 'secret changed since the last write'),
        );
        // From the next apply on they are those of this state.
        await writeFile(join(south, 'clinics.yaml'), clinics('Good evening'));
        const flags = { dir: south, format: 'json' as const, autoApprove: true };
        await own.run((to) => apply(undefined, flags, to));
        expect((await own.planIn(south)).changes).toEqual([]);
        await own.run((to) => apply(undefined, flags, to));
        const { state } = await readStock({ ...inFolder(south), env });
        expect(JSON.stringify(state)).not.toContain('@[');
        // Both runs are rolled back where the agents are, and leave the others alone.
        await own.run((to) => rollback(flags, to));
        const { runs } = await readStock({ ...inFolder(north), env });
        const greetings = () =>
          [...own.sim.store.agents.values()].map(({ record }) => record.greeting_message).sort();
        expect(greetings()).toEqual([...CLINICS.map(() => 'Good day'), 'Hello', 'Hello']);
        await own.run((to) => rollback({ ...flags, run: runs[1]?.run ?? '' }, to));
        expect(greetings()).toEqual(Array.from({ length: 5 }, () => 'Hello'));
        const { err } = await own.run(
          (to) => rollback({ ...flags, dir: north, run: runs[1]?.run ?? '' }, to),
          { exit: 'any' },
        );
        expect(greetings()).toEqual(Array.from({ length: 5 }, () => 'Hello'));
        expect(err).not.toContain('canary');
      } finally {
        await own.close();
      }
    }, 60_000);
});

test('a stack that has no state yet gets one, and gives it back', async () => {
  const own = await openStacks();
  const { north, move, planIn } = own;
  try {
    const west = temporaryFolder();
    await writeFile(join(west, 'callsheet.yaml'), settings('west'));
    const before = await readStock(inFolder(north));
    await move(north, ['agent.clinic_1', 'agent.clinic_2', 'agent.clinic_3'], west);
    await rename(join(north, 'clinics.yaml'), join(west, 'clinics.yaml'));
    for (const dir of [north, west]) expect((await planIn(dir)).changes).toEqual([]);
    await move(west, ['agent.clinic_*'], north);
    expect(told(await readStock(inFolder(north)))).toEqual(told(before));
    expect(addressesIn(await readStock(inFolder(west)))).toEqual([]);
  } finally {
    await own.close();
  }
}, 60_000);

describe('a move that stopped is named by whatever comes next', () => {
  test('until it is run again nothing else is applied from the state that they leave', async () => {
    const own = await openStacks();
    const { north, south, move, planIn, run } = own;
    try {
      const outside = mortalStores();
      // It is dead when the other state has them and this one still has them, too.
      await move(north, ['agent.clinic_*'], south, { outside: { timed: outside.timed } });
      const at = outside.moments.indexOf('after target commit');
      await move(south, ['agent.clinic_*'], north);
      const { timed } = mortalStores(at);
      await move(north, ['agent.clinic_*'], south, { exit: 'any', outside: { timed } });
      await rename(join(north, 'clinics.yaml'), join(south, 'clinics.yaml'));
      const { settled } = await planIn(north);
      expect(settled?.findings.map(({ address, message }) => [address, message])).toEqual(
        CLINICS.map((name) => [`agent.${name}`, expect.stringContaining('is moving to')]),
      );
      const flags = { dir: north, format: 'text' as const };
      const refused: readonly ((to: Context) => Promise<number>)[] = [
        (to) => apply(undefined, { ...flags, autoApprove: true, allowDelete: true }, to),
        (to) => rm(['agent.front'], flags, to),
        (to) => mv(['agent.front', 'agent.other'], flags, to),
        (to) => mv(['agent.front'], { ...flags, to: south }, to),
        (to) => mv(['agent.clinic_1'], { ...flags, to: south }, to),
      ];
      for (const act of refused) {
        const { err } = await run(act, { exit: 4 });
        expect(err.replaceAll(/\s+/g, ' ')).toMatch(
          /run \S+, which moves agent.clinic_1, .* did not finish/,
        );
        expect(err).toContain('callsheet state mv agent.clinic_1 agent.clinic_2 agent.clinic_3');
      }
      expect((await planIn(south)).changes).toEqual([]);
      await move(north, ['agent.clinic_*'], south);
      for (const dir of [north, south]) expect((await planIn(dir)).changes).toEqual([]);
      // Once more says the same, and writes nothing.
      const before = await readStock(inFolder(north));
      await move(north, ['agent.clinic_*'], south);
      expect(await readStock(inFolder(north))).toEqual(before);
    } finally {
      await own.close();
    }
  }, 60_000);
});

describe('what cannot be moved is refused by name, and nothing is written', () => {
  type Refusal = {
    readonly addresses?: readonly string[];
    /** Makes the place that it is to go to, and names it. */
    readonly to?: (north: string, south: string) => Promise<string> | string;
    readonly exit: number;
    readonly words: string | RegExp;
  };
  const change = async (folder: string, by: (state: State) => State) => {
    const stock = await readStock(inFolder(folder));
    const target = { to: join(temporaryFolder(), 'state.json'), env: {} };
    if (stock.state === undefined) throw new Error('no state');
    await putStock(target, { ...stock, state: by(stock.state) }, 'south');
    return target.to;
  };
  const REFUSALS: { readonly [name: string]: Refusal } = {
    'an address that is not there': {
      addresses: ['agent.clinic_4'],
      exit: 1,
      words: 'the state holds no agent.clinic_4',
    },
    'one of several': {
      addresses: ['agent.clinic_1', 'agent.klinic'],
      exit: 1,
      words: 'the state holds no agent.klinic',
    },
    'an address that the other state has': {
      addresses: ['agent.front'],
      to: (_, south) =>
        change(south, (state) => {
          const [one] = Object.values(state.resources);
          return { ...state, resources: one === undefined ? {} : { 'agent.front': one } };
        }),
      exit: 4,
      words: 'has agent.front already',
    },
    'a resource that the other state has': {
      to: async (north, south) => {
        const { state } = await readStock(inFolder(north));
        const one = state?.resources['agent.clinic_1'];
        if (one === undefined) throw new Error('no clinic');
        return change(south, (own) => ({ ...own, resources: { 'agent.twin': one } }));
      },
      exit: 4,
      words: 'has agent.clinic_1 as agent.twin already',
    },
    'two stacks of one state': {
      to: (north) => north,
      exit: 4,
      words: 'both stacks keep their state at',
    },
    'the same by its place': {
      to: (north) => inFolder(north).to,
      exit: 4,
      words: 'both stacks keep their state at',
    },
    'a copy of the state': {
      to: (north) => change(north, (state) => state),
      exit: 4,
      words: 'is a copy of the state',
    },
    'another account': {
      to: (_, south) => change(south, (state) => ({ ...state, account_id: 'another' })),
      exit: 4,
      words: /belongs to account another, and .* to account e7ac14dd/,
    },
    'a folder that is no stack': {
      to: () => temporaryFolder(),
      exit: 4,
      words: 'is not the folder of a stack',
    },
    'a place without a state': {
      to: () => join(temporaryFolder(), 'none.json'),
      exit: 4,
      words: 'there is no state at',
    },
    'a run that did not finish there': {
      to: async (_, south) => {
        const to = await change(south, (state) => state);
        const store = openAt({ to, env: {} });
        const { state } = await store.load();
        const lease = await store.acquire(holder('r9', deadPid()));
        await lease.append(began('r9', state?.serial, state?.lineage));
        await store.close();
        return to;
      },
      exit: 4,
      words: 'has a run that did not finish',
    },
    'a state that is held': {
      to: async (_, south) => {
        const to = await change(south, (state) => state);
        await openAt({ to, env: {} }).acquire(holder('r9'));
        return to;
      },
      exit: 6,
      words: 'locked',
    },
    'a password on the command line': {
      to: () => 'postgres://u:p4ss@db/x?stack=a',
      exit: 1,
      words: 'contains a password',
    },
  };
  for (const [name, { addresses = ['agent.clinic_*'], to, exit, words }] of Object.entries(
    REFUSALS,
  ))
    test(name, async () => {
      const { north, south } = stage;
      const target = (await to?.(north, south)) ?? south;
      const before = await readStock(inFolder(north));
      const listed = await readdir(join(target, '..')).catch(() => []);
      const flags = { dir: north, format: 'text' as const, to: target };
      const { err } = await stage.run((context) => mv(addresses, flags, context), { exit });
      const said = err.replaceAll(/\s+/g, ' ');
      if (typeof words === 'string') expect(said).toContain(words);
      else expect(said).toMatch(words);
      expect(await readStock(inFolder(north))).toEqual(before);
      expect(await readdir(join(target, '..')).catch(() => [])).toEqual(listed);
    });
});
