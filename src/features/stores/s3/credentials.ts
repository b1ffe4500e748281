import type { HttpRequest } from '@smithy/core/protocols';
import { quoted } from '../../../core/command-line.ts';
import { redactText } from '../../../core/credentials.ts';
import { CallsheetError, clip } from '../../../core/errors.ts';
import { isConfidential, Origin } from '../../../core/origin.ts';
import type { LockEffects } from '../../../state/lock.ts';
import { openExchange } from '../remote/exchange.ts';
import { type Doing, findLoss, findRefusal, refusedByStore } from '../remote/failures.ts';

/**
 * AWS's usual sources, read by AWS's own credential providers. One that is named is the only one that is asked, and
 * where nothing is named, the default profile, the container and the instance are asked in this order. A stack names
 * none of them.
 *
 * | source            | named by                                                                         |
 * |-------------------|----------------------------------------------------------------------------------|
 * | keys              | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`                |
 * | web identity      | `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`                                    |
 * | profile           | `AWS_PROFILE`                                                                    |
 * | container         | `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, `AWS_CONTAINER_CREDENTIALS_FULL_URI`   |
 * | instance metadata | nothing; it is left out where `AWS_EC2_METADATA_DISABLED` is `true`              |
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
  /** When they end, in milliseconds; undefined if the source does not say. */
  readonly expires?: number;
  /** Their origin, for messages. */
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

  /** Calls that come meanwhile wait for the same ones. */
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
  if (named) return named;
  const { parseKnownFiles } = await import('@smithy/core/config');
  const profiles = await parseKnownFiles({ ...readOptions(env), ignoreCache: true });
  return profiles[findProfile(env) ?? 'default']?.region;
}

function findProfile(env: Env): string | undefined {
  return env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE || undefined;
}

/** Variables that AWS's providers take as options: they would read the process's own, which a library's caller need not mean. */
const OPTIONS = {
  AWS_CONFIG_FILE: 'configFilepath',
  AWS_SHARED_CREDENTIALS_FILE: 'filepath',
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: 'awsContainerCredentialsRelativeUri',
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'awsContainerCredentialsFullUri',
  AWS_CONTAINER_AUTHORIZATION_TOKEN: 'awsContainerAuthorizationToken',
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: 'awsContainerAuthorizationTokenFile',
  AWS_WEB_IDENTITY_TOKEN_FILE: 'webIdentityTokenFile',
  AWS_ROLE_ARN: 'roleArn',
} as const;

function readOptions(env: Env): {
  readonly [Name in (typeof OPTIONS)[keyof typeof OPTIONS]]?: string;
} {
  return Object.fromEntries(
    Object.entries(OPTIONS).flatMap(([name, option]) => (env[name] ? [[option, env[name]]] : [])),
  );
}

async function findKeys(seek: Seek): Promise<AwsKeys> {
  const { env, what, location } = seek;
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (accessKeyId && secretAccessKey)
    return {
      accessKeyId,
      secretAccessKey,
      from: 'the environment',
      ...(sessionToken && { sessionToken }),
    };
  const { sources, hint } = await listSources(seek);
  const refused: string[] = [];
  for (const { from, provide } of sources) {
    try {
      const { expiration, ...keys } = await inTime(provide(), seek.timeout);
      return { ...keys, from, ...(expiration && { expires: expiration.getTime() }) };
    } catch (error) {
      refused.push(`${from}: ${explain(error)}`);
    }
  }
  const why = refused.length === 0 ? '' : ` (${refused.join('; ')})`;
  throw refusedByStore(what, location, `there are no credentials${why}`, hint);
}

/** Gives keys as AWS's providers do. */
type Provide = () => Promise<
  Pick<AwsKeys, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'> & { readonly expiration?: Date }
>;
type Sources = {
  readonly sources: readonly { readonly from: string; readonly provide: Provide }[];
  readonly hint: string;
};

/** The sources to ask, in order, and what a person can do where all of them fail. */
async function listSources({ env, region, timeout }: Seek): Promise<Sources> {
  const aws = await import('@aws-sdk/credential-providers');
  const init = {
    ...readOptions(env),
    ignoreCache: true,
    logger: SILENT,
    maxRetries: 1,
    // Version 1 of the metadata service gives keys to whatever on the machine can be led to ask for them.
    ec2MetadataV1Disabled: true,
    roleSessionName: env.AWS_ROLE_SESSION_NAME || 'callsheet',
    parentClientConfig: { region, requestHandler: createRequestHandler(timeout) },
  };
  const { webIdentityTokenFile, roleArn } = init;
  if (webIdentityTokenFile && roleArn)
    return {
      sources: [{ from: `the role ${roleArn}`, provide: aws.fromTokenFile(init) }],
      hint: 'Check the ARN of the role, its trust policy and the file of the token.',
    };
  const named = findProfile(env);
  const profile = named ?? 'default';
  const ofProfile = { from: `the profile ${profile}`, provide: aws.fromIni({ ...init, profile }) };
  if (named !== undefined) return { sources: [ofProfile], hint: handOver(named) };
  const container = { from: 'the container', provide: async () => aws.fromHttp(init)() };
  const instance = { from: 'the instance', provide: aws.fromInstanceMetadata(init) };
  const hasContainer =
    init.awsContainerCredentialsRelativeUri ?? init.awsContainerCredentialsFullUri;
  const hasInstance = env.AWS_EC2_METADATA_DISABLED?.toLowerCase() !== 'true';
  const others = hasContainer ? [container] : hasInstance ? [instance] : [];
  return { sources: [ofProfile, ...others], hint: SOURCES };
}

function handOver(profile: string): string {
  return `Export keys with the AWS CLI: eval "$(aws configure export-credentials --profile ${quoted(profile)} --format env)"`;
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A process that a profile names may never end. */
function inTime<T>(work: Promise<T>, timeout: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(cannot('it did not answer in time')), timeout);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function cannot(why: string): CallsheetError {
  return new CallsheetError('state', why);
}

/**
 * Sends what STS and the sign-in service are asked: with the proxy and the authorities of the environment, of which
 * AWS's own client knows nothing.
 */
function createRequestHandler(timeout: number) {
  return {
    async handle({ protocol, hostname, port, path, query, method, headers, body }: HttpRequest) {
      const url = new URL(path, `${protocol}//${hostname}${port ? `:${port}` : ''}`);
      for (const [name, value] of Object.entries(query))
        for (const one of [value ?? ''].flat()) url.searchParams.append(name, one);
      if (!isConfidential(url)) throw cannot(`${url.origin} is not an https address`);
      const exchange = openExchange(timeout, [Origin.given(url.href)]);
      try {
        const answer = await exchange.send({ method, url: url.href, headers, body });
        const { status: statusCode, text } = answer;
        return { response: { statusCode, headers: answer.headers, body: Buffer.from(text) } };
      } finally {
        await exchange.close();
      }
    },
  };
}

/** Errors whose message is the provider's own words. Those of a parser quote what it read, which may be keys. */
const IN_WORDS = /ProviderError$/;

/** Why a source gave no keys. */
function explain(error: unknown): string {
  const lost = findRefusal(error)?.why ?? findLoss(error)?.words;
  if (lost !== undefined) return lost;
  if (!(error instanceof Error)) return 'it failed';
  const { name, message } = error;
  if (name === 'InstanceMetadataV1FallbackError')
    return 'version 2 of its metadata service does not answer';
  // The command line may hold a secret, and so may what the command printed.
  if (message.startsWith('Command failed')) return 'its credential_process failed';
  if (message.startsWith('Could not resolve credentials using profile'))
    return 'the AWS files have no credentials for it';
  const words = message
    .replace(/^Error: /, '')
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '');
  if ('$fault' in error) return clip(redactText(`${name}: ${words}`), 200);
  const isClear = error instanceof CallsheetError || 'code' in error || IN_WORDS.test(name);
  return isClear ? clip(redactText(words), 200) : 'its answer cannot be read';
}
