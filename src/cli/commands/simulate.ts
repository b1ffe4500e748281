import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { CommonFlags, Context } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { portTaken } from '../../console/monitor/serve.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import {
  ADMIN_PATH,
  drawSeed,
  readSimulationFlags,
  type SimulationFlags,
  type Simulator,
  startSimulator,
} from '../../simulator/index.ts';

type SimulateFlags = CommonFlags &
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
  const dialect = { ...options.dialect, inventions: options.dialect?.inventions ?? drawSeed() };
  const simulator = await startSimulator({
    port: flags.port,
    agents: flags.agents,
    calls: flags.calls,
    resellers: flags.resellers,
    organizations: flags.organizations,
    ...options,
    dialect,
    // A platform gives no id twice, so no simulator gives those of the one before.
    idSalt: `${dialect.inventions} `,
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
    say(terminal, 'The simulated platform is running; interrupt (Ctrl-C) to stop it.');
    say(
      terminal,
      `What the specification does not show is drawn; --dialect inventions=${dialect.inventions} draws the same again.`,
    );
    if (admin !== undefined)
      say(terminal, `It is steered at ${simulator.url}${ADMIN_PATH}, with that token.`);
    if (simulator.organizations.length > 0) terminal.err('Its organizations:');
    for (const { id, name } of simulator.organizations) terminal.err(`  ${id}  ${name}`);
    for (const line of describeSessions(simulator.store)) say(terminal, line);
    if (!context.stop.aborted) await once(context.stop, 'abort');
    return EXIT.done;
  } finally {
    await simulator.close();
  }
}

/** Lists what sessions can be minted for; nothing else lists it. */
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
