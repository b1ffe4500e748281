import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { postNotice, readNoticeAddress } from '../../src/platform/notify.ts';

/** A receiver that begins its answer and never ends it, and another that takes everything. */
async function openReceiver(isDripping: boolean) {
  const received: { readonly authorization: string | undefined; readonly url: string }[] = [];
  const server = createServer((request, answer) => {
    const { authorization } = request.headers;
    received.push({ authorization, url: request.url ?? '' });
    answer.writeHead(200);
    if (!isDripping) {
      answer.end();
      return;
    }
    const drip = setInterval(() => answer.write('.'), 50);
    answer.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, host: `127.0.0.1:${port}` };
}

const NOTICE = { delivery: 'd1', body: '{"is_drifted":true}' };
const deps = (stop = new AbortController().signal) => ({
  pause: { sleep: async () => {}, random: () => 1 },
  stop,
  now: () => new Date(),
});

test('a receiver that answers drop by drop is not waited for', async () => {
  const { received, host } = await openReceiver(true);
  const address = readNoticeAddress(`http://${host}/secret`, 'the address');
  const timeouts = { connect: 200, headers: 200, body: 300 };
  await expect(postNotice(address, NOTICE, { ...deps(), timeouts })).rejects.toThrow(
    /^the notification was not delivered: .*, in 3 tries$/,
  );
  expect(received).toHaveLength(3);
});

test.each([
  ['ana:s%20e', `Basic ${Buffer.from('ana:s e').toString('base64')}`],
  ['a%zz:x', `Basic ${Buffer.from('a%zz:x').toString('base64')}`],
])('a user and password in the address go into the header (%s)', async (pair, header) => {
  const { received, host } = await openReceiver(false);
  const address = readNoticeAddress(`http://${pair}@${host}/hook?k=1#x`, 'the address');
  await postNotice(address, NOTICE, deps());
  expect(received).toEqual([{ authorization: header, url: '/hook?k=1' }]);
});

test('an interrupt ends it without another try', async () => {
  const { received, host } = await openReceiver(true);
  const stopper = new AbortController();
  const address = readNoticeAddress(`http://${host}/secret`, 'the address');
  const posting = postNotice(address, NOTICE, deps(stopper.signal));
  await expect.poll(() => received.length).toBe(1);
  stopper.abort();
  await expect(posting).rejects.toThrow('was not delivered');
  expect(received).toHaveLength(1);
});
