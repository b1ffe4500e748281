import { afterAll, beforeAll, expect } from 'vitest';
import { adopt, runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import { staged } from '../apply/stage.ts';
import { type Servers, startServers } from '../features/stores/bad/places.ts';
import { PASSWORD, USERNAME } from '../features/stores/http-server.ts';
import * as postgres from '../features/stores/postgres-server.ts';
import * as s3 from '../features/stores/s3-server.ts';
import { stateCommands } from './state-stage.ts';

let servers: Servers;
let server: Servers['web'];
beforeAll(async () => {
  servers = await startServers();
  server = servers.web;
});
afterAll(() => servers.stop());

const PATH = '/api/v4/projects/7/terraform/state/clinic';

staged(
  'a stack whose state is kept by GitLab is applied, rolled back and looked at',
  async (stage) => {
    const env = {
      CALLSHEET_STATE: `${server.origin}${PATH}`,
      CALLSHEET_STATE_USERNAME: USERNAME,
      CALLSHEET_STATE_PASSWORD: PASSWORD,
    };
    const { list, unlock, pull } = stateCommands(stage);
    await stage.apply({}, { env });
    const known = JSON.parse((await list([], { env })).out).resources.length;
    expect(known).toBeGreaterThan(5);
    await stage.rollback({ allowDelete: true }, { env, exit: 3 });
    const flags = { dir: stage.folder, format: 'json' as const };
    const listed = JSON.parse((await stage.run((to) => runs(undefined, flags, to), { env })).out);
    expect(listed.runs.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
      'rollback',
      'apply',
    ]);
    expect(JSON.parse((await unlock(undefined, false, { env })).out).held).toBeNull();
    expect(JSON.parse((await pull({ env })).out).format).toBe('callsheet-state');
    // No file was made beside the stack, and no secret reached the server.
    expect(JSON.parse((await list([])).out).resources).toEqual([]);
    expect(stage.leaks([{ by: 'the server', text: server.shelfOf(PATH).text ?? '' }])).toEqual([]);
  },
  // One server has the state of both.
  { ways: ['apply'] },
);

staged('a state that cannot be reached stops a run before it asks the platform', async (stage) => {
  const env = { CALLSHEET_STATE: `${server.origin}${PATH}-other` };
  const before = stage.writes().length;
  const { err } = await stage.run(
    (to) => apply(undefined, { dir: stage.folder, format: 'text', autoApprove: true }, to),
    { env, exit: 1 },
  );
  expect(err).toContain('the server answered 401');
  expect(err).toContain('CALLSHEET_STATE_PASSWORD');
  expect(stage.writes()).toHaveLength(before);
});

const STORES: readonly (readonly [string, () => Readonly<Record<string, string>>])[] = [
  [
    'at GitLab',
    () => ({
      CALLSHEET_STATE: `${server.origin}/api/v4/projects/7/terraform/state/shared`,
      CALLSHEET_STATE_USERNAME: USERNAME,
      CALLSHEET_STATE_PASSWORD: PASSWORD,
    }),
  ],
  [
    'in S3',
    () => ({
      CALLSHEET_STATE: `s3://${s3.BUCKET}/shared.json?endpoint=${servers.bucket.endpoint}`,
      AWS_ACCESS_KEY_ID: s3.KEY_ID,
      AWS_SECRET_ACCESS_KEY: s3.SECRET,
    }),
  ],
  [
    'in PostgreSQL',
    () => ({
      CALLSHEET_STATE: `${servers.database.url()}?stack=shared`,
      CALLSHEET_STATE_PASSWORD: postgres.PASSWORD,
    }),
  ],
];

for (const [where, place] of STORES)
  staged(`a state ${where} is one environment's alone`, async (stage) => {
    const env = place();
    const settings = await stage.read('callsheet.yaml');
    const environments = 'environments: { production: {}, staging: {} }';
    await stage.write('callsheet.yaml', `${settings}${environments}\nstack: harbor\n`);
    await stage.apply({ env: 'production' }, { env });
    const before = stage.writes().length;
    const flags = { dir: stage.folder, format: 'text', env: 'staging', autoApprove: true } as const;
    const { err } = await stage.run((to) => apply(undefined, flags, to), { env, exit: 4 });
    expect(err).toMatch(
      /stack harbor, the environment production; .*harbor, the environment staging/,
    );
    expect(stage.writes()).toHaveLength(before);
    await stage.run((to) => adopt(flags, to), { env });
    await stage.apply({ env: 'staging' }, { env });
    expect(stage.writes()).toHaveLength(before);
  });
