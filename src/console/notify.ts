import { createHash, createHmac, type Hmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CallsheetError, EXIT, type ExitCode } from '../core/errors.ts';
import { listUnready, type PlanDocument } from '../core/plan-document.ts';
import { type NoticeAddress, postNotice, readNoticeAddress } from '../platform/notify.ts';
import { realPause } from '../platform/rate.ts';
import { buildNotification, type Contested } from '../render/notification.ts';
import { describeActor } from '../run/actor.ts';
import { driftStack } from '../run/drift.ts';
import { planOptions } from '../run/plan.ts';
import { type Context, type PlanFlags, stackOptions } from './context.ts';

export type NotifyFlags = {
  /** True: to the address of the environment. */
  readonly notify?: string | true;
  readonly notifyAlways?: boolean;
};

const VARIABLE = 'CALLSHEET_NOTIFY_URL';

/** `secret` signs what is posted; undefined if it is not set. */
export type NoticeTarget = NoticeAddress & { readonly secret: string | undefined };

/** Reads the address of `--notify`; undefined without the flag. Throws before anything is read. */
export function noticeAddress(
  { notify, notifyAlways }: NotifyFlags,
  { env }: Context,
): NoticeTarget | undefined {
  if (notify === undefined) {
    if (notifyAlways !== true) return undefined;
    throw new CallsheetError('usage', '--notify-always needs --notify');
  }
  const secret = hookSecret(env, 'CALLSHEET_NOTIFY_SECRET');
  if (notify !== true) return { ...readNoticeAddress(notify, 'the address of --notify'), secret };
  const text = env[VARIABLE];
  if (text) return { ...readNoticeAddress(text, VARIABLE), secret };
  throw new CallsheetError('usage', `--notify has no address, and ${VARIABLE} is not set`, {
    hint: `Set ${VARIABLE} to the address that receives it. \`callsheet help monitoring\` describes the content.`,
  });
}

/**
 * Posts what drifted and what is not ready, and that nothing is where that is asked for. `contested`: what is no
 * longer put back.
 */
export async function notifyDrift(
  address: NoticeTarget | undefined,
  drift: PlanDocument,
  {
    dir,
    notifyAlways,
    contested = [],
  }: NotifyFlags & { readonly dir: string; readonly contested?: readonly Contested[] },
  context: Context,
): Promise<void> {
  const hasNews = drift.changes.length > 0 || listUnready(drift).length > 0;
  if (address === undefined || !(hasNews || notifyAlways === true)) return;
  const { user, commit, pipeline } = await describeActor(dir, context);
  const id = randomUUID();
  const sender = { id, sent_at: context.now().toISOString(), user, commit, pipeline };
  await deliver(address, id, JSON.stringify(buildNotification(drift, sender, contested)), context);
}

/** Posts a JSON text, signed where there is a secret. `id`: the same in each try, so that receivers see duplicates. */
export async function deliver(
  address: NoticeTarget,
  id: string,
  body: string,
  { stop, now, timeouts, wire, terminal, pause = realPause }: Context,
): Promise<void> {
  const { secret } = address;
  const headers =
    secret === undefined
      ? {}
      : { [SIGNATURE_HEADER]: signatureFrom(createHmac('sha256', secret).update(body)) };
  await postNotice(address, { delivery: id, body, headers }, { pause, stop, now, timeouts, wire });
  terminal.err('The notification was delivered.');
}

export type DriftFlags = PlanFlags &
  NotifyFlags & {
    readonly detailedExitcode?: boolean;
    /** Addresses whose drift is written into the configuration. */
    readonly accept?: readonly string[];
  };

/** Finds what drifted on the platform, shows it and posts it. Whatever becomes of the notification, it is shown before. */
export async function driftNow(
  flags: DriftFlags,
  context: Context,
  show: (document: PlanDocument) => Promise<void> = async () => {},
): Promise<{ readonly document: PlanDocument; readonly exit: ExitCode }> {
  const address = noticeAddress(flags, context);
  const { refresh } = flags;
  const wanted = {
    ...stackOptions(flags),
    options: planOptions(flags),
    ...(refresh && { refresh }),
  };
  const document = await driftStack(wanted, context);
  await show(document);
  await notifyDrift(address, document, flags, context);
  const isDrifted = document.changes.length > 0;
  return {
    document,
    exit: isDrifted && flags.detailedExitcode === true ? EXIT.changes : EXIT.done,
  };
}

/** A request as far as it is looked at. */
type Received = Pick<IncomingMessage, 'headers'> & AsyncIterable<Buffer>;

type HookVerdict =
  | { readonly status: 202; readonly sender: 'github' | 'gitlab'; readonly isPing: boolean }
  | { readonly status: 400 | 401 | 413; readonly why: string };

/** The first verifies incoming webhooks, the second signs notifications. */
type SecretVariable = 'CALLSHEET_HOOK_SECRET' | 'CALLSHEET_NOTIFY_SECRET';

/** As GitHub calls it, so that whatever verifies its webhooks verifies our notifications. */
const SIGNATURE_HEADER = 'x-hub-signature-256';

/** One signed body is enough to guess a shorter secret. */
const SHORTEST_SECRET = 16;
/** GitHub's limit. A body is digested as it arrives, and not kept. */
export const LARGEST_BODY = 25 * 1024 * 1024;

/** The secret that a variable of the environment gives; undefined where it is not set. */
export function hookSecret(
  env: Readonly<Record<string, string | undefined>>,
  variable: SecretVariable,
): string | undefined {
  const secret = env[variable];
  if (!secret) return undefined;
  if (secret.length >= SHORTEST_SECRET) return secret;
  throw new CallsheetError('usage', `${variable} has less than ${SHORTEST_SECRET} characters`, {
    hint: 'Make one with: openssl rand -hex 32',
  });
}

/**
 * Reads a webhook and tells whether its sender knows the secret: by the signature of its body, as GitHub sends it,
 * or by the secret itself in a header, as GitLab does. What it says is not looked at: any push may concern the stack.
 */
export async function checkHook(request: Received, secret: string): Promise<HookVerdict> {
  const signature = header(request, SIGNATURE_HEADER);
  const token = header(request, 'x-gitlab-token');
  if (signature === undefined && token === undefined)
    return { status: 401, why: 'it has neither X-Hub-Signature-256 nor X-Gitlab-Token' };
  const wanted = await signBody(request, secret);
  if (wanted === 'too large') return { status: 413, why: 'its body is too large' };
  if (wanted === 'cut off') return { status: 400, why: 'its body was cut off' };
  if (signature !== undefined) {
    const isSigned = isSame(signature, wanted);
    const isPing = header(request, 'x-github-event') === 'ping';
    return isSigned
      ? { status: 202, sender: 'github', isPing }
      : { status: 401, why: 'its signature is wrong' };
  }
  if (token !== undefined && isSame(token, secret))
    return { status: 202, sender: 'gitlab', isPing: false };
  return { status: 401, why: 'its token is wrong' };
}

function header({ headers }: Received, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

async function signBody(
  request: Received,
  secret: string,
): Promise<string | 'too large' | 'cut off'> {
  if (Number(request.headers['content-length']) > LARGEST_BODY) return 'too large';
  const hmac = createHmac('sha256', secret);
  let length = 0;
  try {
    for await (const chunk of request) {
      length += chunk.length;
      if (length > LARGEST_BODY) return 'too large';
      hmac.update(chunk);
    }
  } catch {
    return 'cut off';
  }
  return signatureFrom(hmac);
}

/** The value of the signature header, once the body went through. */
function signatureFrom(hmac: Hmac): string {
  return `sha256=${hmac.digest('hex')}`;
}

/** In a time that tells nothing of where they differ, nor of how long the right one is. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
