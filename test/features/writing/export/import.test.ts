import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFileStore } from '../../../../src/state/file/store.ts';
import { openExportStage } from './stage.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const BAY = '9c24e74f-4564-4836-a0d8-0691bfe720fe';
const id = (index: number) => `7d0c6f1e-54a3-4b0e-9b1c-00000000000${index}`;

const STACK = `callsheet: 1
platform: { base_url: "\${var.base_url}" }
variables: { base_url: { env: CALLSHEET_BASE_URL } }
organizations: { harbor: ${HARBOR}, bay: ${BAY} }
organization: harbor
retry_policies:
  gentle: { name: Gentle }
agents:
  desk:
    name: Desk
    model: alpha-4.1
    integrations: { smsProvider: { account_sid: AC1, auth_token: { $secret: env:TOKEN } } }
  line: { name: Line, model: alpha-4o }
  unborn: { name: Not there yet }
`;

async function staged() {
  const agent = (index: number, name: string, organization_id = HARBOR) => ({
    id: id(index),
    organization_id,
    name,
    model: 'alpha-4.1',
  });
  const stage = await openExportStage({
    seed: {
      organizations: [
        { id: HARBOR, name: 'Harbor' },
        { id: BAY, name: 'Bay' },
      ],
      retry_policies: [{ id: id(9), name: 'Gentle', rules: {} }],
      agents: [
        {
          ...agent(1, 'Desk'),
          integrations: { smsProvider: { account_sid: 'AC1', auth_token: 'hidden' } },
        },
        agent(2, 'Desk'),
        agent(3, 'Line'),
        agent(4, 'Desk', BAY),
      ],
    },
  });
  onTestFinished(stage.close);
  await writeFile(join(stage.folder, 'callsheet.yaml'), STACK);
  const env = { TOKEN: 'made-up' };
  const state = async () => {
    const text = await readFile(join(stage.folder, '.callsheet/state.json'), 'utf8');
    return JSON.parse(text).resources;
  };
  return {
    ...stage,
    state,
    import: (words: readonly string[], exit = 0) => stage.import('.', words, {}, { exit, env }),
    importAll: (exit = 0) => stage.import('.', [], { all: true }, { exit, env }),
    plan: (options = {}) => stage.plan('.', env, options),
    writes: () =>
      stage.sim.requests.filter(
        ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
      ),
  };
}

describe('import', () => {
  test('binds an address to an id that its name does not tell, and writes nothing on the platform', async () => {
    const stage = await staged();
    const { bound, serial } = await stage.import(['agent.desk', id(2).toUpperCase()]);
    expect(bound).toEqual([
      {
        address: 'agent.desk',
        id: id(2),
        differing: ['integrations.smsProvider.account_sid', 'integrations.smsProvider.auth_token'],
      },
    ]);
    expect(serial).toBe(1);
    expect(await stage.state()).toMatchObject({ 'agent.desk': { id: id(2) } });
    expect(stage.writes()).toEqual([]);
    // Its secret is left alone where it is there.
    await stage.run((context) =>
      import('../../../../src/cli/commands/state.ts').then(({ rm: forget }) =>
        forget(['agent.desk'], { dir: stage.folder, format: 'json' }, context),
      ),
    );
    expect((await stage.import(['agent.desk', id(1)])).bound).toEqual([
      { address: 'agent.desk', id: id(1), differing: [] },
    ]);
    const { changes } = await stage.plan();
    expect(changes.map(({ address, action }) => [address, action])).toEqual([
      ['retry_policy.gentle', 'adopt'],
      ['agent.line', 'update'],
      ['agent.unborn', 'create'],
    ]);
  });

  test('--all binds what names tell, differing or not, and lists the rest with what to type', async () => {
    const stage = await staged();
    const all = await stage.importAll(3);
    expect(all.bound).toEqual([
      { address: 'retry_policy.gentle', id: id(9), differing: [] },
      { address: 'agent.line', id: id(3), differing: ['model'] },
    ]);
    expect(all.unclear).toMatchObject([
      {
        address: 'agent.desk',
        ids: [id(1), id(2)],
        commands: [id(1), id(2)].map(
          (one) => `callsheet import agent.desk ${one} --dir ${stage.folder}`,
        ),
      },
    ]);
    expect(all.absent).toEqual(['agent.unborn']);
    await stage.import(['agent.desk', id(1)]);
    const again = await stage.importAll();
    expect(again).toMatchObject({ run: null, bound: [], unclear: [], absent: ['agent.unborn'] });
    const { changes } = await stage.plan();
    expect(changes.map(({ address, fields }) => [address, fields.map(({ path }) => path)])).toEqual(
      [
        ['agent.line', ['model']],
        ['agent.unborn', ['organization_id', 'name']],
      ],
    );
    // Nobody applied what the configuration says, so nothing drifted.
    expect(changes[0]?.fields[0]?.cause).toBe('changed');
    expect(stage.writes()).toEqual([]);
  });

  test.each<[string, readonly string[], number, string]>([
    ['an address that is not configured', ['agent.dsk', id(1)], 1, 'Did you mean agent.desk?'],
    [
      'an id that does not exist',
      ['agent.desk', id(8)],
      1,
      `the key has access to no agent ${id(8)} in the place of agent.desk`,
    ],
    [
      'the id of another kind',
      ['agent.desk', id(9)],
      1,
      `${id(9)} is a retry policy, and agent.desk is an agent`,
    ],
    [
      'the id of another organization',
      ['agent.desk', id(4)],
      1,
      `${id(4)} belongs to organization bay`,
    ],
    [
      'an id that another address stands for',
      ['agent.desk', id(3)],
      4,
      'already belongs to agent.line',
    ],
    [
      'an address that stands for another id',
      ['agent.line', id(1)],
      4,
      `agent.line is already bound to ${id(3)}`,
    ],
    [
      'an address alone',
      ['agent.desk'],
      1,
      'an address of the configuration and a live id are needed',
    ],
  ])('%s is refused', async (_, words, exit, said) => {
    const stage = await staged();
    await stage.import(['agent.line', id(3)]);
    const before = await stage.state();
    const { err } = await stage.import(words, exit);
    expect(err.replace(/\s+/g, ' ')).toContain(said);
    expect(await stage.state()).toEqual(before);
  });

  test('what to type about an address of a row is what a shell can read', async () => {
    const stage = await staged();
    const row = 'agent.line["east"]';
    await writeFile(
      join(stage.folder, 'callsheet.yaml'),
      STACK.replace(
        'line: { name: Line,',
        `line: { for_each: [east], key: "\${each.value}", name: Line,`,
      ),
    );
    await stage.import([row, id(3)]);
    const { err } = await stage.import([row, id(1)], 4);
    expect(err.replace(/\s+/g, ' ')).toContain(`\`callsheet state rm '${row}'\` forgets it.`);
  });

  test('again is nothing to do', async () => {
    const stage = await staged();
    await stage.import(['agent.line', id(3)]);
    expect(await stage.import(['agent.line', id(3)])).toMatchObject({ run: null, bound: [] });
  });

  test('waits for nobody: a state that another run holds is exit 6', async () => {
    const stage = await staged();
    const store = openFileStore(join(stage.folder, '.callsheet/state.json'));
    onTestFinished(() => store.close());
    await store.acquire({
      run: 'other',
      command: 'apply',
      user: 'kim',
      host: hostname(),
      pid: process.pid,
      since: new Date().toISOString(),
    });
    const { err } = await stage.import(['agent.line', id(3)], 6);
    expect(err).toContain('kim');
    await store.close();
    await rm(join(stage.folder, '.callsheet'), { recursive: true });
  });
});
