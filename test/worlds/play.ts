import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { apply } from '../../src/console/apply.ts';
import type { Context } from '../../src/console/context.ts';
import { onTerminal, reportFailure } from '../../src/console/events.ts';
import { type PlanCommandFlags, plan } from '../../src/console/plan.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import { type SeedDocument, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import { temporaryFolder } from '../temporary.ts';
import { judge, recordsOf } from './oracle.ts';
import { BASE, HARBOR, type Step, type Wanted, type World } from './world.ts';

/** Runs that may fail while things go wrong, and after that is over. */
const RUNS_IN_TROUBLE = 4;
const RUNS_IN_PEACE = 3;

const NOTHING: Wanted = {};

/** Plays a world to its end. Throws where something is not as it must be. Returns the faults that struck. */
export async function play(world: World): Promise<number> {
  const sim = await startSimulator({
    seed: seedOf(world),
    dialect: { inventions: INVENTIONS, ...world.dialect },
  });
  const folder = temporaryFolder();
  let struck = 0;
  /** What the state knows: what is wanted, and what waits to be deleted. */
  let known = NOTHING;
  let since = 0;
  try {
    await writeFile(join(folder, 'clip.wav'), 'RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');
    for (const step of world.steps) {
      if (step.forget) await rm(join(folder, '.callsheet'), { recursive: true, force: true });
      if (step.forget) [known, since] = [NOTHING, step.generation];
      struck += await playStep(step, sim, folder, { known, since });
      known = step.allowDelete ? step.wanted : together(known, step.wanted);
    }
    return struck;
  } finally {
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function playStep(
  step: Step,
  sim: Simulator,
  folder: string,
  state: { readonly known: Wanted; readonly since: number },
): Promise<number> {
  const { wanted, faults, allowDelete, generation } = step;
  edit(step, sim);
  await writeFile(join(folder, 'callsheet.yaml'), JSON.stringify(stackOf(wanted)));
  const secret = `secret-${generation}`;
  const before = recordsOf(sim);
  const act = actor(sim, folder, secret);
  const allowed = { allowDelete, deleteUsed: allowDelete, acceptConflicts: true };
  const flags = { dir: folder, format: 'json' as const, ...allowed };
  // History entries are there by then.
  sim.advance(A_MOMENT_MS);
  if (generation > 0) await agreeOnReading(act, flags);
  const run = () => act((to) => apply(undefined, { ...flags, autoApprove: true }, to));
  const deletesBefore = deletesIn(sim).length;

  sim.faults.add(...faults);
  const spent = () => faults.length - sim.faults.pending();
  for (let at = 0; at < RUNS_IN_TROUBLE; at += 1) if ((await run()).exit === 0) break;
  const struck = spent();
  sim.faults.clear();
  const said: string[] = [];
  for (let at = 0; at < RUNS_IN_PEACE; at += 1) {
    const { exit, err, out } = await run();
    said.push(`exit ${exit}: ${err}${exit === 0 ? '' : out.slice(-2000)}`);
    if (exit === 0) break;
    if (at === RUNS_IN_PEACE - 1) throw new Error(`never ends well:\n${said.join('\n')}`);
  }

  const found = judge({
    before,
    after: recordsOf(sim),
    wanted,
    ...state,
    allowDelete,
    secret,
  });
  if (found.length > 0) throw new Error(found.join('\n'));

  const planned = await act((to) => plan(flags, to));
  if (planned.exit !== 0) throw new Error(`cannot be planned any more:\n${planned.err}`);
  const plannedChanges = (JSON.parse(planned.out) as PlanDocument).changes;
  const changes = plannedChanges.filter(({ verdict }) => allowDelete || verdict !== 'held');
  if (changes.length > 0) {
    const told = changes.map(({ action, address, reason, fields }) =>
      [action, address, reason, ...fields.map(({ path, cause }) => `${path} ${cause}`)].join(' '),
    );
    throw new Error(`the last plan is not empty:\n${told.join('\n')}`);
  }
  if (!allowDelete && deletesIn(sim).length > deletesBefore)
    throw new Error('something was deleted');
  // From now on nothing that nobody touches need be read.
  sim.advance(A_WHILE_MS);
  await run();
  return struck;
}

/** Longer than it takes until no two changes can have one `updated_at`. */
const A_WHILE_MS = 60_000;
const A_MOMENT_MS = 1_000;

/** The plan of a step is the same, whether what did not change since the last one is read or not. */
async function agreeOnReading(
  act: ReturnType<typeof actor>,
  flags: PlanCommandFlags,
): Promise<void> {
  const planned = async (refresh: 'fast' | 'full') => {
    const { out, err } = await act((to) => plan({ ...flags, refresh }, to));
    if (out === '') throw new Error(`cannot be planned (${refresh}):\n${err}`);
    const { digest, notes, changes } = JSON.parse(out) as PlanDocument;
    return { digest, notes, changes };
  };
  const [fast, full] = [await planned('fast'), await planned('full')];
  if (!isDeepStrictEqual(fast, full))
    throw new Error(`fast and full differ:\n${JSON.stringify({ fast, full }, null, 2)}`);
}

function together(known: Wanted, wanted: Wanted): Wanted {
  const sections = new Set([...Object.keys(known), ...Object.keys(wanted)]);
  return Object.fromEntries(
    [...sections].map((section) => [section, { ...known[section], ...wanted[section] }]),
  );
}

function deletesIn({ requests }: Simulator) {
  return requests.filter(({ method }) => method === 'DELETE');
}

function edit({ edits }: Step, sim: Simulator): void {
  for (const [name, patch] of Object.entries(edits))
    for (const [id, { record }] of sim.store.agents) if (record.name === name) sim.edit(id, patch);
}

export function seedOf({ live }: World): SeedDocument {
  return {
    organizations: [{ id: HARBOR, name: 'Harbor' }],
    knowledge_bases: [{ id: BASE, organization_id: HARBOR, name: 'Base' }],
    ...live,
  } as SeedDocument;
}

export function stackOf({ sources = {}, ...sections }: Wanted): JsonObject {
  const filled = Object.entries(sections).filter(([, one]) => Object.keys(one).length > 0);
  return {
    callsheet: 1,
    organization: HARBOR,
    guards: { max_delete: 100, max_change_percent: 100 },
    ...Object.fromEntries(filled),
    knowledge_bases: {
      base: { id: BASE, ...(Object.keys(sources).length > 0 ? { sources } : {}) },
    },
  };
}

type Ended = { readonly exit: number; readonly out: string; readonly err: string };

/** Runs commands in this process. Pauses between tries take no time: the platform's clock moves instead. */
export function actor(sim: Simulator, folder: string, secret: string) {
  return async (command: (context: Context) => Promise<number>): Promise<Ended> => {
    const said = { out: '', err: '' };
    const plain = { width: 80, color: false, verbose: false };
    const context: Context = {
      ...onTerminal({
        out: (text) => {
          said.out += text;
        },
        err: (text) => {
          said.err += `${text}\n`;
        },
        render: plain,
        renderErr: plain,
        wrapsErr: false,
        canAsk: false,
        ask: async () => '',
      }),
      features,
      env: {
        HOME: folder,
        GITHUB_ACTOR: 'somebody',
        GITHUB_SHA: 'abc',
        WORLD_SECRET: secret,
        WORLD_SECRET_AGAIN: secret,
        CALLSHEET_FINGERPRINT_KEY: 'a key for worlds',
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
      },
      now: () => new Date(),
      stop: new AbortController().signal,
      version: '0.0.0',
      pause: { sleep: async (milliseconds) => sim.advance(milliseconds), random: () => 0.5 },
      timeouts: { headers: 600, body: 600 },
    };
    const exit = await command(context).catch((error: unknown) =>
      reportFailure(error, context.terminal, true),
    );
    return { exit, ...said };
  };
}
