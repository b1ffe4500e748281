import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Diagnostic } from '../../src/core/diagnostics.ts';
import { scenario, type World } from './harness.ts';

/** One of everything that can be wrong with a file. */
const BROKEN = `agents:
  a:
    name: Same
    sytem_prompt: Hello
    model: 7
    default_retry_policy_id: { $ref: retry_policy.nowhere }
  b:
    name: Same
    system_prompt: { $file: prompts/none.md }
    integrations: { smsProvider: { auth_token: { $secret: vault:NOT_SET } } }
  c:
    name: Too many webhooks
    status: [sleeping]
    extensions:
      tools:
        - { type: webhook, name: one, condition: before_call, method: GET, url: "https://x.example.test" }
        - { type: webhook, name: two, condition: before_call, method: GET, url: "https://x.example.test" }
    integrations: { smsProvider: { auth_token: canary-literal } }
`;

/** Each place, and what its message must hold. */
const PLACES: readonly (readonly [string, RegExp])[] = [
  ['agents.yaml:4:5', /sytem_prompt/],
  ['agents.yaml:5:12', /model/],
  ['agents.yaml:6:', /retry_policy\.nowhere/],
  ['agents.yaml:8:', /same organization and name/],
  ['agents.yaml:9:', /prompts\/none\.md/],
  ['agents.yaml:10:', /is not a source/],
  ['agents.yaml:13:13', /status/],
  ['agents.yaml:17:', /before_call/],
  ['agents.yaml:18:', /auth_token/],
  ['malformed.yaml:2:', /./],
];

async function breakStack(world: World): Promise<void> {
  await world.write('agents.yaml', BROKEN);
  await world.write('malformed.yaml', 'retry_policies:\n  gentle: { name: [ }\n');
}

for (const command of [['validate'], ['plan'], ['apply', '--auto-approve']]) {
  scenario(
    `${command[0]} reports everything that is wrong in one go, and sends nothing`,
    async (world) => {
      await breakStack(world);
      const { out, err } = await world.run(command, { exit: 1 });
      const said = `${out}${err}`;
      for (const [place, message] of PLACES) {
        expect(said).toContain(place);
        expect(said).toMatch(message);
      }
      expect(said).not.toContain('canary-literal');
      expect(said).not.toMatch(/\n\s+at \S+ \(|Callsheet itself failed/);
      expect(world.sim.requests).toEqual([]);
      await world.remove('agents.yaml');
    },
  );
}

/** What stands where a file or a folder should be, and a command that meets it. */
const IN_THE_WAY: readonly (readonly [string, readonly string[]])[] = [
  ['.callsheet', ['runs']],
  ['.callsheet', ['plan']],
  ['.callsheet/runs', ['runs']],
  ['.callsheet/runs', ['rollback', '--auto-approve']],
  ['.callsheet/state.lock', ['apply', '--auto-approve']],
];

scenario('a file in the place of a folder is told in a sentence', async (world) => {
  for (const [place, command] of IN_THE_WAY) {
    const path = join(world.folder, place);
    await mkdir(dirname(path), { recursive: true });
    await world.write(place, '');
    const { err } = await world.run(command, { exit: 1 });
    const name = `${place}: ${command.join(' ')}`;
    expect(err, name).toMatch(/^Error: [^\n]*\.callsheet/);
    expect(err, name).not.toMatch(/\n\s+at \S+ \(|Callsheet itself failed/);
    await world.remove(place);
  }
});

scenario('validate --format json has file, line, column, rule and frame of each', async (world) => {
  await breakStack(world);
  const { out } = await world.run(['validate', '--format', 'json'], { exit: 1 });
  const { diagnostics }: { readonly diagnostics: readonly Diagnostic[] } = JSON.parse(out);
  const found = diagnostics.map(
    ({ position, message }) => `${position?.file}:${position?.line}:${position?.column} ${message}`,
  );
  for (const [place, message] of PLACES)
    expect(
      found.filter((line) => line.startsWith(place) && message.test(line)),
      place,
    ).not.toEqual([]);
  for (const { rule, severity, frame } of diagnostics) {
    expect(rule).toMatch(/^[a-z-]+\/[a-z-]+$/);
    expect(severity).toBe('error');
    expect(frame).toMatch(/\^/);
  }
  expect(out).not.toContain('canary-literal');
  await world.remove('agents.yaml');
});

scenario(
  'validate needs neither credentials nor a platform nor secrets; --secrets asks for those',
  async (world) => {
    const env = {
      CALLSHEET_CLIENT_ID: undefined,
      CALLSHEET_CLIENT_SECRET: undefined,
      CALLSHEET_BASE_URL: 'https://platform.example.test',
      SMS_TOKEN: undefined,
    };
    const failed = await world.run(['validate', '--secrets'], { env, exit: 1 });
    expect(failed.out).toContain('SMS_TOKEN');
    const { out } = await world.run(['validate'], { env });
    expect(out).toContain('The configuration is valid: 8 resources.');
    expect(world.sim.requests).toEqual([]);
  },
);
