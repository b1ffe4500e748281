import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AwsClient } from 'aws4fetch';
import { CallsheetError } from '../../core/errors.ts';
import { isConfidential, isLinkLocal, Origin } from '../../core/origin.ts';
import { findFilled } from '../../core/value.ts';
import type { LockEffects } from '../lock.ts';
import { type Answer, type Ask, ask, askOnce, openExchange, said } from '../remote/exchange.ts';
import { type Doing, findCode, openRetries, refusedByStore } from '../remote/failures.ts';
import { parseRecord } from '../shape.ts';

/**
 * AWS's usual chain. The first source that is named is the one that is used: where it fails that is said, and no other
 * is tried. A stack names none of them.
 *
 * | source            | named by                                                                         |
 * |-------------------|----------------------------------------------------------------------------------|
 * | keys              | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`                |
 * | web identity      | `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`                                    |
 * | profile           | `AWS_PROFILE`, or one that is called `default`                                   |
 * | container         | `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, `AWS_CONTAINER_CREDENTIALS_FULL_URI`   |
 * | instance metadata | nothing; it is asked last, unless `AWS_EC2_METADATA_DISABLED` is `true`          |
 *
 * The chain of AWS's SDK is left out: bundled it is 165 kB packed, and it goes by no proxy and no authorities.
 */
export type AwsCredentials = {
  /** Keys that hold for a while yet. Throws `CallsheetError('state')` where there are none. */
  readonly current: (what: Doing) => Promise<AwsKeys>;
  /** Others than those that have expired, as the service says; undefined where the source has no others. */
  readonly renewed: (what: Doing, expired: AwsKeys) => Promise<AwsKeys | undefined>;
};

export type AwsKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they end, in milliseconds; undefined where nobody says. */
  readonly expires?: number;
  /** Where they come from, for messages. */
  readonly from: string;
};

export const SOURCES =
  'They may come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, from a profile (AWS_PROFILE), from a web identity (AWS_WEB_IDENTITY_TOKEN_FILE), or from a role of the container or the instance.';

type Env = Readonly<Record<string, string | undefined>>;

type Seek = {
  readonly env: Env;
  readonly what: Doing;
  /** The state that the keys are for, as messages call it. */
  readonly location: string;
  readonly region: string;
  readonly timeout: number;
  readonly effects: Pick<LockEffects, 'now' | 'sleep'>;
};

/** Keys are renewed so long before their end, as AWS's own libraries do. */
const EARLY_MS = 5 * 60_000;
/** A source whose keys end soon, or that fails while the old ones hold, is not asked at each request. */
const PAUSE_MS = 30_000;

/** Opens the chain. Nothing is read or asked before something needs keys. */
export function openAwsCredentials(given: Omit<Seek, 'what'>): AwsCredentials {
  const now = () => given.effects.now();
  let known: AwsKeys | undefined;
  let dueAt = 0;
  let seeking: Promise<AwsKeys> | undefined;

  async function find(what: Doing): Promise<AwsKeys> {
    const keys = await findKeys({ ...given, what });
    const { expires = Number.POSITIVE_INFINITY } = keys;
    dueAt = Math.min(expires, Math.max(now() + PAUSE_MS, expires - EARLY_MS));
    known = keys;
    return keys;
  }

  /** Whoever comes meanwhile waits for the same ones. */
  function found(what: Doing): Promise<AwsKeys> {
    seeking ??= find(what).finally(() => {
      seeking = undefined;
    });
    return seeking;
  }

  return {
    async current(what) {
      const last = known;
      if (last !== undefined && now() < dueAt) return last;
      try {
        return await found(what);
      } catch (error) {
        if (last?.expires === undefined || now() >= last.expires) throw error;
        dueAt = Math.min(last.expires, now() + PAUSE_MS);
        return last;
      }
    },
    async renewed(what, expired) {
      const keys = known === expired || known === undefined ? await found(what) : known;
      return isSame(keys, expired) ? undefined : keys;
    },
  };
}

function isSame(one: AwsKeys, other: AwsKeys): boolean {
  return one.accessKeyId === other.accessKeyId && one.sessionToken === other.sessionToken;
}

/** The region that the environment or the profile names. */
export async function findRegion(env: Env): Promise<string | undefined> {
  const named = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  return named || (await readProfiles(env)).get(profileName(env))?.region || undefined;
}

async function findKeys(seek: Seek): Promise<AwsKeys> {
  const { env } = seek;
  const byToken = {
    web_identity_token_file: env.AWS_WEB_IDENTITY_TOKEN_FILE,
    role_arn: env.AWS_ROLE_ARN,
    role_session_name: env.AWS_ROLE_SESSION_NAME,
  };
  const isNamed = Boolean(env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE);
  const keys =
    keysIn(env) ??
    (await keysOfIdentity(seek, byToken)) ??
    (await keysOfProfile(seek, profileName(env), isNamed)) ??
    (await keysOfContainer(seek)) ??
    (await keysOfInstance(seek));
  if (keys !== undefined) return keys;
  throw refusedByStore('open', seek.location, 'there are no credentials', SOURCES);
}

function keysIn(env: Env): AwsKeys | undefined {
  const { AWS_ACCESS_KEY_ID: AccessKeyId, AWS_SECRET_ACCESS_KEY: SecretAccessKey } = env;
  return toKeys('the environment', { AccessKeyId, SecretAccessKey, Token: env.AWS_SESSION_TOKEN });
}

/** Keys by the names that AWS gives them; undefined where they are not there. */
function toKeys(from: string, said: Readonly<Record<string, unknown>>): AwsKeys | undefined {
  const [accessKeyId, secretAccessKey, sessionToken, ends] = [
    said.AccessKeyId,
    said.SecretAccessKey,
    said.Token,
    said.Expiration,
  ].map(findFilled);
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const expires = Date.parse(ends ?? '');
  return {
    accessKeyId,
    secretAccessKey,
    from,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(Number.isNaN(expires) ? {} : { expires }),
  };
}

/** A server that gives keys. */
type Source = {
  readonly from: string;
  readonly url: string;
  /** What a person can do where it gives none. */
  readonly hint: string;
  readonly timeout?: number;
};

type Send = (request: Omit<Ask, 'url'> & { readonly url?: string }) => Promise<Answer>;

/** Asks a server for keys. It is named by the environment, by the person's AWS files, or by AWS. */
async function askSource(
  seek: Seek,
  { from, url, hint, timeout = seek.timeout }: Source,
  work: (send: Send, once: Send) => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<AwsKeys | undefined> {
  const { what, effects } = seek;
  const location = `${seek.location} with the credentials of ${from}`;
  const at = URL.parse(url);
  if (at === null || !(isConfidential(at) || isLinkLocal(at)))
    throw refusedByStore(
      what,
      location,
      `${at?.origin ?? 'their address'} is not an https address`,
    );
  const exchange = openExchange(timeout, [Origin.given(at.href)]);
  const asking = { exchange, location, retries: openRetries(timeout, effects) };
  const sending = (how: typeof ask): Send => {
    return async (request) => {
      const answer = await how(asking, what, { url: at.href, ...request });
      if (answer.status === 200) return answer;
      throw refusedByStore(what, location, `${at.host}: ${said(answer)}`, hint);
    };
  };
  try {
    const answered = await work(sending(ask), sending(askOnce));
    if (answered === undefined) return undefined;
    const keys = toKeys(from, answered);
    if (keys !== undefined) return keys;
    // What may hold keys is never repeated in a message.
    throw refusedByStore(what, location, `${at.host} answered without keys`, hint);
  } finally {
    await exchange.close();
  }
}

async function readToken({ what, location }: Seek, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = `the token in ${file} cannot be read (${findCode(error)})`;
    throw refusedByStore(what, location, why, 'Check that it is mounted there.', error);
  });
  return text.trim();
}

const SESSION = 'callsheet';
const REGION = /^[a-z0-9-]+$/;
const ROLE_HINT = 'Check the ARN of the role and its trust policy.';

/** STS gives keys for a token that GitHub, EKS or another issuer puts into a file, and renews there. */
async function keysOfIdentity(seek: Seek, profile: Profile): Promise<AwsKeys | undefined> {
  const { web_identity_token_file: file, role_arn: role } = profile;
  if (!file || !role) return undefined;
  const token = await readToken(seek, file);
  return askSts(seek, role, {
    Action: 'AssumeRoleWithWebIdentity',
    RoleSessionName: profile.role_session_name || SESSION,
    WebIdentityToken: token,
  });
}

/** Asks for the keys of a role. `signer`: where the question itself holds no token. */
function askSts(
  seek: Seek,
  role: string,
  question: Readonly<Record<string, string>>,
  signer?: AwsKeys,
): Promise<AwsKeys | undefined> {
  const { env } = seek;
  const region = REGION.test(seek.region) ? seek.region : 'us-east-1';
  const url =
    env.AWS_ENDPOINT_URL_STS || env.AWS_ENDPOINT_URL || `https://sts.${region}.amazonaws.com`;
  return askSource(seek, { from: `the role ${role}`, url, hint: ROLE_HINT }, async (send) => {
    const text = { ...question, RoleArn: role, Version: '2011-06-15' };
    const body = new URLSearchParams(text).toString();
    const plain = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const request = { method: 'POST', headers: plain, body };
    const signed =
      signer && (await new AwsClient({ ...signer, service: 'sts', region }).sign(url, request));
    const headers = Object.fromEntries(signed?.headers ?? plain);
    const answer = await send({ method: 'POST', headers, body });
    const part = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(answer.text)?.[1];
    return {
      AccessKeyId: part('AccessKeyId'),
      SecretAccessKey: part('SecretAccessKey'),
      Token: part('SessionToken'),
      Expiration: part('Expiration'),
    };
  });
}

/** The settings of a profile, from both files; those of the credentials file win. */
type Profile = Readonly<Record<string, string | undefined>>;

function profileName(env: Env): string {
  return env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE || 'default';
}

async function readProfiles(env: Env): Promise<ReadonlyMap<string, Profile>> {
  const home = env.HOME || env.USERPROFILE;
  const own = (name: string) => (home ? join(home, '.aws', name) : undefined);
  const [config, credentials] = await Promise.all([
    readSections(env.AWS_CONFIG_FILE || own('config')),
    readSections(env.AWS_SHARED_CREDENTIALS_FILE || own('credentials')),
  ]);
  const profiles = new Map<string, Profile>();
  for (const [section, settings] of config) {
    const [, name] = /^profile\s+(.+)$/.exec(section) ?? [];
    if (name !== undefined || section === 'default') profiles.set(name ?? section, settings);
  }
  for (const [name, settings] of credentials)
    profiles.set(name, { ...profiles.get(name), ...settings });
  return profiles;
}

/** Reads an INI file as AWS writes it. What is indented belongs to the line above, and is none of what is asked here. */
async function readSections(file: string | undefined): Promise<ReadonlyMap<string, Profile>> {
  const sections = new Map<string, Record<string, string>>();
  if (file === undefined) return sections;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (findCode(error) === 'ENOENT') return '';
    throw new CallsheetError('config', `${file} cannot be read (${findCode(error)})`, {
      hint: 'Callsheet looks for AWS credentials there. AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name other files.',
      cause: error,
    });
  });
  let section: Record<string, string> = {};
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, header] = /^\[\s*([^\]]+?)\s*\]/.exec(line) ?? [];
    const [, key, value = ''] = /^([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (header !== undefined) {
      section = {};
      sections.set(header.replaceAll(/["']/g, ''), section);
    } else if (key !== undefined) section[key.toLowerCase()] = value.replace(/\s+[#;].*$/, '');
  }
  return sections;
}

/** The keys of a profile; undefined where nobody named it and it has none. `before`: those that get their role from it. */
async function keysOfProfile(
  seek: Seek,
  name: string,
  isNamed: boolean,
  before: readonly string[] = [],
): Promise<AwsKeys | undefined> {
  const from = `the profile ${name}`;
  const refuse = (why: string, hint: string): CallsheetError =>
    refusedByStore(seek.what, seek.location, `${from} ${why}`, hint);
  const profile = (await readProfiles(seek.env)).get(name);
  if (profile === undefined) {
    if (isNamed)
      throw refuse(
        'is in no AWS file',
        'aws configure list-profiles shows the configured profiles.',
      );
    return undefined;
  }
  const own = toKeys(from, {
    AccessKeyId: profile.aws_access_key_id,
    SecretAccessKey: profile.aws_secret_access_key,
    Token: profile.aws_session_token,
  });
  const { source_profile: source, credential_source: place, role_arn: role } = profile;
  if (role && (source || place)) {
    if (profile.mfa_serial) throw refuse('asks for the code of a device', handOver(name));
    if (before.includes(name)) throw refuse('gets its role from itself', 'Mend source_profile.');
    const signer = source === name ? own : await openSigner(source, place);
    if (signer !== undefined) return askSts(seek, role, assuming(profile), signer);
    throw refuse(
      `has a role, but no keys to assume it with (${source ? 'source_profile' : 'credential_source'})`,
      'credential_source is Environment, EcsContainer or Ec2InstanceMetadata.',
    );
  }
  const found = own ?? (await keysOfIdentity(seek, profile)) ?? (await keysOfProcess());
  if (found !== undefined) return found;
  if (profile.sso_session || profile.sso_start_url || profile.login_session)
    throw refuse('signs in with a browser', handOver(name));
  if (isNamed) throw refuse('has no credentials', handOver(name));
  return undefined;

  function openSigner(source: string | undefined, place: string | undefined) {
    if (source) return keysOfProfile(seek, source, true, [...before, name]);
    if (place === 'Environment') return keysIn(seek.env);
    if (place === 'EcsContainer') return keysOfContainer(seek);
    return place === 'Ec2InstanceMetadata' ? keysOfInstance(seek) : undefined;
  }

  async function keysOfProcess(): Promise<AwsKeys | undefined> {
    const { credential_process: command } = profile ?? {};
    if (!command) return undefined;
    const options = { env: { ...seek.env }, timeout: seek.timeout, windowsHide: true };
    const { stdout } = await promisify(exec)(command, options).catch(() => ({ stdout: '' }));
    const answered = parseRecord(stdout);
    const keys = toKeys(from, { ...answered, Token: answered?.SessionToken });
    if (keys !== undefined) return keys;
    throw refuse('has a credential_process that gave no keys', 'Run that command by hand.');
  }
}

function handOver(profile: string): string {
  return `Export keys with the AWS CLI: eval "$(aws configure export-credentials --profile ${profile} --format env)"`;
}

function assuming(profile: Profile): Readonly<Record<string, string>> {
  const { external_id: external, duration_seconds: seconds } = profile;
  return {
    Action: 'AssumeRole',
    RoleSessionName: profile.role_session_name || SESSION,
    ...(external ? { ExternalId: external } : {}),
    ...(seconds ? { DurationSeconds: seconds } : {}),
  };
}

/** ECS, EKS Pod Identity, and what else speaks as they do. */
async function keysOfContainer(seek: Seek): Promise<AwsKeys | undefined> {
  const { env } = seek;
  const path = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const url = path
    ? new URL(path, 'http://169.254.170.2').href
    : env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (!url) return undefined;
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token = file ? await readToken(seek, file) : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const source = { from: 'the container', url, hint: 'Check that the container has a role.' };
  return askSource(
    seek,
    source,
    async (send) =>
      parseRecord(
        (await send({ method: 'GET', headers: token ? { authorization: token } : {} })).text,
      ) ?? {},
  );
}

/** Milliseconds in which an instance answers. It is asked wherever nothing is named, and mostly there is none. */
const INSTANCE_MS = 1_000;
const INSTANCE = 'http://169.254.169.254';
const INSTANCE_BY_IPV6 = 'http://[fd00:ec2::254]';

/** The role of an instance, by version 2 of its metadata; undefined where this is none, or has no role. */
async function keysOfInstance(seek: Seek): Promise<AwsKeys | undefined> {
  const { env } = seek;
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') return undefined;
  const named = env.AWS_EC2_METADATA_SERVICE_ENDPOINT;
  const isSix = env.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.toLowerCase() === 'ipv6';
  const url = named || (isSix ? INSTANCE_BY_IPV6 : INSTANCE);
  const source = {
    from: 'the instance',
    url,
    hint: 'Check that the instance has a role, and that version 2 of its metadata service is enabled.',
    ...(named ? {} : { timeout: INSTANCE_MS }),
  };
  return askSource(seek, source, async (send, once) => {
    const at = (path: string) => new URL(`/latest/${path}`, url).href;
    const session = await once({
      method: 'PUT',
      url: at('api/token'),
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
    }).catch((error: unknown) => {
      // Nobody said that this is an instance, so what answers there may be anything.
      if (error instanceof CallsheetError && !named) return undefined;
      throw error;
    });
    if (session === undefined) return undefined;
    const headers = { 'x-aws-ec2-metadata-token': session.text };
    const get = (path: string) =>
      send({ method: 'GET', url: at(`meta-data/iam/security-credentials/${path}`), headers });
    const [role = ''] = (await get('')).text.split('\n');
    return parseRecord((await get(encodeURIComponent(role.trim()))).text) ?? {};
  });
}
