import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../src/simulator/index.ts';
import { quietContext } from '../../cli/quiet-context.ts';
import { COMMIT, FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { temporaryFolder } from '../../temporary.ts';

/** A folder that holds these files, by path, until the test is over. */
export function treeOf(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  return root;
}

/** Writes a file of a tree, and the folders that it lies in. */
export function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

export const ORGANIZATIONS = [
  { id: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11', name: 'Harbor Dental' },
  { id: '5b0f0c7e-6b7f-4b0e-9d3e-1f2a3b4c5d6e', name: 'Lagoon Eyes' },
  { id: '9a1d4c52-3f6e-4a07-8b2c-6d5e4f3a2b10', name: 'Summit Skin' },
] as const;

/** `callsheet.yaml` of a stack in one of them. */
export function settings(organization: number, more = ''): string {
  return `callsheet: 1\norganization: ${ORGANIZATIONS[organization]?.id}\n${more}`;
}

/** Agents of these names, each at an address made from it. */
export function agents(...names: readonly string[]): string {
  const lines = names.flatMap((name) => [
    `  ${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}:`,
    `    name: ${name}`,
    '    agent_type: receptionist',
    '    model: alpha-4.1',
    `    system_prompt: You are ${name}.`,
  ]);
  return `agents:\n${lines.join('\n')}\n`;
}

/** A platform with three organizations and nothing in them, until the test is over. */
export async function platform(options: SimulatorOptions = {}): Promise<Simulator> {
  const sim = await startSimulator({
    seed: {
      account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
      organizations: [...ORGANIZATIONS],
    },
    ...options,
  });
  onTestFinished(() => sim.close());
  return sim;
}

/** A context for that platform, and what is printed there. */
export function contextFor(sim: Simulator, stop?: AbortSignal) {
  const { context: quiet, said } = quietContext();
  const context: Context = {
    ...quiet,
    env: {
      CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
      CI_COMMIT_SHA: COMMIT,
      CALLSHEET_BASE_URL: sim.url,
      CALLSHEET_CLIENT_ID: sim.clientId,
      CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    },
    now: () => new Date(),
    ...(stop === undefined ? {} : { stop }),
  };
  return { context, said };
}

/** Twelve stacks of one agent each, four in each of the three organizations. */
export function twelve(): Readonly<Record<string, string>> {
  const stacks = ['harbor', 'lagoon', 'summit'].flatMap((name, organization) =>
    ['east', 'north', 'south', 'west'].map((side) => ({ path: `${name}/${side}`, organization })),
  );
  return Object.fromEntries(
    stacks.flatMap(({ path, organization }) => [
      [`${path}/callsheet.yaml`, settings(organization)],
      [`${path}/agents.yaml`, agents(`Desk ${path}`)],
    ]),
  );
}

/** Four of them, one of each organization and another one. */
export function four(): Readonly<Record<string, string>> {
  const kept = ['harbor/east/', 'harbor/north/', 'lagoon/south/', 'summit/west/'];
  return Object.fromEntries(
    Object.entries(twelve()).filter(([path]) => kept.some((folder) => path.startsWith(folder))),
  );
}

/** A freeze window that is always in force. */
export const FROZEN =
  'guards: { freeze: [{ hours: "00:00-24:00", zone: UTC, reason: holidays }] }\n';
