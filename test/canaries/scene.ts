import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import { gitEnv } from '../../src/run/actor.ts';
import { type SeedDocument, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { openCollector } from '../console/monitor/collector.ts';
import { COMMIT } from '../e2e/clinic.ts';
import { EVERYTHING_SEED, WHOLE_VERSION } from '../e2e/everything.ts';
import { runHere } from '../e2e/in-process.ts';
import { temporaryFolder } from '../temporary.ts';
import { type EchoingPlatform, openEcho } from './echo.ts';
import { filesBelow, leaksIn } from './leaks.ts';
import { type Filled, fillSecrets, type Position } from './positions.ts';

const [ORGANIZATION] = EVERYTHING_SEED.organizations ?? [];

const CLIENT_ID = 'watched-client';
const CLIENT_SECRET = 'canary-client-secret-5fd1';
const PBX_KEY = 'canary-pbx-key-77ab';
const FINGERPRINT_KEY = 'canary-fingerprint-key-e201';
const COLLECTOR_KEY = 'canary-collector-key-90c4';
const SNAPSHOT_PASSPHRASE = 'canary-passphrase of snapshots';
export const PROFILE = '5a1c7f6e-0f3a-4f62-8f0a-6f9f5d1f4c01';
export const CLAIM = '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e02';

const SEED: SeedDocument = {
  ...EVERYTHING_SEED,
  keys: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }],
  pbx_api_keys: [PBX_KEY],
  profiles: [{ id: PROFILE, organization_id: ORGANIZATION?.id ?? '' }],
  claims: [{ id: CLAIM, profile_id: PROFILE }],
};

/** Values that are secret wherever they show, beside those of the configuration. */
export const CREDENTIALS = [
  'client secret',
  'access token',
  'PBX key',
  'fingerprint key',
  'collector key',
  'presigned address',
  'header set by somebody else',
  'SIP password',
] as const;

/** Characters that every way of writing a text down writes differently. */
const AWKWARD = '"\\/+&=% ';

/** A secret's value in a generation: those of another differ everywhere. */
function secretValue({ variable }: Position, generation: number): string {
  const name = `canary-${variable.slice(-2)}-${generation}`;
  return `${name}${AWKWARD}tail-of-${name}`;
}

/** What one command came to. */
export type Said = { readonly exit: number; readonly out: string; readonly err: string };

/** A stack with a secret in every position, a platform, and commands of which every byte is searched. */
export type Scene = {
  readonly sim: Simulator;
  readonly platform: EchoingPlatform;
  readonly folder: string;
  /** A folder outside of the stack, which is searched as well. */
  readonly outside: string;
  readonly positions: readonly Position[];
  /** Values of the configuration's secrets now. */
  readonly values: () => readonly string[];
  /** The environment that commands run in. */
  readonly env: () => Env;
  /** Tokens and signatures that the platform made: secrets too. */
  readonly unmarked: () => readonly string[];
  /** Gives every secret of the configuration another value. */
  readonly rotate: () => void;
  readonly run: (argv: readonly string[], env?: Env) => Promise<Said>;
  /** Writes the stack anew, as given. */
  readonly write: (stack: Json, text?: (yaml: string) => string) => Promise<void>;
  readonly stack: JsonObject;
  /** A file that holds secrets because somebody wrote them there. */
  readonly ignore: (file: string) => void;
  /** Everything that showed so far: which command, where, and what stood around it. */
  readonly leaks: readonly string[];
  /** Batches of traces that were searched. */
  readonly collected: () => number;
  /** Commands that were run. */
  readonly commands: () => number;
  readonly close: () => Promise<void>;
};

/** Files that commands append to. */
const APPENDED = ['trace.jsonl', 'events.jsonl'];

type Env = Readonly<Record<string, string | undefined>>;

export async function openScene(): Promise<Scene> {
  const filled = fillSecrets();
  const { positions } = filled;
  const sim = await startSimulator({ seed: SEED, dialect: { ingestionReads: 0 } });
  addTheirs(sim);
  const platform = await openEcho(sim.url);
  const collector = await openCollector();
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  for (const [name, content] of Object.entries(WHOLE_VERSION.files))
    await writeFile(join(folder, name), content);
  await writeFile(join(folder, 'passphrase'), SNAPSHOT_PASSPHRASE);
  // A pipeline is written into a repository alone.
  execFileSync('git', ['init', '--quiet', folder], { env: gitEnv() });
  const stack = stackOf(filled);
  const leaks: string[] = [];
  const presigned = new Set<string>();
  const ignored = new Set<string>(['passphrase']);
  /** What a command left behind is searched when it is new. */
  const searched = new Map<string, string>();
  let generation = 1;
  let commands = 0;
  let collected = 0;

  const secrets = () =>
    Object.fromEntries(positions.map((one) => [one.variable, secretValue(one, generation)]));

  const environment = (): Env => ({
    ...secrets(),
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CALLSHEET_BASE_URL: platform.url,
    CALLSHEET_CLIENT_ID: CLIENT_ID,
    CALLSHEET_CLIENT_SECRET: CLIENT_SECRET,
    CI_COMMIT_SHA: COMMIT,
    CALLSHEET_PBX_API_KEY: PBX_KEY,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
  });

  function unmarked(): readonly string[] {
    for (const { path } of sim.requests) if (path.includes('?')) presigned.add(queryOf(path));
    return [...sim.store.tokens.keys(), ...presigned].filter((one) => one.length > 12);
  }

  const scene: Scene = {
    env: environment,
    unmarked,
    sim,
    platform,
    folder,
    outside,
    positions,
    stack,
    leaks,
    values: () => Object.values(secrets()),
    rotate: () => {
      generation += 1;
    },
    commands: () => commands,
    ignore: (file) => void ignored.add(file),
    async write(wanted, change = (yaml) => yaml) {
      await writeFile(join(folder, 'callsheet.yaml'), change(JSON.stringify(wanted, null, 2)));
    },
    async run(argv, env = {}) {
      const isolated = argv.includes('--help') ? [] : ['--dir', folder];
      const said = await runHere([...argv, ...isolated], {
        cwd: folder,
        env: { ...environment(), ...env },
      });
      commands += 1;
      await search(argv, said);
      return said;
    },
    collected: () => collected,
    async close() {
      await collector.close();
      await platform.close();
      await sim.close();
    },
  };
  await scene.write(stack);
  return scene;

  async function search(argv: readonly string[], { out, err }: Said): Promise<void> {
    const made = unmarked();
    // Its result is a session's token, and nothing else.
    const result = argv[0] === 'session' ? '' : out;
    const texts = [
      { name: 'its result', text: result },
      { name: 'its messages', text: err },
      ...(await filesBelow(folder, ignored)),
      ...(await filesBelow(outside, ignored)),
      ...collector.arrived
        .slice(collected)
        .map(({ bytes }) => ({ name: 'its traces', text: bytes.toString('latin1') })),
    ];
    collected = collector.arrived.length;
    // What a file held before it held when no later secret was there yet.
    const fresh = texts.filter(({ name, text }) => searched.get(name) !== text);
    for (const { name, text } of fresh) {
      searched.set(name, text);
      for (const leak of leaksIn(text, made))
        if (!leaks.some((known) => known.includes(leak)))
          leaks.push(`callsheet ${argv.join(' ')}: ${name}: …${leak}…`);
    }
    // They only grow, and were searched.
    for (const name of APPENDED) await rm(join(folder, name), { force: true });
  }
}

/** Somebody gives the agents that are there a header of their own, which no configuration knows. */
function addTheirs(sim: Simulator): void {
  const headers = [{ key: 'X-Theirs', value: 'canary-of-somebody-else' }];
  const tool = { type: 'webhook', name: 'theirs', condition: 'during_call', method: 'GET' };
  const url = 'https://theirs.example.test/';
  // Some call a connection by its address, which may hold its token.
  const address = `${url}?token=canary-in-a-name`;
  const server = { connection_name: address, mcp_endpoint_url: address, transport_type: 'http' };
  for (const id of sim.store.agents.keys())
    sim.edit(id, {
      extensions: { tools: [{ ...tool, url, headers }], mcp_servers: [server] },
    });
}

/** The signature of a presigned address. */
function queryOf(path: string): string {
  return /[?&](?:signature|X-Signature|token)=([^&]+)/i.exec(path)?.[1] ?? '';
}

/** The stack with everything in it, with the samples that have a secret in every position. */
function stackOf({ documents }: Filled): JsonObject {
  const whole = WHOLE_VERSION.stack;
  const sections = kinds
    .filter(({ nested }) => nested === undefined)
    .map(({ name, section }) => {
      const before = whole[section] as JsonObject;
      const sample = documents[name] ?? {};
      // Two rollouts of two agents: one is promoted, the other one aborted.
      const copies = ['extra', 'spare', 'backup'].map((copy) => [copy, { ...sample, name: copy }]);
      const more = name === 'agent' ? Object.fromEntries(copies) : {};
      return [section, { ...before, sample, ...more }] as const;
    });
  const steps = { steps: ['1 agent', '100%'] };
  const careful = { select: { targets: ['agent.sample', 'agent.extra'] }, ...steps };
  const other = { select: { targets: ['agent.spare', 'agent.backup'] }, ...steps };
  return { ...whole, ...Object.fromEntries(sections), rollouts: { careful, other } };
}
