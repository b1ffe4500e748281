import { formatCount, formatDuration, formatNumber } from '../../render/wording.ts';
import type { Author, Counts, WatchEvent } from './events.ts';

/** An event as a sentence, for a terminal. What others wrote is sanitised by whoever prints it. */
export function wordsOf(event: WatchEvent): string {
  switch (event.event) {
    case 'started':
      return startWords(event);
    case 'exposed':
      return `${event.listen} is not a loopback address: whoever reaches it reads the metrics`;
    case 'pass_ended':
      return passWords(event);
    case 'pass_postponed':
      return `Run ${event.run} is at work; the stack is looked at again later`;
    case 'pass_failed': {
      const { message, problems, hint } = event;
      return [message, ...problems, ...(hint === null ? [] : [hint])].join('\n');
    }
    case 'pass_recovered':
      return `It works again, after ${formatCount(event.failures, 'failed pass', 'failed passes')} since ${event.since}`;
    case 'pass_slow':
      return `The pass took ${seconds(event.seconds)}, longer than the interval; take a longer one`;
    case 'drift_found':
      return `${placeOf(event)} ${event.field === null ? 'is gone' : 'drifted'}, ${authorWords(event)}`;
    case 'drift_ended':
      return `${placeOf(event)} ${event.field === null ? 'is there again' : 'is as it should be again'}`;
    case 'heal_ended':
      return event.status === 'done'
        ? `${event.address} was put back: ${event.fields.join(', ')} (run ${event.run})`
        : `${event.address} was not put back, ${event.status.replace('_', ' ')}: ${event.message ?? 'see the run'} (run ${event.run})`;
    case 'heal_left':
      return `${event.address} is not put back: ${event.message}`;
    case 'heal_skipped':
      return `Nothing is put back: ${event.message}`;
    case 'heal_contested':
      return `${event.address} is not put back any more: that was tried ${formatCount(event.times, 'time')} within an hour, and it drifted again. Somebody or something else changes it; find out who, then settle it in Git`;
    case 'heal_agreed':
      return `${event.address} no longer drifts: nobody changes it against us any more`;
    case 'notification_sent':
      return `The notification was delivered: ${event.is_drifted ? 'there is drift' : 'no drift any more'}`;
    case 'notification_failed':
      return event.message;
    case 'hook_taken':
      return `A webhook of ${event.sender} asks for a pass`;
    case 'hook_refused':
      return `A webhook was refused with ${event.status}: ${event.message}`;
    case 'stopping':
      return event.message;
    case 'stopped':
      return 'Stopped';
    case 'note':
      return event.message;
  }
}

function startWords(event: Extract<WatchEvent, { event: 'started' }>): string {
  const { stacks, interval_seconds: interval, listen, heal, hooks } = event;
  const what = heal ? 'What is marked is put back' : 'Nothing is ever written';
  const when = `every ${formatDuration(interval)}${hooks ? ', and on a webhook' : ''}`;
  return `Watching ${stacks.join(', ')} ${when}. ${what}. http://${listen} has /healthz and /metrics`;
}

function passWords({ compared, drifted, pending, healed, contested, seconds: took }: PassEnded) {
  const parts = [
    drifted === 0 ? 'no drift' : `${formatNumber(drifted)} drifted`,
    ...(healed === 0 ? [] : [`${formatNumber(healed)} put back`]),
    ...(contested === 0 ? [] : [`${formatNumber(contested)} contested`]),
    ...(pending === 0
      ? []
      : [`${formatCount(pending, 'change')} of the configuration to be applied`]),
  ];
  return `${formatCount(compared, 'resource')}: ${parts.join(', ')} (${seconds(took)})`;
}

type PassEnded = Counts & { readonly seconds: number };

function placeOf({ address, field }: { readonly address: string; readonly field: string | null }) {
  return field === null ? address : `${address} ${field}`;
}

function authorWords({ certainty, because, actor, source, at }: Author): string {
  if (certainty === null || certainty === 'unknown')
    return `by whom is unknown${because === null ? '' : ` (${because.replaceAll('_', ' ')})`}`;
  const who = [
    actor ?? 'somebody',
    ...(source === null ? [] : [`via ${source}`]),
    ...(at === null ? [] : [`at ${at}`]),
  ].join(' ');
  return certainty === 'one_of' ? `by one of several, the last of them ${who}` : `by ${who}`;
}

function seconds(count: number): string {
  return `${Number(count.toFixed(count < 10 ? 1 : 0))} s`;
}
