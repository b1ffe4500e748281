import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import {
  ADMIN_PATH,
  checkFault,
  checkRateLimit,
  type Dialect,
  type Fault,
  readDialectFlags,
  readSeed,
  readSimulation,
  type Simulation,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/index.ts';
import type { CommonFlags, Context } from '../context.ts';
import { portTaken } from '../monitor/serve.ts';

export type SimulateFlags = CommonFlags &
  SimulationFlags & {
    readonly port: number;
    readonly agents?: number;
    readonly calls?: number;
    readonly resellers?: number;
    readonly organizations?: number;
    readonly admin?: boolean;
  };

/** `callsheet simulate`: the platform on a loopback port, until it is interrupted. */
export async function simulate(flags: SimulateFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { options, faults } = await readSimulationFlags(flags);
  const admin = flags.admin === true ? randomBytes(16).toString('hex') : undefined;
  const simulator = await startSimulator({
    port: flags.port,
    agents: flags.agents,
    calls: flags.calls,
    resellers: flags.resellers,
    organizations: flags.organizations,
    ...options,
    ...(admin === undefined ? {} : { admin }),
    log: admin !== undefined,
    kill: () => process.kill(process.pid, 'SIGKILL'),
  }).catch((error: unknown) => {
    throw portTaken(error, flags.port);
  });
  try {
    simulator.faults.add(...faults);
    terminal.out(
      [
        `export CALLSHEET_BASE_URL=${simulator.url}`,
        `export CALLSHEET_CLIENT_ID=${simulator.clientId}`,
        `export CALLSHEET_CLIENT_SECRET=${simulator.clientSecret}`,
        ...(admin === undefined ? [] : [`export CALLSHEET_SIMULATOR_TOKEN=${admin}`]),
      ].join('\n'),
    );
    terminal.err('The simulated platform is running; interrupt (Ctrl-C) to stop it.');
    const { inventions } = simulator.dialect;
    terminal.err(
      `What the specification does not show is drawn; --dialect inventions=${inventions} draws the same again.`,
    );
    if (admin !== undefined)
      terminal.err(`It is steered at ${simulator.url}${ADMIN_PATH}, with that token.`);
    if (simulator.organizations.length > 0) terminal.err('Its organizations:');
    for (const { id, name } of simulator.organizations) terminal.err(`  ${id}  ${name}`);
    for (const line of describeSessions(simulator.store)) terminal.err(line);
    if (!context.stop.aborted) await once(context.stop, 'abort');
    return EXIT.done;
  } finally {
    await simulator.close();
  }
}

/** What sessions can be minted for; nothing lists it but this. */
function describeSessions({ profiles, claims, pbxApiKeys }: Simulator['store']): readonly string[] {
  const [profile] = profiles.values();
  const claim = [...claims.values()].find(({ profileId }) => profileId === profile?.id);
  const [key] = pbxApiKeys;
  return [
    ...(profile === undefined ? [] : [`A profile to mint sessions for: ${profile.id}`]),
    ...(claim === undefined || key === undefined
      ? []
      : [`Its claim at the PBX provider: ${claim.id}, with the API key ${key}`]),
  ];
}

/** Flags that say how a simulated platform behaves. */
export type SimulationFlags = {
  readonly seed?: string;
  readonly config?: string;
  readonly dialect?: readonly string[];
  readonly fault?: readonly string[];
  /** Requests a second, or a whole limit as YAML. */
  readonly rateLimit?: number | string;
};

/** What flags and files come to: options to start with, and faults to set before the first request. */
type SimulationRequest = {
  readonly options: Pick<
    SimulatorOptions,
    'seed' | 'dialect' | 'rateLimit' | 'latencyMs' | 'chaosSeed'
  >;
  readonly faults: readonly Fault[];
};

/**
 * Reads the files that the flags name. Flags win over the file. Throws a `CallsheetError` that names
 * everything that is wrong with what it looks at.
 */
export async function readSimulationFlags(flags: SimulationFlags): Promise<SimulationRequest> {
  const file =
    flags.config === undefined ? {} : readSimulation(await readText('simulation', flags.config));
  const seed = await readNamedSeed(flags, file);
  const { chaosSeed, latencyMs } = file;
  const rateLimit = readRateLimit(flags, file);
  return {
    options: {
      dialect: { ...file.dialect, ...readDialectOf(flags) },
      ...(seed === undefined ? {} : { seed }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(latencyMs === undefined ? {} : { latencyMs }),
      ...(chaosSeed === undefined ? {} : { chaosSeed }),
    },
    faults: [...(file.faults ?? []), ...readFaults(flags)],
  };
}

async function readNamedSeed(
  flags: SimulationFlags,
  { seed }: Simulation,
): Promise<SimulatorOptions['seed']> {
  if (flags.seed !== undefined) return readSeed(await readText('seed', flags.seed));
  if (typeof seed !== 'string') return seed;
  return readSeed(await readText('seed', resolve(dirname(flags.config ?? ''), seed)));
}

/** A number replaces only the rate of the file's limit. */
function readRateLimit(
  { rateLimit: flag }: SimulationFlags,
  file: Simulation,
): Simulation['rateLimit'] {
  if (flag === undefined) return file.rateLimit;
  if (typeof flag === 'number') return { ...file.rateLimit, perSecond: flag };
  const limit = parseFlag('--rate-limit', flag);
  const problems = checkRateLimit(limit);
  if (problems.length > 0) throw refused('--rate-limit', problems);
  // Checked just above.
  return limit as Simulation['rateLimit'];
}

function readDialectOf({ dialect: pairs = [] }: SimulationFlags): Partial<Dialect> {
  const { dialect, problems } = readDialectFlags(pairs);
  if (problems.length > 0) throw refused('--dialect', problems);
  return dialect;
}

function readFaults({ fault: texts = [] }: SimulationFlags): readonly Fault[] {
  const faults = texts.map((text) => parseFlag('--fault', text));
  const problems = faults.flatMap((fault) => checkFault(fault));
  if (problems.length > 0) throw refused('--fault', problems);
  // Checked just above.
  return faults as readonly Fault[];
}

function parseFlag(flag: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new CallsheetError('usage', `${flag} ${text} is not YAML`, { cause });
  }
}

function refused(flag: string, problems: readonly string[]): CallsheetError {
  return new CallsheetError('usage', `${flag}: ${problems.join('; ')}`, {
    hint: 'callsheet help simulator lists what it takes.',
  });
}

async function readText(what: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CallsheetError('usage', `the ${what} file ${file} cannot be read`, { cause });
  }
}
