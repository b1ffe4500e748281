import { randomUUID } from 'node:crypto';
import { type NoticeAddress, postNotice, readNoticeAddress } from '../api/notify.ts';
import { realPause } from '../api/retry.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { notificationOf } from '../render/notification.ts';
import { describeActor } from './actor.ts';
import type { Context } from './context.ts';
import { hookSecret, SIGNATURE_HEADER, signatureOf } from './watch/hook.ts';

export type NotifyFlags = {
  /** True: to the address of the environment. */
  readonly notify?: string | true;
  readonly notifyAlways?: boolean;
};

const VARIABLE = 'CALLSHEET_NOTIFY_URL';

/** Where drift is posted, and what it is signed with, where that is given. */
export type NoticeTarget = NoticeAddress & { readonly secret: string | undefined };

/** Where drift is posted; undefined where nobody asks for it. Throws before anything is read. */
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
    hint: `Set ${VARIABLE} to the address that drift is posted to; docs/drift.md says what is sent.`,
  });
}

/** Posts what drifted, and that nothing did where that is asked for. */
export async function notifyDrift(
  address: NoticeTarget | undefined,
  drift: PlanDocument,
  { dir, notifyAlways }: NotifyFlags & { readonly dir: string },
  context: Context,
): Promise<void> {
  const isDrifted = drift.changes.length > 0;
  if (address === undefined || !(isDrifted || notifyAlways === true)) return;
  const { commit, pipeline } = await describeActor(dir, context);
  const id = randomUUID();
  const sender = { id, sent_at: context.now().toISOString(), commit, pipeline };
  const { stop, now, timeouts, wire, terminal } = context;
  const pause = context.pause ?? realPause;
  const body = JSON.stringify(notificationOf(drift, sender));
  const { secret } = address;
  const headers = secret === undefined ? {} : { [SIGNATURE_HEADER]: signatureOf(body, secret) };
  await postNotice(address, { delivery: id, body, headers }, { pause, stop, now, timeouts, wire });
  terminal.err('The notification was delivered.');
}
