import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/index.ts';
import { dial, failure, START } from './platform.ts';

const DAY = 86_400_000;

const me = { operation: 'getMe' };

/** A simulated platform whose clock can be moved, and clients of it. */
async function stage() {
  let clock = START;
  const simulator = await startSimulator({ now: () => new Date(clock) });
  const { url: baseUrl, clientId, clientSecret } = simulator;
  const credentials = { clientId, clientSecret };
  onTestFinished(() => simulator.close());
  return {
    simulator,
    pass: (milliseconds: number) => {
      clock += milliseconds;
    },
    withKey: (now: () => number = () => clock) => dial({ baseUrl, credentials, now }),
    withToken: (accessToken: string) => dial({ baseUrl, credentials: { accessToken } }),
    minted: () => simulator.requests.filter(({ operation }) => operation === 'createToken').length,
    /** A token of the platform's own. */
    async token(): Promise<string> {
      await dial({ baseUrl, credentials }).call(me);
      const [token = ''] = [...simulator.store.tokens.keys()].slice(-1);
      return token;
    },
  };
}

describe('a token that the platform no longer takes', () => {
  it('is replaced before it expires, without a refusal', async () => {
    const { withKey, pass, minted, simulator } = await stage();
    const client = withKey();
    await client.call(me);
    pass(DAY);
    await client.call(me);
    expect(minted()).toBe(2);
    expect(simulator.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('is replaced once for all calls where the clock here is slow', async () => {
    const { withKey, pass, minted, simulator } = await stage();
    const client = withKey(() => START);
    await client.call(me);
    pass(DAY + 1);
    await Promise.all(Array.from({ length: 4 }, () => client.call(me)));
    expect(minted()).toBe(2);
    expect(simulator.requests.filter(({ status }) => status === 401)).toHaveLength(4);
  });

  it('was minted with a secret that was rotated: says so, and does not try on', async () => {
    const { withKey, simulator, minted } = await stage();
    const client = withKey();
    await client.call(me);
    simulator.rotateSecret();
    const error = await failure(client.call(me));
    expect(error).toMatchObject({
      message: expect.stringMatching(/^the platform refused the credentials: POST .* answered 401/),
      hint: 'They worked until now, so the key was rotated or deleted: set CALLSHEET_CLIENT_SECRET to its new secret.',
    });
    expect(minted()).toBe(2);
  });

  it('was given, and has expired', async () => {
    const { token, withToken, pass } = await stage();
    const client = withToken(await token());
    await client.call(me);
    pass(DAY + 1);
    const error = await failure(client.call(me));
    expect(error).toMatchObject({
      status: 401,
      hint: expect.stringMatching(/^CALLSHEET_ACCESS_TOKEN has expired: tokens live 24 hours/),
    });
  });

  it('was given, and its key was rotated', async () => {
    const { token, withToken, simulator } = await stage();
    const client = withToken(await token());
    simulator.rotateSecret();
    const error = await failure(client.call(me));
    expect(error).toMatchObject({
      status: 401,
      hint: expect.stringMatching(
        /^CALLSHEET_ACCESS_TOKEN was issued before its key's secret was rotated/,
      ),
    });
  });
});
