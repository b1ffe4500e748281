import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isLinkLocal } from '../../../src/core/origin.ts';
import { findRegion, openAwsCredentials } from '../../../src/features/stores/s3/credentials.ts';
import {
  began,
  ended,
  failureOf,
  holder,
  intent,
  outcome,
  recorded,
  resource,
} from '../../state/sample.ts';
import { doRun } from '../../state/stores.ts';
import { temporaryFolder } from '../../temporary.ts';
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
  await write('token', TOKEN);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  // AWS's own code takes these two from the process.
  vi.stubEnv('AWS_ENDPOINT_URL_STS', aws.url);
  vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', aws.url);
  const base = {
    PATH: process.env.PATH ?? '',
    AWS_CONFIG_FILE: join(home, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials'),
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
afterEach(() => {
  vi.unstubAllEnvs();
});
type World = Awaited<ReturnType<typeof openWorld>>;

const CONTAINER = ({ aws }: { readonly aws: AwsServer }): Env => ({
  AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/container`,
  AWS_CONTAINER_AUTHORIZATION_TOKEN: TOKEN,
});
const IDENTITY = ({ home }: World): Env => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: join(home, 'token'),
  AWS_ROLE_ARN: ROLE,
});
const INSTANCE = (): Env => ({ AWS_EC2_METADATA_DISABLED: 'false' });
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
    name: 'a profile whose keys are in the other file',
    files: {
      config: '[profile ci]\nregion = eu-central-1\n',
      credentials: `[other]\n[ci]\n${KEYS}`,
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
      /^cannot write the state s3:\/\/states\/state.json: there are no credentials \(the role arn:aws:\S+: InvalidIdentityTokenException: No, not you\)$/,
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
    const no = { status: 400, body: 'no' };
    aws.answers.push(no, no);
    expect([await id(), await id()]).toEqual(['ASIACANARY1', 'ASIACANARY1']);
    expect(aws.asked).toHaveLength(3);
    pass(MINUTE);
    expect(await id()).toBe('ASIACANARY2');
  });
});

/** A source that gives nothing, each with what is said of it and what to do. */
type Fault = {
  readonly name: string;
  readonly files?: Env;
  readonly env?: (world: World) => Env;
  /** What the container or the instance answers, each time that it is asked. */
  readonly answer?: { readonly status: number; readonly body: string };
  /** Where AWS's code asks, in the place of the stand-in. */
  readonly endpoints?: Env;
  readonly says: RegExp;
  readonly hint?: RegExp;
};

const PROFILE = () => ({ AWS_PROFILE: 'ci' });
const FAULTS: readonly Fault[] = [
  {
    name: 'a profile without credentials',
    files: { config: '[profile ci]\nregion=x\n', credentials: `[default]\n${KEYS}` },
    env: PROFILE,
    says: /the profile ci: the AWS files have no credentials for it/,
    hint: /eval "\$\(aws configure export-credentials --profile ci --format env\)"/,
  },
  {
    name: 'a role that is its own source',
    files: {
      config: `[profile ci]\nrole_arn=${ROLE}\nsource_profile=b\n[profile b]\nrole_arn=${ROLE}\nsource_profile=ci\n`,
    },
    env: PROFILE,
    says: /the profile ci: Detected a cycle/,
  },
  {
    name: 'a process that fails, with a secret in its command',
    files: { config: '[profile ci]\ncredential_process=exit 3 # canary\n' },
    env: PROFILE,
    says: /the profile ci: its credential_process failed/,
  },
  {
    name: 'a process that does not end',
    files: { config: '[profile ci]\ncredential_process=sleep 2\n' },
    env: () => ({ ...PROFILE(), CALLSHEET_STATE_TIMEOUT: '1' }),
    says: /the profile ci: it did not answer in time/,
  },
  {
    name: 'a token that is not there',
    env: (world) => ({ ...IDENTITY(world), AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token' }),
    says: /ENOENT: no such file or directory, open '\/nowhere\/token'/,
    hint: /the file of the token/,
  },
  {
    name: 'a role that may not be taken',
    env: (world) => ({ ...IDENTITY(world), AWS_ROLE_ARN: `${ROLE}s` }),
    says: /the role \S+\/deploys: AccessDenied: Not authorized to assume it/,
    hint: /trust policy/,
  },
  {
    name: 'a role that is asked for in clear text',
    env: IDENTITY,
    endpoints: { AWS_ENDPOINT_URL_STS: 'http://sts.example.test' },
    says: /http:\/\/sts\.example\.test is not an https address/,
  },
  {
    name: 'a container that lets nobody in',
    env: (world) => ({ ...CONTAINER(world), AWS_CONTAINER_AUTHORIZATION_TOKEN: 'x' }),
    says: /the container: Server responded with status: 401/,
    hint: /AWS_PROFILE/,
  },
  {
    name: 'a container that answers with a page',
    env: CONTAINER,
    answer: { status: 200, body: '<html>canary</html>' },
    says: /the container: its answer cannot be read/,
  },
  {
    name: 'a container that answers without keys',
    env: CONTAINER,
    answer: { status: 200, body: '{"AccessKeyId":"canary"}' },
    says: /the container: HTTP credential provider response not of the required format/,
  },
  {
    name: 'a container where nobody listens',
    env: () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/x' }),
    says: /the container: connect ECONNREFUSED/,
  },
  {
    name: 'a container in clear text',
    env: () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://keys.example.test/x' }),
    says: /the container: URL not accepted/,
  },
  {
    name: 'an instance without a role',
    env: INSTANCE,
    answer: { status: 404, body: '' },
    says: /the instance: /,
  },
  {
    name: 'no instance',
    env: INSTANCE,
    endpoints: { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:1' },
    says: /the instance: version 2 of its metadata service does not answer/,
  },
  { name: 'nothing at all', says: /there are no credentials/, hint: /AWS_PROFILE/ },
];

describe('says which source has what fault', () => {
  test.each(FAULTS)('$name', async (row) => {
    const { files = {}, env = () => ({}), endpoints = {}, answer, says, hint = /./ } = row;
    const world = await openWorld({ files });
    if (answer !== undefined) world.aws.answers.push(answer, answer);
    for (const [name, value] of Object.entries(endpoints)) vi.stubEnv(name, value);
    const failure = await failureOf(() => world.open(env(world)).load());
    expect(failure.code).toBe('state');
    expect(failure.message).toMatch(says);
    expect(failure.hint).toMatch(hint);
    expect(`${failure.message}${failure.hint}${failure.cause}`).not.toContain('canary');
    expect(world.objects.size).toBe(0);
  });
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
