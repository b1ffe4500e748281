import { randomUUID } from 'node:crypto';
import { type NoticeAddress, postNotice, readNoticeAddress } from '../api/notify.ts';
import { realPause } from '../api/retry.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { notificationOf } from '../render/notification.ts';
import { describeActor } from './actor.ts';
import type { Context } from './context.ts';

export type NotifyFlags = {
  /** True: to the address of the environment. */
  readonly notify?: string | true;
  readonly notifyAlways?: boolean;
};

const VARIABLE = 'CALLSHEET_NOTIFY_URL';

/** Where drift is posted; undefined where nobody asks for it. Throws before anything is read. */
export function noticeAddress(
  { notify, notifyAlways }: NotifyFlags,
  { env }: Context,
): NoticeAddress | undefined {
  if (notify === undefined) {
    if (notifyAlways !== true) return undefined;
    throw new CallsheetError('usage', '--notify-always needs --notify');
  }
  if (notify !== true) return readNoticeAddress(notify, 'the address of --notify');
  const text = env[VARIABLE];
  if (text) return readNoticeAddress(text, VARIABLE);
  throw new CallsheetError('usage', `--notify has no address, and ${VARIABLE} is not set`, {
    hint: `Set ${VARIABLE} to the address that drift is posted to; docs/drift.md says what is sent.`,
  });
}

/** Posts what drifted, and that nothing did where that is asked for. */
export async function notifyDrift(
  address: NoticeAddress | undefined,
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
  const body = notificationOf(drift, sender);
  await postNotice(address, { delivery: id, body }, { pause, stop, now, timeouts, wire });
  terminal.err('The notification was delivered.');
}
