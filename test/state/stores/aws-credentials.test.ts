import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isLinkLocal } from '../../../src/core/origin.ts';
import { findRegion, openAwsCredentials } from '../../../src/state/s3/credentials.ts';
import { temporaryFolder } from '../../temporary.ts';
import { began, ended, failureOf, holder, intent, outcome, recorded, resource } from '../sample.ts';
import { doRun } from '../stores.ts';
import { type AwsServer, ROLE, startAws, TOKEN } from './aws-server.ts';
import { openGiven } from './open-given.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from './s3-server.ts';

type Env = Readonly<Record<string, string>>;

/** A bucket, what hands out keys for it, and a home with the person's AWS files. */
async function openWorld({ life, files = {} }: { life?: number; files?: Env } = {}) {
  const s3 = await startS3();
  onTestFinished(() => s3.stop());
  const aws = await startAws(s3.keys, life);
  const home = temporaryFolder();
  const write = (name: string, text: string) => writeFile(join(home, name), text);
  await write('token', `${TOKEN}\n`);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const base = {
    PATH: process.env.PATH ?? '',
    AWS_CONFIG_FILE: join(home, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials'),
    AWS_ENDPOINT_URL_STS: aws.url,
    AWS_EC2_METADATA_DISABLED: 'true',
    CALLSHEET_STATE_TIMEOUT: '20',
  };
  return {
    ...s3,
    aws,
    base,
    home,
    write,
    open(env: Env) {
      const place = { bucket: BUCKET, key: 'state.json', endpoint: s3.endpoint };
      const store = openGiven({ s3: place }, { ...base, ...env });
      onTestFinished(() => store.close());
      return store;
    },
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

const CONTAINER = ({ aws }: { readonly aws: AwsServer }): Env => ({
  AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/container`,
  AWS_CONTAINER_AUTHORIZATION_TOKEN: TOKEN,
});
const IDENTITY = ({ home }: World): Env => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: join(home, 'token'),
  AWS_ROLE_ARN: ROLE,
});
const INSTANCE = ({ aws }: World): Env => ({
  AWS_EC2_METADATA_DISABLED: 'false',
  AWS_EC2_METADATA_SERVICE_ENDPOINT: aws.url,
});
const KEYS = `aws_access_key_id = ${KEY_ID}\naws_secret_access_key=${SECRET}   # of the build\n`;

type Row = {
  readonly name: string;
  readonly files?: Env;
  readonly env: (world: World) => Env;
  /** What the sources are asked. */
  readonly asks?: readonly string[];
};

const STS = 'POST /';
const METADATA = [
  'PUT /latest/api/token',
  'GET /latest/meta-data/iam/security-credentials/',
  'GET /latest/meta-data/iam/security-credentials/runner',
];

const ROWS: readonly Row[] = [
  {
    name: 'keys of the environment, before all others',
    env: (world) => ({
      ...CONTAINER(world),
      ...IDENTITY(world),
      AWS_PROFILE: 'none',
      AWS_ACCESS_KEY_ID: KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
    }),
  },
  { name: 'a web identity', env: IDENTITY, asks: [STS] },
  {
    name: 'the default profile',
    files: { credentials: `; mine\n[default]\n${KEYS}` },
    env: () => ({}),
  },
  {
    name: 'a profile whose keys are in the other file, in Windows line endings',
    files: {
      config: '\uFEFF[profile "ci"]\r\nregion = eu-central-1\r\ns3 =\r\n  max_retries = 3\r\n',
      credentials: `[other]\r\n[ci]\r\n${KEYS.replaceAll('\n', '\r\n')}`,
    },
    env: () => ({ AWS_PROFILE: 'ci' }),
  },
  {
    name: 'a role that is taken with the keys of another profile',
    files: {
      config: `[profile deploy]\nrole_arn = ${ROLE}\nsource_profile = base\nexternal_id = x y\n`,
      credentials: `[base]\n${KEYS}`,
    },
    env: () => ({ AWS_PROFILE: 'deploy' }),
    asks: [STS],
  },
  {
    name: 'a role that is taken with the keys of the container',
    files: {
      config: `[profile deploy]\nrole_arn=${ROLE}\ncredential_source=EcsContainer\n`,
    },
    env: (world) => ({ ...CONTAINER(world), AWS_PROFILE: 'deploy' }),
    asks: ['GET /container', STS],
  },
  {
    name: 'a role that is taken with the keys of the instance',
    files: {
      config: `[default]\nrole_arn=${ROLE}\ncredential_source=Ec2InstanceMetadata\n`,
    },
    env: INSTANCE,
    asks: [...METADATA, STS],
  },
  {
    name: 'a web identity of a profile',
    files: { config: `[profile eks]\nrole_arn=${ROLE}\nweb_identity_token_file=token\n` },
    env: () => ({ AWS_PROFILE: 'eks' }),
    asks: [STS],
  },
  {
    name: 'a process that a profile names',
    files: {
      config: '[profile vault]\ncredential_process = node process.mjs\n',
      'process.mjs': `console.log(JSON.stringify({ Version: 1, AccessKeyId: '${KEY_ID}', SecretAccessKey: '${SECRET}' }));`,
    },
    env: () => ({ AWS_PROFILE: 'vault' }),
  },
  { name: 'a container', env: CONTAINER, asks: ['GET /container'] },
  {
    name: 'a container whose token is in a file',
    env: ({ home, aws }) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(home, 'token'),
    }),
    asks: ['GET /container'],
  },
  { name: 'an instance', env: INSTANCE, asks: METADATA },
  {
    name: 'a container, where the default profile has a region and no keys',
    files: { config: '[default]\nregion = eu-central-1\n' },
    env: CONTAINER,
    asks: ['GET /container'],
  },
];

describe('a bucket takes the keys of', () => {
  test.each(ROWS)('$name', async ({ files = {}, env, asks = [] }) => {
    const home = { ...files };
    const world = await openWorld();
    for (const [name, text] of Object.entries(home))
      await world.write(
        name,
        text
          .replace('=token\n', `=${join(world.home, 'token')}\n`)
          .replace('process.mjs\n', `${join(world.home, 'process.mjs')}\n`),
      );
    const store = world.open(env(world));
    await doRun(store);
    expect((await store.load()).state?.serial).toBe(1);
    expect(world.aws.asked).toEqual(asks);
  });
});

describe('keys that end in mid-run', () => {
  test('are renewed once for all that was refused, and nothing is lost', async () => {
    const world = await openWorld();
    const lease = await world.open(CONTAINER(world)).acquire(holder('r1'));
    await lease.append(began('r1'));
    world.aws.expire();
    await Promise.all([
      lease.append(intent(1, 'agent.desk')),
      lease.append(outcome(1, 'a1')),
      lease.append(recorded('agent.desk', resource('a1'))),
    ]);
    world.aws.expire();
    await lease.append(ended());
    expect(world.aws.asked).toHaveLength(3);
    const { pending } = await world.open(CONTAINER(world)).load();
    expect(pending.map(({ type }) => type)).toEqual([
      'began',
      'intent',
      'outcome',
      'resource',
      'ended',
    ]);
  });

  test('and are the same when they are asked for again stop it, and it says whose they are', async () => {
    const world = await openWorld({ files: { credentials: `[ci]\n${KEYS}` } });
    const store = world.open({ AWS_PROFILE: 'ci' });
    const lease = await store.acquire(holder('r1'));
    await lease.append(began('r1'));
    world.keys.set(KEY_ID, { secret: SECRET, hasExpired: true });
    const failure = await failureOf(() => lease.append(intent(1, 'agent.desk')));
    expect(failure.message).toBe(
      'cannot write the state s3://states/state.json: the credentials of the profile ci have expired',
    );
    // Somebody signs in again meanwhile, and the files have other keys.
    world.keys.set('AKIANEW', { secret: 'new' });
    await world.write(
      'credentials',
      '[ci]\naws_access_key_id=AKIANEW\naws_secret_access_key=new\n',
    );
    expect((await store.load()).pending).toEqual([began('r1')]);
  });

  test('and whose source fails stop it, and it says which', async () => {
    const world = await openWorld();
    const lease = await world.open(IDENTITY(world)).acquire(holder('r1'));
    await lease.append(began('r1'));
    world.aws.expire();
    await world.write('token', 'another');
    const failure = await failureOf(() => lease.append(intent(1, 'agent.desk')));
    expect(failure.message).toMatch(
      /^cannot write the state s3:\/\/states\/state.json with the credentials of the role arn:aws:\S+: 127\.0\.0\.1:\d+: the server answered 403: No, not you$/,
    );
    expect(failure.hint).toContain('trust policy');
    expect(failure.hint).toContain('Then run the same command again');
  });
});

describe('keys that say when they end', () => {
  /** What hands out keys, by a clock of its own. */
  async function openClock(life: number) {
    const { aws, base } = await openWorld({ life });
    let now = Date.now();
    const effects = { now: () => now, sleep: async () => {} };
    const env = { ...base, ...CONTAINER({ aws }) };
    const credentials = openAwsCredentials({
      env,
      effects,
      location: 's3://x/y',
      region: 'eu-central-1',
      timeout: 20_000,
    });
    const id = async () => (await credentials.current('write')).accessKeyId;
    const pass = (milliseconds: number) => {
      now += milliseconds;
    };
    return { aws, id, pass };
  }
  const MINUTE = 60_000;

  test('are renewed five minutes before, and asked for once by all who need them', async () => {
    const { aws, id, pass } = await openClock(60 * MINUTE);
    expect(new Set(await Promise.all([id(), id(), id()]))).toEqual(new Set(['ASIACANARY1']));
    pass(54 * MINUTE);
    expect(await id()).toBe('ASIACANARY1');
    pass(2 * MINUTE);
    expect(new Set(await Promise.all([id(), id()]))).toEqual(new Set(['ASIACANARY2']));
    expect(aws.asked).toHaveLength(2);
  });

  test('soon are not asked for at each request', async () => {
    const { aws, id, pass } = await openClock(4 * MINUTE);
    for (const _ of [1, 2, 3]) await id();
    expect(aws.asked).toHaveLength(1);
    pass(MINUTE);
    expect(await id()).toBe('ASIACANARY2');
  });

  test('are used until then where their source fails', async () => {
    const { aws, id, pass } = await openClock(60 * MINUTE);
    await id();
    pass(56 * MINUTE);
    aws.answers.push({ status: 400, body: 'no' });
    expect([await id(), await id()]).toEqual(['ASIACANARY1', 'ASIACANARY1']);
    expect(aws.asked).toHaveLength(2);
    pass(MINUTE);
    expect(await id()).toBe('ASIACANARY2');
  });
});

describe('says which source has what fault, and asks nobody else', () => {
  const rows: readonly (readonly [string, Env, (world: World) => Env, RegExp, RegExp])[] = [
    [
      'a profile that is not there',
      {},
      () => ({ AWS_PROFILE: 'ci' }),
      /profile ci is in no AWS file/,
      /list-profiles/,
    ],
    [
      'a profile without credentials',
      { config: '[profile ci]\nregion=x\n' },
      () => ({ AWS_PROFILE: 'ci' }),
      /profile ci has no credentials/,
      /--profile ci/,
    ],
    [
      'a profile that signs in with a browser',
      { config: '[profile ci]\nsso_session=x\n' },
      () => ({ AWS_PROFILE: 'ci' }),
      /profile ci signs in with a browser/,
      /aws configure export-credentials --profile ci/,
    ],
    [
      'a role that is its own source',
      {
        config: `[profile a]\nrole_arn=${ROLE}\nsource_profile=b\n[profile b]\nrole_arn=${ROLE}\nsource_profile=a\n`,
      },
      () => ({ AWS_PROFILE: 'a' }),
      /profile a gets its role from itself/,
      /source_profile/,
    ],
    [
      'a role without a source',
      { config: `[default]\nrole_arn=${ROLE}\ncredential_source=Environment\n` },
      () => ({}),
      /profile default has a role, but no keys/,
      /credential_source/,
    ],
    [
      'a process that fails',
      { config: '[default]\ncredential_process=exit 3\n' },
      () => ({}),
      /credential_process that gave no keys/,
      /by hand/,
    ],
    [
      'a token that is not there',
      {},
      (world) => ({ ...IDENTITY(world), AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token' }),
      /the token in \/nowhere\/token cannot be read \(ENOENT\)/,
      /mounted/,
    ],
    [
      'a role that may not be taken',
      {},
      (world) => ({ ...IDENTITY(world), AWS_ROLE_ARN: `${ROLE}s` }),
      /role\/deploys: 127\.0\.0\.1:\d+: the server answered 403: Not authorized to assume it/,
      /trust policy/,
    ],
    [
      'a container that lets nobody in',
      {},
      (world) => ({ ...CONTAINER(world), AWS_CONTAINER_AUTHORIZATION_TOKEN: 'x' }),
      /credentials of the container: 127\.0\.0\.1:\d+: the server answered 401/,
      /has a role/,
    ],
    [
      'a container that answers with a page',
      {},
      ({ aws }) => {
        aws.answers.push({ status: 200, body: '<html>canary</html>' });
        return CONTAINER({ aws });
      },
      /the container: the answer is a web page/,
      /Correct the address/,
    ],
    [
      'a container that answers without keys',
      {},
      ({ aws }) => {
        aws.answers.push({ status: 200, body: '{"AccessKeyId":"canary"}' });
        return CONTAINER({ aws });
      },
      /the container: 127\.0\.0\.1:\d+ answered without keys/,
      /has a role/,
    ],
    [
      'a container where nobody listens',
      {},
      () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/x' }),
      /credentials of the container: no server listens there/,
      /./,
    ],
    [
      'an instance without a role',
      {},
      ({ aws, ...world }) => {
        aws.answers.push({ status: 200, body: 'x' }, { status: 404, body: '' });
        return INSTANCE({ aws, ...world });
      },
      /credentials of the instance: 127\.0\.0\.1:\d+: the server answered 404/,
      /has a role/,
    ],
    [
      'a source in clear text',
      {},
      () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://keys.example.test/x' }),
      /http:\/\/keys\.example\.test is not an https address/,
      /./,
    ],
    ['nothing at all', {}, () => ({}), /there are no credentials/, /AWS_PROFILE/],
  ];
  test.each(rows)('%s', async (_name, files, envOf, message, hint) => {
    const world = await openWorld({ files });
    const env = envOf(world);
    const failure = await failureOf(() => world.open(env).load());
    expect(failure.code).toBe('state');
    expect(failure.message).toMatch(message);
    expect(failure.hint).toMatch(hint);
    expect(`${failure.message}${failure.hint}`).not.toContain('canary');
    expect(world.objects.size).toBe(0);
  });
});

test('an AWS file that cannot be read is named', async () => {
  const { base, home } = await openWorld();
  const failure = await failureOf(() => findRegion({ ...base, AWS_CONFIG_FILE: home }));
  expect(failure.message).toBe(`${home} cannot be read (EISDIR)`);
});

test('the region is that of the environment, or of the profile', async () => {
  const { base } = await openWorld({
    files: { config: '[default]\nregion=eu-west-1\n[profile ci]\nregion = eu-central-1\n' },
  });
  expect(await findRegion({ ...base, AWS_REGION: 'us-west-2' })).toBe('us-west-2');
  expect(await findRegion({ ...base, AWS_DEFAULT_REGION: 'us-west-1' })).toBe('us-west-1');
  expect(await findRegion({ ...base, AWS_PROFILE: 'ci' })).toBe('eu-central-1');
  expect(await findRegion(base)).toBe('eu-west-1');
  expect(await findRegion({})).toBeUndefined();
});

test.each([
  ['http://169.254.169.254/latest', true],
  ['http://169.254.170.23', true],
  ['http://[fd00:ec2::254]/latest', true],
  ['http://[fe80::1]', true],
  ['http://169.254.169.254.example.test', false],
  ['http://169.25.4.1', false],
  ['http://[fd00::254]', false],
  ['http://10.0.0.1', false],
])('on the link of the machine: %s is %s', (url, isIt) => {
  expect(isLinkLocal(new URL(url))).toBe(isIt);
});
