import { join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import { onTerminal, reportFailure } from '../../../src/console/events.ts';
import { runTree } from '../../../src/features/fleet/apply-tree.ts';
import type { StackCommand, TreeFlags } from '../../../src/features/fleet/request.ts';
import type { FleetDocument } from '../../../src/render/fleet.ts';
import type { SimulatorOptions } from '../../../src/simulator/index.ts';
import { checkPrinted } from '../../documents.ts';
import { contextFor, platform, put, treeOf } from './tree.ts';

type Options = {
  readonly exit?: number | 'any';
  readonly outside?: Partial<Context>;
  readonly planSet?: string;
  readonly env?: Context['env'];
  readonly answer?: string;
};

/** A tree of stacks and a platform, with the commands run in this process. */
export async function scene(
  files: Readonly<Record<string, string>>,
  options: SimulatorOptions = {},
) {
  const sim = await platform(options);
  const root = treeOf(files);

  /** Runs a command on the tree and checks its exit code. */
  async function run(
    command: StackCommand,
    flags: Partial<TreeFlags> = {},
    { exit = 0, outside = {}, planSet, env = {}, answer }: Options = {},
  ) {
    const { context, said } = contextFor(sim);
    const terminal = {
      ...context.terminal,
      ...(answer === undefined ? {} : { canAsk: true, ask: async () => answer }),
    };
    const all = { dir: root, format: 'text', recursive: true, ...flags } as const;
    const given = {
      ...context,
      ...onTerminal(terminal),
      ...outside,
      env: { ...context.env, ...env },
    };
    const ended = await runTree(command, all, given, planSet).catch((error: unknown) =>
      reportFailure(error, context.terminal, false),
    );
    if (exit !== 'any') expect(ended, `${said.err}${said.out}`).toBe(exit);
    await checkPrinted(said.out);
    return said;
  }

  /** The same, and its document. */
  async function read(
    command: StackCommand,
    flags: Partial<TreeFlags> = {},
    options: Options = {},
  ): Promise<FleetDocument> {
    return JSON.parse((await run(command, { ...flags, format: 'json' }, options)).out);
  }

  const writes = () =>
    sim.requests
      .filter(({ method, operation }) => method !== 'GET' && operation !== 'createToken')
      .map(({ operation }) => operation);

  return {
    sim,
    root,
    at: (path: string) => join(root, path),
    put: (path: string, text: string) => put(root, path, text),
    run,
    read,
    writes,
    names: () => [...sim.store.agents.values()].map(({ record }) => record.name).sort(),
  };
}

/** Status by path. */
export function statuses({ stacks }: FleetDocument): Readonly<Record<string, string>> {
  return Object.fromEntries(stacks.map(({ path, status }) => [path, status]));
}
