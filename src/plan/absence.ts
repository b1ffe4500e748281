import type { Change } from '../core/plan-document.ts';
import { knownSecrets } from '../diff/known-secrets.ts';
import { base } from './base.ts';
import type { ChangeContext } from './change.ts';
import type { Identity } from './identify.ts';
import { pinOf } from './pin.ts';
import type { LiveResource } from './reader.ts';
import { goingWith } from './replace.ts';
import { project } from './show.ts';
import { unreadReason } from './unsupported.ts';

/** A resource that the configuration no longer mentions. */
export function planAbsence(
  identity: Identity,
  live: LiveResource | undefined,
  { purpose, isToSnapshot, support, isForgotten }: ChangeContext,
): Change {
  const { kind } = identity;
  const common = { ...base(identity), before: null, after: null, fields: [], pin: null };
  if (live === undefined) {
    const reason = 'no longer configured, and gone from the platform';
    return { ...common, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (kind.delete === undefined || isForgotten) {
    const reason = isForgotten
      ? 'forget names it: it stays on the platform as it is'
      : 'no longer configured; it stays on the platform, which has no endpoint that deletes it';
    return { ...common, id: live.id, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (live.extent === 'nothing') {
    const reason = `no longer configured, and what is live is unknown: ${unreadReason(kind, support)}`;
    const left = { verdict: 'unsupported' as const, reason, operations: [] };
    return { ...common, id: live.id, action: 'delete', ...left };
  }
  const secrets = knownSecrets(kind.schema, {}, identity.recorded?.leaves);
  return {
    ...common,
    id: live.id,
    action: 'delete',
    verdict: 'ok',
    reason: isToSnapshot
      ? 'made since the snapshot'
      : purpose === 'rollback'
        ? 'the run made it'
        : `no longer configured${goingWith(kind, live)}`,
    before: project(kind, live.document, live.document, secrets),
    pin: pinOf(kind, live, null),
    operations: [{ step: 'delete', fields: [] }],
  };
}
