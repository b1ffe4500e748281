import { afterAll, beforeAll, expect } from 'vitest';
import { runs } from '../../src/cli/commands/state.ts';
import { staged } from '../apply/stage.ts';
import { PASSWORD, startHttpServer, USERNAME } from '../state/stores/http-server.ts';
import { stateCommands } from './state-stage.ts';

let server: Awaited<ReturnType<typeof startHttpServer>>;
beforeAll(async () => {
  server = await startHttpServer();
});
afterAll(() => server.stop());

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
    async (to) =>
      (await import('../../src/console/apply.ts')).apply(
        undefined,
        { dir: stage.folder, format: 'text', autoApprove: true },
        to,
      ),
    { env, exit: 1 },
  );
  expect(err).toContain('the server answered 401');
  expect(err).toContain('CALLSHEET_STATE_PASSWORD');
  expect(stage.writes()).toHaveLength(before);
});
