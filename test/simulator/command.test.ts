import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'undici';
import { expect, inject, onTestFinished, test } from 'vitest';
import { ADMIN_HEADER, ADMIN_PATH } from '../../src/simulator/index.ts';
import '../e2e/build.ts';

/** Starts `callsheet simulate` on a free port, and reads what it prints to be exported. */
async function simulate(...flags: readonly string[]) {
  const child = spawn(process.execPath, [inject('bin'), 'simulate', '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // What is to be exported is printed before this.
  await once(child.stderr, 'data');
  while (!said.includes('CLIENT_SECRET')) await once(child.stdout, 'data');
  const value = (name: string) =>
    new RegExp(`^export CALLSHEET_${name}=(.*)$`, 'm').exec(said)?.[1];
  return { child, url: value('BASE_URL') ?? '', token: value('SIMULATOR_TOKEN') };
}

test('a fault that kills ends the process as a crash would', async () => {
  const { child, url, token } = await simulate('--fault', '{ operation: getMe, kill: before }');
  expect(token, 'it is not steered unless --admin is given').toBeUndefined();
  const exit = once(child, 'exit');
  await expect(request(`${url}/v1/me`)).rejects.toThrow();
  expect(await exit).toEqual([null, 'SIGKILL']);
});

test('flags reach the platform, and --admin prints the token that steers it', async () => {
  const {
    child,
    url,
    token = '',
  } = await simulate(
    ...['--admin', '--dialect', 'absentAnswer=method', '--dialect', 'absent=getMe'],
    ...['--agents', '2', '--callers', '15'],
  );
  expect((await request(`${url}/v1/me`)).statusCode).toBe(405);
  const dialect = await request(`${url}${ADMIN_PATH}/dialect`, {
    headers: { [ADMIN_HEADER]: token },
  });
  expect(await dialect.body.json()).toMatchObject({ absent: ['getMe'] });
  const dump = await request(`${url}${ADMIN_PATH}/dump`, { headers: { [ADMIN_HEADER]: token } });
  const { calls } = (await dump.body.json()) as { calls: Record<string, { calls: object[] }> };
  expect(Object.values(calls).map((book) => book.calls.length > 20)).toEqual([true, true]);
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
});
