import { readFile } from 'node:fs/promises';
import { CallsheetError } from '../../core/errors.ts';
import { readSeed, startSimulator } from '../../simulator/index.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

export type SimulateFlags = CommonFlags & {
  readonly port: number;
  readonly agents?: number;
  readonly seed?: string;
};

/** `callsheet simulate`: the platform on a loopback port, until it is interrupted. */
export async function simulate(flags: SimulateFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const simulator = await startSimulator({
    port: flags.port,
    ...(flags.agents === undefined ? {} : { agents: flags.agents }),
    ...(flags.seed === undefined ? {} : { seed: readSeed(await readText(flags.seed)) }),
    log: false,
  }).catch((error: unknown) => {
    throw portTaken(error, flags.port) ?? error;
  });
  try {
    terminal.out(
      [
        `export CALLSHEET_BASE_URL=${simulator.url}`,
        `export CALLSHEET_CLIENT_ID=${simulator.clientId}`,
        `export CALLSHEET_CLIENT_SECRET=${simulator.clientSecret}`,
      ].join('\n'),
    );
    terminal.err(
      'The simulated platform is running; interrupt (Ctrl-C) to stop it. Its organizations:',
    );
    for (const { id, name } of simulator.organizations) terminal.err(`  ${id}  ${name}`);
    await untilAborted(context.stop);
    return EXIT.done;
  } finally {
    await simulator.close();
  }
}

function portTaken(cause: unknown, port: number): CallsheetError | undefined {
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  if (!isTaken) return undefined;
  const hint = 'Take another with --port, or let one be chosen with --port 0.';
  return new CallsheetError('usage', `port ${port} is in use`, { hint, cause });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CallsheetError('usage', `the seed file ${file} cannot be read`, { cause });
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
