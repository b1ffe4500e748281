import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { type LoggedRequest, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import { type Records, recordsOf } from './oracle.ts';
import { actor, seedOf, stackOf } from './play.ts';
import type { Wanted, World } from './world.ts';

/**
 * Nothing is written that the plan does not show: from every body that reached the platform, take what the plan's
 * fields say and what was live right before, and nothing may be left. Worked out from the plan's JSON and the
 * request log, and from nothing of `diff/` or `apply/`.
 */

/** What a kind adds to its bodies: it says what is sent, not how it is to be. */
const IMPLIED = [
  'sourcetype',
  'filename',
  'filemime',
  'filesize',
  'contenthash',
  'forcereingest',
  'consent',
];

/** What elements of lists are known by. */
const NAMES = ['connectionName', 'connection_name', 'name', 'key'];

type Sent = { readonly path: readonly string[]; readonly value: Json };

/** Plays the first two steps of a world from plan files. Returns how many bodies were looked at. */
export async function playSent(world: World): Promise<number> {
  // Members that the platform fills in when it is read are not in the store, which is what is compared.
  const sim = await startSimulator({
    seed: seedOf(world),
    dialect: { inventions: INVENTIONS, ...world.dialect, historyLagMs: 0, nestedDefaults: false },
  });
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-sent-'));
  const act = actor(sim, folder, 'secret-0');
  const flags = { dir: folder, format: 'json' as const };
  const allowed = { allowDelete: true, deleteUsed: true, acceptConflicts: true };
  const file = join(folder, 'the.plan');
  let looked = 0;
  const look = async (
    shown: PlanDocument,
    run: () => Promise<{ exit: number; err: string; out: string }>,
  ) => {
    const [before, from] = [recordsOf(sim), sim.requests.length];
    const { exit, err, out } = await run();
    if (![0, 3, 4].includes(exit)) throw new Error(`exit ${exit}\n${err}${out}`);
    const bodies = sim.requests.slice(from).filter(isWrite);
    looked += bodies.length;
    const left = bodies.flatMap((request) => unshown(request, shown, before, sim));
    if (left.length > 0) throw new Error(`sent and not shown:\n${left.join('\n')}\n${out}`);
  };
  try {
    await writeFile(join(folder, 'clip.wav'), 'RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');
    for (const { wanted, generation } of world.steps.slice(0, 2)) {
      const stack = stackOf(withUnchecked(wanted, generation));
      await writeFile(join(folder, 'callsheet.yaml'), JSON.stringify(stack));
      const planned = await act((to) => plan({ ...flags, ...allowed, out: file }, to));
      if (planned.exit !== 0) return looked;
      await look(JSON.parse(planned.out), () => act((to) => apply(file, flags, to)));
    }
    const back = await act((to) => rollback({ ...flags, dryRun: true }, to));
    if (back.exit !== 0) return looked;
    await look(JSON.parse(back.out), () =>
      act((to) => rollback({ ...flags, autoApprove: true }, to)),
    );
    return looked;
  } finally {
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function withUnchecked(wanted: Wanted, generation: number): Wanted {
  const agents = Object.entries(wanted.agents ?? {}).map(([key, agent], at) => [
    key,
    (at + generation) % 2 === 0
      ? agent
      : { ...agent, unchecked: { brandNew: { a: generation, b: at } } },
  ]);
  return { ...wanted, agents: Object.fromEntries(agents) };
}

function isWrite({ method, operation, body }: LoggedRequest): boolean {
  return method !== 'GET' && operation !== 'createToken' && body !== undefined;
}

/** The leaves of a body that neither the plan nor what was live accounts for. */
function unshown(
  { operation, path, body }: LoggedRequest,
  { changes }: PlanDocument,
  before: Records,
  sim: Simulator,
): readonly string[] {
  const id = changes.map((change) => change.id).find((one) => one !== null && path.includes(one));
  const fields = changes
    .filter((change) => (id === undefined ? change.action !== 'update' : change.id === id))
    .flatMap((change) => change.fields.map((field) => ({ ...field, at: fieldPath(field.path) })));
  const live = Object.values(before).flatMap((section) =>
    Object.entries(section).flatMap(([key, record]) =>
      key === id ? [...leaves(record), ...leaves(asRead(record))] : [],
    ),
  );
  return leaves(body ?? null).flatMap(({ path: at, value }) => {
    if (IMPLIED.includes(at[0] ?? '')) return [];
    const isShown = fields.some(
      (field) => isBelow(at, field.at) && isIn(value, field.after, at.slice(field.at.length), sim),
    );
    const isBack = live.some((one) => isSame(one.path, at) && isAlike(one.value, value));
    const isNothing =
      isEmpty(value) && !live.some((one) => isBelow(one.path, at) && !isEmpty(one.value));
    const isGone = isEmpty(value) && fields.some((field) => isBelow(field.at, at));
    return isShown || isBack || isNothing || isGone
      ? []
      : [`${operation} ${at.join('.')} = ${JSON.stringify(value)}`];
  });
}

/** A stored value as reads return it: without the secrets of integrations (Secrets rules). */
function asRead(value: Json): Json {
  if (isList(value)) return value.map(asRead);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => !SECRETS.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, asRead(member)]));
}

const SECRETS: ReadonlySet<string> = new Set(['password', 'auth_token']);

/** `extensions.tools[a].url` as folded steps. */
function fieldPath(text: string): readonly string[] {
  return [...text.matchAll(/\["([^"]*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, quoted, plain, key]) => fold(quoted ?? plain ?? key ?? ''),
  );
}

function leaves(value: Json, path: readonly string[] = []): readonly Sent[] {
  if (isList(value) && value.length > 0 && value.every((one): one is JsonObject => isObject(one)))
    return value.flatMap((one, at) => leaves(one, [...path, fold(nameOf(one) ?? String(at))]));
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, one]) => leaves(one, [...path, fold(name)]));
  return [{ path, value }];
}

function nameOf(element: JsonObject): string | undefined {
  const name = NAMES.map((one) => element[one]).find((one) => typeof one === 'string');
  return typeof name === 'string' ? name : undefined;
}

/** The platform's two spellings of a name. */
function fold(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return above.every((step, at) => path[at] === step);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isBelow(one, other);
}

/** Whether a value is what a field is to be, or a part of it: secrets and references stand for theirs. */
function isIn(value: Json, after: Json, rest: readonly string[], sim: Simulator): boolean {
  if (isObject(after) && '$secret' in after) return value === 'secret-0';
  if (isObject(after) && '$ref' in after)
    return Object.values(recordsOf(sim)).some((section) => Object.hasOwn(section, String(value)));
  // A rollback puts back what its copies keep encrypted: it is shown masked.
  if (after === '(secret)') return value === 'secret-0' || value === 'kept-1' || value === 'kept-2';
  return leaves(after).some((one) => isSame(one.path, rest) && isAlike(one.value, value));
}

function isAlike(one: Json, other: Json): boolean {
  const plain = (value: Json): string =>
    typeof value === 'string'
      ? value.replace(/\n$/, '')
      : JSON.stringify(
          isList(value) ? [...value].map(String).sort() : isEmpty(value) ? null : value,
        );
  return plain(one) === plain(other) || (isEmpty(one) && isEmpty(other));
}

function isEmpty(value: Json): boolean {
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}
