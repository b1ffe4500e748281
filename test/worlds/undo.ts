import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { apply } from '../../src/console/apply.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Records, recordsOf } from './oracle.ts';
import { actor, seedOf, stackOf } from './play.ts';
import type { Wanted, World } from './world.ts';

/** The kind of each section, and what a record of it is known by. */
const SECTIONS: Readonly<Record<string, { readonly kind: string; readonly key: string }>> = {
  agents: { kind: 'agent', key: 'name' },
  retry_policies: { kind: 'retry_policy', key: 'name' },
  email_templates: { kind: 'email_template', key: 'name' },
  sms_templates: { kind: 'sms_template', key: 'name' },
  custom_voices: { kind: 'custom_voice', key: 'name' },
  sources: { kind: 'knowledge_source', key: 'url' },
};

/** Sections whose records the platform cannot delete: what a run made of them stays. */
const LASTING = ['custom_voices', 'sources'];

/** What the platform itself keeps up to date, and what no snapshot holds. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['id', 'updated_at', 'created_at', 'version', 'last_synced_at', 'is_active', 'status_reason'],
  ...['auth_token', 'password'],
]);

/**
 * Applies one configuration, then another, and rolls that back: the platform is as it was, leaf by leaf, or
 * the rollback says where it is not. Returns how often it had to say so.
 */
export async function playUndo(world: World): Promise<number> {
  // Members that the platform fills in when it is read are not in the store, which is what is compared.
  // Runs follow each other faster here than entries that come late.
  const dialect = {
    inventions: INVENTIONS,
    ...world.dialect,
    nestedDefaults: false,
    historyLagMs: 0,
  };
  const sim = await startSimulator({ seed: seedOf(registered(world)), dialect });
  const phones = agentsIn(world);
  const folder = temporaryFolder();
  const act = actor(sim, folder, 'secret-0');
  const flags = { dir: folder, format: 'json' as const, autoApprove: true };
  const allowed = { allowDelete: true, deleteUsed: true, acceptConflicts: true };
  const run = async (wanted: Wanted, generation: number) => {
    const documents = documentsFor(wanted, generation);
    for (const [file, text] of documents) await writeFile(join(folder, file), text);
    const stack = stackOf(
      withDocuments(withFacets(wanted, generation, phones), [...documents.keys()]),
    );
    await writeFile(join(folder, 'callsheet.yaml'), JSON.stringify(stack));
    const { exit, err, out } = await actor(
      sim,
      folder,
      `secret-${generation}`,
    )((to) => apply(undefined, { ...flags, ...allowed }, to));
    // A configuration without any resource never means that all of them are to go.
    if (exit === 4) return null;
    if (exit !== 0) throw new Error(`the run failed: exit ${exit}\n${err}${out.slice(-2000)}`);
    return JSON.parse(out).run as string | null;
  };
  try {
    await writeFile(join(folder, 'clip.wav'), 'RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');
    const [first, second] = world.steps;
    await run(first?.wanted ?? {}, 0);
    const before = new Map([...seen(recordsOf(sim)), ...documentsIn(sim)]);
    const undone = await run(second?.wanted ?? {}, 1);
    if (undone === null) return 0;
    const since = sim.requests.length;
    const { exit, err, out } = await act((to) => rollback({ ...flags, run: undone }, to));
    const wiped = sim.requests.slice(since).flatMap(({ body }) => wipedIn(body ?? null));
    if (wiped.length > 0) throw new Error(`sent null for ${wiped}\n${err}${out}`);
    if (exit !== 0 && exit !== 3)
      throw new Error(`the rollback failed: exit ${exit}\n${err}${out}`);
    const after = new Map([...seen(recordsOf(sim)), ...documentsIn(sim)]);
    const found = differing(before, after);
    const said = out === '' ? [] : saidIn(JSON.parse(out));
    const unsaid = found.filter((address) => !said.includes(address));
    if (unsaid.length > 0)
      throw new Error(`not as before, and not said:\n${tell(unsaid, before, after)}\n${err}${out}`);
    // Where null is refused, what was set for the first time stays, and that is said.
    if (exit === 3 && world.dialect.nulls !== 'rejected' && !isNamed(out))
      throw new Error(`all of it has an endpoint:\n${err}${out}`);
    if (found.length === 0 && exit === 3 && !isNamed(out))
      throw new Error(`all is as before, and the rollback says otherwise:\n${err}${out}`);
    if (found.length > 0 && exit === 0) throw new Error(`not as before, and exit 0: ${found}`);
    return exit === 3 ? 1 : 0;
  } finally {
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Agents that stand on the platform at first. */
function agentsIn({ live }: World): ReadonlySet<Json | undefined> {
  return new Set(live.agents?.map(({ name }) => name));
}

/** The world with a telephone for each agent in it: an agent that is made later has none (SIP registration). */
function registered(world: World): World {
  const agents = world.live.agents?.map((agent, at) => ({
    ...agent,
    sip_registration_data: {
      sipDomain: 'sip.example.test',
      username: `phone-${at}`,
      password: `phone-password-${at}`,
      proxy: 'proxy.example.test',
      port: 5060,
      transport: 'udp',
      subscribe: false,
      extension: String(100 + at),
      registrationEnabled: at % 2 === 0,
    },
  }));
  return { ...world, live: { ...world.live, agents: agents ?? [] } };
}

/** The payment tool and the telephone of some agents are looked after, on and off, and let go of in between. */
function withFacets(wanted: Wanted, generation: number, phones: ReadonlySet<Json | undefined>) {
  const agents = Object.entries(wanted.agents ?? {}).map(([key, agent], at) => {
    const turn = at + generation;
    const payments = turn % 2 === 0 ? { payments: { tool_enabled: false } } : {};
    const isOwned = phones.has(agent.name) && turn % 3 !== 0;
    const sip = isOwned ? { sip: { registration_enabled: turn % 4 < 2 } } : {};
    return [key, { ...agent, ...payments, ...sip }];
  });
  return { ...wanted, agents: Object.fromEntries(agents) };
}

/** A document for each voice that is wanted, by its file's name: that of `a` is written anew for each run. */
function documentsFor({ custom_voices: voices = {} }: Wanted, generation: number) {
  const texts = Object.keys(voices).map(
    (key) => [`${key}.txt`, `What ${key} says${key === 'a' ? ` in ${generation}` : ''}.`] as const,
  );
  return new Map(texts);
}

function withDocuments(wanted: Wanted, files: readonly string[]): Wanted {
  const documents = files.map((file) => [file.replace('.', '-'), { file }]);
  return { ...wanted, sources: { ...wanted.sources, ...Object.fromEntries(documents) } };
}

/** What each document says, by the address of its source: the newest of a name is the one (decision 5). */
function documentsIn({ store }: Simulator): ReadonlyMap<string, Json> {
  const uploads = [...store.sources.values()].flatMap(({ record, upload }): [string, Json][] => {
    const address = `knowledge_source.base.${String(record.name).replace('.', '-')}`;
    return upload === undefined ? [] : [[address, upload.bytes?.toString() ?? null]];
  });
  return new Map(uploads);
}

const SECRETS = /^(?:auth_token|password|value|Authorization)$/;

/** Secrets that a body has null or nothing for. */
function wipedIn(value: Json): readonly string[] {
  if (isList(value)) return value.flatMap(wipedIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    SECRETS.test(name) && (one === null || one === '') ? [name] : wipedIn(one),
  );
}

type Seen = ReadonlyMap<string, Json>;

function tell(addresses: readonly string[], before: Seen, after: Seen): string {
  const show = (value: Json | undefined) => JSON.stringify(value ?? null);
  return addresses
    .map((one) => `${one}\n  was ${show(before.get(one))}\n  is  ${show(after.get(one))}`)
    .join('\n');
}

type Place = { readonly address: string };
type Receipt = {
  readonly ledger: readonly (Place & { readonly status: string })[];
  readonly verification?: { readonly differs: readonly Place[]; readonly left: readonly Place[] };
};

function saidIn({ ledger, verification }: Receipt): readonly string[] {
  const { differs = [], left = [] } = verification ?? {};
  const failed = ledger.filter(({ status }) => status !== 'done');
  return [...failed, ...differs, ...left].map(({ address }) => address);
}

/** What stays although nothing that is compared here is other than before: secrets, and what is not deleted. */
function isNamed(out: string): boolean {
  const { verification }: Receipt = JSON.parse(out);
  return (verification?.left ?? []).length > 0;
}

/** Records by address, ids of others as their addresses, without what nobody can or need put back. */
function seen(records: Records): Seen {
  const names = new Map<string, string>();
  const all: [string, JsonObject][] = [];
  for (const [section, { kind, key }] of Object.entries(SECTIONS))
    for (const [id, record] of Object.entries(records[section] ?? {})) {
      const address = `${kind}.${record[key]}`;
      names.set(id, address);
      all.push([address, record]);
    }
  const view = (value: Json): Json => {
    if (typeof value === 'string') return (names.get(value) ?? value).replace(/\n$/, '');
    if (isList(value)) return value.map(view);
    if (!isObject(value)) return value;
    const members = Object.entries(value)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, member]) => [name, view(member)] as const)
      .filter(([, member]) => !isNothing(member));
    return Object.fromEntries(members);
  };
  return new Map(all.map(([address, record]) => [address, view(record)]));
}

function isNothing(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  return value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function differing(before: Seen, after: Seen): readonly string[] {
  const lasting = LASTING.map((section) => `${SECTIONS[section]?.kind}.`);
  return [...new Set([...before.keys(), ...after.keys()])].filter((address) => {
    const isLasting = lasting.some((kind) => address.startsWith(kind));
    // A source goes on being ingested by itself; that it is there is all that a run decides.
    if (isLasting && typeof before.get(address) !== 'string')
      return before.has(address) && !after.has(address);
    return !isDeepStrictEqual(before.get(address), after.get(address));
  });
}
