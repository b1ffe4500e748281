import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { drift } from '../../../src/cli/commands/drift.ts';
import { rollback } from '../../../src/cli/commands/rollback.ts';
import { repair } from '../../../src/cli/commands/state.ts';
import { apply } from '../../../src/console/apply.ts';
import type { Context } from '../../../src/console/context.ts';
import { reportFailure } from '../../../src/console/events.ts';
import { plan } from '../../../src/console/plan.ts';
import { EXIT } from '../../../src/core/errors.ts';
import type { Task } from '../../../src/features/fleet/queue/enqueue.ts';
import { performTask } from '../../../src/features/fleet/work.ts';
import { watch } from '../../../src/features/watch/watch.ts';
import { kindNamed } from '../../../src/kinds/index.ts';
import { buildPin } from '../../../src/plan/refresh.ts';
import type { Store } from '../../../src/simulator/store.ts';
import { isRecord, type ResourceState } from '../../../src/state/model.ts';
import type { Said } from '../../apply/stage.ts';
import { stateIn } from '../../cli/state-stage.ts';
import { FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { INTERVAL } from '../../features/watch/watching.ts';
import { isTorture } from '../../long.ts';
import { A_WHILE_MS, HARBOR, refreshStage, type Stack } from '../../refresh/stage.ts';
import { type Files, type Forgery, forgeriesOf, INVENTED } from './forgeries.ts';

/**
 * Each forgery of a state and its journals before each command that reads them. With a key it is refused; without one no
 * request changes a resource that the same command did not name as it is called live.
 */

vi.setConfig({ testTimeout: isTorture ? 3_600_000 : 240_000 });

const STRANGER = {
  name: 'Emergency line',
  organization_id: HARBOR,
  greeting_message: 'This is an emergency line',
  created_at: '2026-01-05T09:00:00.000Z',
};

const agent = (name: string, greeting_message: string) => ({
  name,
  greeting_message,
  status: 'active',
  lifecycle: { heal: true },
});
const [ANN, BEN, OLD, CAT] = ['North desk', 'East counter', 'Former lobby', 'Fresh kiosk'];
const gentle = { name: 'Soft redial', rules: {}, on_exhausted: 'end' };
const stackOf = (agents: Stack['agents']): Stack => ({ agents, retry_policies: { gentle } });

const FIRST = {
  ann: { ...agent(ANN, 'Hi'), default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
  ben: agent(BEN, 'Hello'),
  old: agent(OLD, 'Hello'),
};
const ANN_CHANGED = { ...FIRST.ann, greeting_message: 'Good day' };

type Command = (dir: string, to: Context) => Promise<number>;

const text = <F extends object>(dir: string, flags: F = {} as F) => ({
  dir,
  format: 'text' as const,
  ...flags,
});

const COMMANDS: Readonly<Record<string, Command>> = {
  plan: (dir, to) => plan(text(dir), to),
  'plan full': (dir, to) => plan(text(dir, { refresh: 'full' as const }), to),
  drift: (dir, to) => drift(text(dir), to),
  apply: (dir, to) => apply(undefined, text(dir, { autoApprove: true }), to),
  'apply del': (dir, to) =>
    apply(undefined, text(dir, { autoApprove: true, allowDelete: true }), to),
  rollback: (dir, to) => rollback(text(dir, { autoApprove: true }), to),
  'rollback del': (dir, to) => rollback(text(dir, { autoApprove: true, allowDelete: true }), to),
  heal: (dir, to) => watchOnce(dir, to),
  repair: (dir, to) => repair(text(dir), to),
  async worker(dir, to) {
    const task: Task = {
      ...{ stack: '.', command: 'apply', digest: '', flags: '{"autoApprove":true}' },
      ...{ batch: 'b', number: 1, attempts: 1, deaths: 0, seal: null, isSuspect: false },
      ...{ note: null, delays: 0 },
    };
    const { exit, said, document } = await performTask(task, { dir }, to);
    to.terminal.out(`${said}${JSON.stringify(document ?? null)}`);
    return exit;
  },
};

/** One pass of `watch --heal`. */
function watchOnce(dir: string, to: Context): Promise<number> {
  const stop = new AbortController();
  const sleep = async (milliseconds: number) => {
    if (milliseconds >= INTERVAL / 2) stop.abort();
  };
  const listen = { host: '127.0.0.1', port: 0 };
  const flags = { dir, listen, interval: INTERVAL, heal: true, healLimit: 9, log: 'text' } as const;
  return watch(flags, { ...to, stop: stop.signal, pause: { sleep, random: () => 0.5 } });
}

/** What the simulator holds, to be put back. */
function keep(store: Store): () => void {
  const kept = structuredClone(store);
  return () => {
    for (const [name, value] of Object.entries(structuredClone(kept))) {
      const now: unknown = Reflect.get(store, name);
      if (now instanceof Map && value instanceof Map) {
        now.clear();
        for (const [key, one] of value) now.set(key, one);
      } else if (now instanceof Set && value instanceof Set) {
        now.clear();
        for (const one of value) now.add(one);
      } else if (Array.isArray(now) && Array.isArray(value)) now.splice(0, now.length, ...value);
      else Object.assign(Object(now), value);
    }
  };
}

/** What came of a command. */
type Outcome = {
  readonly exit: number;
  readonly said: string;
  readonly writes: readonly Write[];
  /** The agents after it. */
  readonly live: string;
};

type Write = {
  readonly operation: string;
  /** The live name before it; of what the command makes, the name that it gets. */
  readonly name: string;
  readonly isStranger: boolean;
};

/** What there is when somebody writes the state, and which forgeries are tried on it. */
type Scene = {
  readonly name: string;
  readonly isFor: (forgery: Forgery) => boolean;
  readonly isRolledBack?: boolean;
  readonly isProtected?: boolean;
};

const SCENES: readonly Scene[] = [
  { name: 'an edited stack', isFor: () => true },
  { name: 'a run rolled back', isFor: ({ name }) => /holds/.test(name), isRolledBack: true },
  { name: 'a protected agent', isFor: ({ name }) => /protect/.test(name), isProtected: true },
];

const BY_HAND = 'Edited by hand';

/**
 * A stack whose last run changed one agent and made another, of which one agent was edited by hand since, and of which the
 * files have another one no more, beside an agent of somebody else.
 */
async function openScene(key: string | undefined, { isRolledBack, isProtected }: Scene) {
  const seed = { organizations: [{ id: HARBOR, name: 'Harbor' }], agents: [STRANGER] };
  const env = { CALLSHEET_FINGERPRINT_KEY: key };
  const lifecycle = { ...FIRST.old.lifecycle, protect: isProtected === true };
  const first = { ...FIRST, old: { ...FIRST.old, lifecycle } };
  const stage = await refreshStage(stackOf(first), {}, { env, seed });
  const folder = join(stage.folder, '.callsheet');
  const read = (): Files =>
    new Map(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name))
        .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
    );
  function write(files: Files): void {
    rmSync(folder, { recursive: true });
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  }
  await stage.settle();
  const older = read();
  const changed = { ...first, ann: ANN_CHANGED, cat: agent(CAT, 'New here') };
  await stage.configure(stackOf(changed));
  await stage.apply();
  stage.sim.advance(A_WHILE_MS);
  if (isRolledBack) await stage.rollback({ allowDelete: true });
  const { old: _, ...rest } = changed;
  await stage.configure(stackOf(rest));
  stage.alter(BEN, { greeting_message: BY_HAND });
  stage.sim.advance(A_WHILE_MS);

  const { store } = stage.sim;
  const strangers = new Set([stage.record(STRANGER.name).id]);
  const own = (await stateIn(stage)).resources['agent.ben'];
  if (own === undefined) throw new Error('the state has no agent.ben');
  const pinned = (id: string): ResourceState['pin'] => {
    const record = store.agents.get(id)?.record ?? {};
    const live = { id, scope: own.scope, extent: 'whole', document: record, record } as const;
    return { ...buildPin(kindNamed('agent'), live), certain: true };
  };
  const stranger: ResourceState = {
    ...own,
    id: [...strangers][0] ?? '',
    name: STRANGER.name,
    leaves: {
      name: { value: STRANGER.name },
      greeting_message: { value: STRANGER.greeting_message },
    },
    pin: pinned([...strangers][0] ?? ''),
    created_at: String(stage.record(STRANGER.name).created_at),
  };
  const files = read();
  const forged = { files, older, stranger, livePin: pinned(own.id) };
  const restore = keep(store);

  const names = () =>
    new Map<string, string>(
      [
        ...[...store.agents].map(([id, { record }]) => [id, record.name] as const),
        ...[...store.retryPolicies].map(([id, record]) => [id, record.name] as const),
      ].map(([id, name]) => [id, String(name)]),
    );

  /** Runs a command on some files, and puts the platform back after it. */
  async function take(command: Command, on: Files): Promise<Outcome> {
    write(on);
    const before = names();
    stage.sim.forgetRequests();
    let exit = -1;
    const said: Said = await stage.run(
      async (to) => {
        const ended = await command(stage.folder, to).catch((error: unknown) =>
          reportFailure(error, to.terminal, false),
        );
        exit = ended;
        return ended;
      },
      { exit: 'any' },
    );
    const writes = stage.writes().map(({ operation, path, body }): Write => {
      const id = path.split(/[/?]/).find((part) => before.has(part)) ?? '';
      const name = before.get(id) ?? (isRecord(body) ? String(body.name) : operation);
      return { operation, name, isStranger: strangers.has(id) };
    });
    const live = JSON.stringify([...store.agents.values()].map(({ record }) => record));
    if (writes.length > 0) restore();
    return { exit, said: `${said.out}\n${said.err}`.replace(/\s+/g, ' '), writes, live };
  }
  return { forged, take, files };
}

const told = ({ writes }: Outcome) =>
  [...new Set(writes.map(({ operation, name }) => `${operation} ${name}`))].sort().join(', ');

/**
 * Requests that a forgery without a flaw can lead to, under the live name: a deletion that was allowed, and a revert to
 * an entry of the stranger's own history, where state and receipt agree in all that the platform tells.
 */
const ACCEPTED = new Set([
  'apply del: deleteAgent',
  'rollback: revertAgent',
  'rollback del: revertAgent',
]);

/** What is wrong with what came of a command without a key. */
function* wrongUnsealed({ exit, said, writes, live }: Outcome, command: string): Generator<string> {
  const documented: readonly number[] = Object.values(EXIT);
  if (!documented.includes(exit)) yield `ends with ${exit}`;
  if (/Callsheet itself failed|this is a bug/.test(said)) yield `fails itself: ${said.slice(-600)}`;
  if (live.includes(INVENTED)) yield 'writes what was never live';
  if (command === 'plan full' && exit === EXIT.done && !said.includes(BY_HAND))
    yield 'does not show the edit by hand';
  for (const { operation, name, isStranger } of writes) {
    if (!said.includes(name)) yield `${operation} of ${name}, not named`;
    if (isStranger && !ACCEPTED.has(`${command}: ${operation}`))
      yield `${operation} of a stranger's`;
  }
}

/** The same with a key: a forged state is refused; a journal is refused, or is not read. */
function* wrongSealed(
  outcome: Outcome,
  command: string,
  { of }: Forgery,
  plain: Outcome,
): Generator<string> {
  const { exit, said, writes } = outcome;
  yield* wrongUnsealed(outcome, command);
  if (command === 'repair') {
    if (exit !== EXIT.done || writes.length > 0)
      yield `ends with ${exit}: ${told(outcome)} ${said}`;
    return;
  }
  const isRefused =
    (exit === EXIT.error || command === 'heal') &&
    /seal|older copy/.test(said) &&
    said.includes('.callsheet/') &&
    said.includes('callsheet state repair') &&
    writes.length === 0;
  const isUnread = of === 'journal' && exit === plain.exit && told(outcome) === told(plain);
  if (!isRefused && !isUnread)
    yield `is not refused: ${exit} ${told(outcome)} ${said.slice(0, 900)}`;
}

/**
 * Without a key `npm test` takes the rows of the threats before the commands that do most, and before the others in turn;
 * of the generated one in so many, before each command in turn, with a key as well.
 */
const STRIDE = 3;
const MOST = ['plan full', 'apply del', 'rollback del', 'heal'];
const NAMES = Object.keys(COMMANDS);

function isTaken(key: string | undefined, { isNamed }: Forgery, row: number, command: string) {
  if (isTorture) return true;
  const isTurn = NAMES.indexOf(command) === Math.floor(row / STRIDE) % NAMES.length;
  const isMost = isNamed && key === undefined && MOST.includes(command);
  return isMost || (isTurn && (isNamed || row % STRIDE === 0));
}

const ROWS = [undefined, FINGERPRINT_KEY].flatMap((key) =>
  SCENES.map(
    (scene) => [key === undefined ? 'unsealed' : 'sealed', scene.name, scene, key] as const,
  ),
);

test.each(ROWS)(
  '%s, of %s: what is forged is refused, or shown as it is',
  async (how, name, scene, key) => {
    const { forged, take, files } = await openScene(key, scene);
    const plain = new Map<string, Outcome>();
    const print = (line: string) => isTorture && process.stdout.write(`${line}\n`);
    for (const [command, perform] of Object.entries(COMMANDS)) {
      const outcome = await take(perform, files);
      expect([...wrongUnsealed(outcome, command)], command).toEqual([]);
      plain.set(command, outcome);
      print(`${how}, nothing forged, ${command}: exit ${outcome.exit} ${told(outcome)}`);
    }
    const wrong: string[] = [];
    const counts: Record<string, number> = {};
    let rows = 0;
    for (const [row, forgery] of forgeriesOf(forged, scene.isFor).entries()) {
      const cells = new Map<string, string[]>();
      for (const [command, base] of plain) {
        const perform = COMMANDS[command];
        if (perform === undefined || !isTaken(key, forgery, row, command)) continue;
        const outcome = await take(perform, forgery.make(files));
        const found =
          key === undefined
            ? wrongUnsealed(outcome, command)
            : wrongSealed(outcome, command, forgery, base);
        wrong.push(...[...found].map((one) => `${forgery.name} × ${command}: ${one}`));
        const cell = cellOf(outcome, base);
        counts[cell] = (counts[cell] ?? 0) + 1;
        const of = cell === 'other writes' ? `${cell} (${told(outcome) || 'none'})` : cell;
        cells.set(of, [...(cells.get(of) ?? []), command]);
      }
      if (cells.size > 0) rows += 1;
      const words = [...cells].map(([cell, commands]) => `${cell}: ${commands.join(', ')}`);
      print(`${how}, ${forgery.name}\n    ${words.join(' | ')}`);
    }
    const summary = `${how}, ${name}: ${rows} forgeries, ${JSON.stringify(counts)}`;
    print(summary);
    expect(wrong).toEqual([]);
    expect(rows, summary).toBeGreaterThan(0);
  },
);

/** How an outcome differs from what the command does with what Callsheet wrote. */
function cellOf(outcome: Outcome, plain: Outcome) {
  const isHealRefused = /state repair|Nothing is put back|is not put back/.test(outcome.said);
  const isOther = outcome.exit !== EXIT.done && outcome.exit !== plain.exit;
  if (outcome.writes.length === 0 && (isOther || isHealRefused)) return 'refused';
  if (told(outcome) !== told(plain)) return 'other writes';
  return steady(outcome) === steady(plain) ? 'as ever' : 'shown';
}

/** The words of a text without ids, times and numbers, in no order: lines of a run come as requests end. */
function steady({ said }: Outcome): string {
  const words = said.replace(/\S*\d\S*/g, '').split(' ');
  return [...new Set(words)].sort().join(' ');
}
