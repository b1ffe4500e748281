import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { Context } from '../../src/console/context.ts';
import { onTerminal, reportFailure } from '../../src/console/events.ts';
import { features } from '../../src/features/index.ts';
import type { Transport } from '../../src/platform/transport.ts';
import { type Dialect, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import { mortal } from '../kill/mortal.ts';
import { temporaryFolder } from '../temporary.ts';
import { BASE, BAY, type Fields, HARBOR, type Value } from './files.ts';
import type { Live } from './oracle.ts';

/** What came of a command: its exit code, null where it was killed, and all that it said. */
export type Said = { readonly exit: number | null; readonly out: string; readonly err: string };

type Outside = {
  /** At how many moments it is killed. */
  readonly dies?: number | null;
  /** Beside what every command is given. */
  readonly env?: Readonly<Record<string, string>>;
};

/** A copy of the world, which it can be put back to. */
export type Copy = { readonly store: ReadonlyMap<string, unknown>; readonly state: string };

export type Stage = {
  readonly folder: string;
  readonly sim: Simulator;
  readonly run: (
    command: (context: Context) => Promise<number>,
    outside?: Outside,
  ) => Promise<Said>;
  /** Lets time pass, for the platform and for the program. */
  readonly advance: (milliseconds: number) => void;
  readonly live: () => Live;
  /** What each `$secret` gives now. */
  readonly secrets: Record<string, string>;
  readonly copy: () => Copy;
  readonly putBack: (copy: Copy) => void;
  readonly copyState: () => string;
  readonly putStateBack: (copy: string) => void;
  readonly forgetState: () => void;
  readonly close: () => Promise<void>;
};

const FOREIGN: Fields = {
  name: 'foreign',
  organization_id: HARBOR,
  greeting_message: 'theirs',
  integrations: { smsProvider: { account_sid: 'AC9', auth_token: 'their-token' } },
};

/** An agent that is there before anybody has files. */
const FOUND: Fields = {
  name: 'b',
  organization_id: HARBOR,
  greeting_message: 'found',
  transfer_rules: 'as found',
  system_prompt: 'You answer.\n',
  integrations: {
    smsProvider: { account_sid: 'AC1', auth_token: 'found-token', fromNumber: '+1' },
  },
};

export async function openStage(dialect: Partial<Dialect>, pace: number): Promise<Stage> {
  const sim = await startSimulator({
    seed: {
      organizations: [
        { id: HARBOR, name: 'Harbor' },
        { id: BAY, name: 'Bay' },
      ],
      knowledge_bases: [{ id: BASE, organization_id: HARBOR, name: 'Base' }],
      // The seed's own type wants the organization by name.
      agents: [FOREIGN, FOUND] as never,
      retry_policies: [{ name: 'foreign' }],
    },
    dialect: { inventions: INVENTIONS, ...dialect },
  });
  const folder = temporaryFolder();
  const secrets: Record<string, string> = { S1: 's1-0', S2: 's1-0', S3: 's3-0' };
  const state = join(folder, '.callsheet');
  let copies = 0;
  let passed = 0;

  const advance = (milliseconds: number) => {
    passed += milliseconds;
    sim.advance(milliseconds);
  };

  const copyState = () => {
    copies += 1;
    const to = join(folder, `.copy-${copies}`);
    if (existsSync(state)) cpSync(state, to, { recursive: true });
    else mkdirSync(to);
    return to;
  };
  const putStateBack = (copy: string) => {
    rmSync(state, { recursive: true, force: true });
    cpSync(copy, state, { recursive: true });
  };

  return {
    folder,
    sim,
    secrets,
    advance,
    copyState,
    putStateBack,
    forgetState: () => rmSync(state, { recursive: true, force: true }),
    live: () => readLive(sim),
    copy: () => ({ store: copyStore(sim), state: copyState() }),
    putBack: (copy) => {
      putStoreBack(sim, copy.store);
      putStateBack(copy.state);
    },
    async run(command, { dies = null, env = {} } = {}) {
      const said = { out: '', err: '' };
      // What is written next is at another time than what was written last.
      advance(pace);
      const { outside, isDead } = mortal(dies ?? undefined);
      const inFlight: Promise<unknown>[] = [];
      const sent = (transport: Transport): Transport => ({
        close: transport.close,
        send(request) {
          const answer = transport.send(request);
          inFlight.push(answer);
          return answer;
        },
      });
      const plain = { width: 100, color: false, verbose: false };
      const terminal = {
        out: (text: string) => {
          said.out += text;
        },
        err: (text: string) => {
          said.err += `${text}\n`;
        },
        render: plain,
        renderErr: plain,
        wrapsErr: false,
        canAsk: false,
        ask: async () => '',
      };
      const context: Context = {
        ...onTerminal(terminal),
        features,
        env: {
          ...secrets,
          HOME: folder,
          GITHUB_ACTOR: 'somebody',
          CI_COMMIT_SHA: 'abc',
          CALLSHEET_FINGERPRINT_KEY: 'a key of this model',
          CALLSHEET_BASE_URL: sim.url,
          CALLSHEET_CLIENT_ID: sim.clientId,
          CALLSHEET_CLIENT_SECRET: sim.clientSecret,
          ...env,
        },
        now: () => new Date(Date.now() + passed),
        stop: new AbortController().signal,
        version: '0.0.0',
        pause: { sleep: async (milliseconds) => advance(milliseconds), random: () => 0.5 },
        ...(dies === null
          ? {}
          : { ...outside, wire: (transport) => outside.wire(sent(transport)) }),
      };
      const exit = await command(context).catch((error: unknown) =>
        isDead() ? 130 : reportFailure(error, context.terminal, true),
      );
      // What was on its way when it died arrives all the same.
      await Promise.allSettled(inFlight);
      return { exit: isDead() ? null : exit, ...said };
    },
    async close() {
      await sim.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const plain = (value: unknown): Value => JSON.parse(JSON.stringify(value ?? null));

function readLive({ store }: Simulator): Live {
  const agents = [...store.agents].map(([id, { record, payments, organizationId }]) => {
    const { enabled, limits } = payments;
    const told = { tool_enabled: enabled, ...limits };
    return [id, { ...record, organization_id: organizationId, payments: told }] as const;
  });
  const policies = [...store.retryPolicies];
  const voices = [...store.voices].map(([id, { record }]) => [id, record] as const);
  const sources = [...store.sources].map(([id, { record, upload }]) => {
    return [id, { ...record, text: upload?.bytes?.toString() ?? null }] as const;
  });
  const all = { agents, policies, voices, sources };
  return Object.fromEntries(
    Object.entries(all).map(([section, entries]) => [section, plain(Object.fromEntries(entries))]),
  ) as Live;
}

/** A copy in which bytes stay what they are. */
function clone(value: unknown): unknown {
  return deserialize(serialize(value));
}

/** What no command changes, or what is of this process. */
const KEPT = ['keys', 'tokens', 'organizations', 'resellers', 'account'];

function copyStore({ store }: Simulator): ReadonlyMap<string, unknown> {
  const parts = Object.entries(store).filter(([name]) => !KEPT.includes(name));
  return new Map(parts.map(([name, part]) => [name, clone(part)]));
}

function putStoreBack({ store }: Simulator, copy: ReadonlyMap<string, unknown>): void {
  for (const [name, part] of Object.entries(store)) {
    const before: unknown = clone(copy.get(name));
    if (part instanceof Map && before instanceof Map) {
      part.clear();
      for (const [key, value] of before) part.set(key, value);
    } else if (Array.isArray(part) && Array.isArray(before)) part.splice(0, part.length, ...before);
  }
}
