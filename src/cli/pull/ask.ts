import { isCancel, select } from '@clack/prompts';
import { CallsheetError } from '../../core/errors.ts';
import type { Choice, SharedPlace } from '../../pull/index.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import { formatCount } from '../../render/wording.ts';
import type { Streams } from '../commands/init.ts';

/** Addresses that a question names. */
const MOST_NAMED = 3;

/** Asks what becomes of each place that resources share, by its key. What is left alone has no choice. */
export async function askShared(
  questions: readonly SharedPlace[],
  streams: Streams = { input: process.stdin, output: process.stderr },
): Promise<ReadonlyMap<string, Choice>> {
  const chosen = new Map<string, Choice>();
  for (const question of questions) {
    const answer = await select({
      ...streams,
      message: messageOf(question),
      options: optionsOf(question),
    });
    if (isCancel(answer)) {
      throw new CallsheetError('interrupted', 'interrupted; nothing was written');
    }
    if (answer !== 'leave') chosen.set(question.key, answer);
  }
  return chosen;
}

/** Whether all that was refused is what somebody was asked about. */
export function isDecided(
  refused: readonly { readonly address: string; readonly path: string }[],
  questions: readonly SharedPlace[],
): boolean {
  const asked = new Set(
    questions.flatMap(({ wishes }) => wishes.map(({ address, text }) => `${address} ${text}`)),
  );
  return refused.every(({ address, path }) => asked.has(`${address} ${path}`));
}

function messageOf({ where, wishes, others }: SharedPlace): string {
  const own = wishes.map(({ address, text }) => `${address} ${text}`);
  const changed = `${listOf(own)} changed on the platform`;
  const shared =
    others.length === 0
      ? `It is put together from ${where}.`
      : `${where} has its value for ${formatCount(others.length, 'other')} as well: ${listOf(others)}.`;
  return sanitiseLine(`${changed}. ${shared}`);
}

function optionsOf({ wishes, others, choices }: SharedPlace) {
  const addresses = [...new Set(wishes.map(({ address }) => address))];
  const labels = {
    own: `Write it on ${sanitiseLine(listOf(addresses))} alone`,
    shared: `Change it there, for the ${formatCount(others.length, 'other')}, too`,
    leave: 'Leave it as it is',
  } as const;
  return [...choices, 'leave' as const].map((value) => ({ value, label: labels[value] }));
}

function listOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
