import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import { documentRemote } from '../../../src/features/stores/remote/document.ts';
import { openExchange } from '../../../src/features/stores/remote/exchange.ts';
import { openRetries } from '../../../src/features/stores/remote/failures.ts';
import { openRemoteStore } from '../../../src/features/stores/remote/store.ts';
import { openAwsCredentials } from '../../../src/features/stores/s3/credentials.ts';
import { s3Place } from '../../../src/features/stores/s3/store.ts';
import { realEffects } from '../../../src/state/lock.ts';
import { began, ended, failureOf, holder, sealed } from '../../state/sample.ts';
import {
  contract,
  type Opening,
  openViews,
  type StateFixture,
} from '../../state/stores/contract.ts';
import { doRun } from '../../state/stores.ts';
import { faultyExchange, lostConnection } from './faulty.ts';
import { openGiven } from './open-given.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from './s3-server.ts';

let server: Awaited<ReturnType<typeof startS3>>;
let count = 0;
beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.stop());

const ENV = { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET };
const NOTHING = { AWS_EC2_METADATA_DISABLED: 'true' };

function newFixture(): StateFixture & { readonly key: string } {
  count += 1;
  const key = `teams/désk (${count})/state.json`;
  const place = { bucket: BUCKET, key, endpoint: server.endpoint, region: 'eu-central-1' };
  const views = openViews();
  const own = () => [...server.objects].filter(([name]) => name.startsWith(key));
  return {
    key,
    open({ effects, fault }: Opening = {}) {
      const world = { ...realEffects(), ...effects };
      const exchange = faultyExchange(openExchange(30_000, [Origin.given(server.endpoint)]), fault);
      const { region } = place;
      const asking = { env: ENV, location: 'there', region, timeout: 30_000, effects: world };
      const credentials = openAwsCredentials(asking);
      const remote = documentRemote(
        s3Place(place, credentials, exchange, openRetries(30_000, world), region),
      );
      return views.add(openRemoteStore(remote, world));
    },
    dump: async () =>
      own()
        .map((entry) => entry.join('\n'))
        .join('\n'),
    async spoil(how) {
      const { state } = JSON.parse(server.objects.get(key) ?? '');
      const at = `${key}.parts/${state.at}`;
      const text = server.objects.get(at) ?? '';
      const spoilt =
        how === 'damaged'
          ? text.replace('Desk a1', 'Desk')
          : sealed({ ...JSON.parse(text), checksum: undefined, version: 99 });
      server.objects.set(at, spoilt);
    },
    place: { s3: place, by: 'operator' },
    env: ENV,
    close: views.close,
    credentials: [SECRET, KEY_ID],
  };
}

describe('a bucket', () => {
  contract(async () => newFixture(), lostConnection, 17);
});

test('holds no more objects than the document names', async () => {
  const fixture = newFixture();
  const store = fixture.open();
  for (let run = 0; run < 4; run += 1) await doRun(store, [began(`r${run}`, run), ended()]);
  const document = server.objects.get(fixture.key) ?? '';
  const parts = [...server.objects.keys()].filter((key) => key.startsWith(`${fixture.key}.parts/`));
  for (const part of parts) expect(document).toContain(part.split('/').at(-1));
});

test.each(['load', 'acquire'] as const)(
  'a first read that is 403 names the right that Amazon wants for it (%s)',
  async (way) => {
    const other = await startS3();
    onTestFinished(() => other.stop());
    other.hidesMissing = true;
    const at = { bucket: BUCKET, key: 'new', endpoint: other.endpoint };
    const store = openGiven({ s3: at }, ENV);
    onTestFinished(() => store.close());
    const failure = await failureOf(() =>
      way === 'load' ? store.load() : store.acquire(holder('r1')),
    );
    expect(failure.message).toContain('answered 403: AccessDenied');
    expect(failure.hint).toContain('s3:ListBucket');
    // A refusal of what was read before has another reason.
    other.hidesMissing = false;
    await doRun(openGiven({ s3: at }, ENV));
    other.refusals.set('new', { status: 403, code: 'AccessDenied' });
    const refused = await failureOf(() => doRun(openGiven({ s3: at }, ENV)));
    expect(refused.hint).not.toContain('ListBucket');
    expect(refused.hint).toContain('AWS_ACCESS_KEY_ID');
  },
);

test('a service without conditional writes is refused', async () => {
  const other = await startS3(false);
  onTestFinished(() => other.stop());
  const at = { bucket: BUCKET, key: 'x', endpoint: other.endpoint };
  const store = openGiven({ s3: at }, ENV);
  onTestFinished(() => store.close());
  const failure = await failureOf(() => store.acquire(holder('r1')));
  expect(failure.message).toContain('does not support conditional writes with if-none-match');
});

test.each<[string, object, Record<string, string>, string, string]>([
  ['no credentials', {}, NOTHING, 'there are no credentials', 'AWS_SECRET_ACCESS_KEY'],
  [
    'wrong credentials',
    {},
    { ...ENV, AWS_SECRET_ACCESS_KEY: 'x' },
    'answered 403: SignatureDoesNotMatch',
    'AWS_',
  ],
  ['a missing bucket', { bucket: 'none' }, ENV, 'answered 404: NoSuchBucket', ''],
  ['no encryption', { endpoint: 'http://s3.example.test' }, ENV, 'not an https address', ''],
])('says what is wrong: %s', async (_name, change, env, message, hint) => {
  const at = { bucket: BUCKET, key: 'x', endpoint: server.endpoint, ...change };
  const store = openGiven({ s3: at }, env);
  onTestFinished(() => store.close());
  const failure = await failureOf(() => store.load());
  expect(failure.code).toBe('state');
  expect(failure.message).toContain(`the state s3://${at.bucket}/x: `);
  expect(failure.message).toContain(message);
  expect(failure.hint).toContain(hint);
});
