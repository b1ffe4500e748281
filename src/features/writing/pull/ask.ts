import { select } from '@clack/prompts';
import { answered } from '../../../console/events.ts';
import { firstLines } from '../../../core/errors.ts';
import type { Json } from '../../../core/value.ts';
import { isolate, sanitiseLine } from '../../../render/untrusted.ts';
import { isMultiline, shortSides } from '../../../render/value-text.ts';
import { formatCount, formatFirst, UNSEEN_SIGN } from '../../../render/wording.ts';
import type { Streams } from '../init/init.ts';
import type { Choice, SharedPlace } from './index.ts';

type Values = NonNullable<SharedPlace['liveEdits'][number]['values']>;

/** Addresses that a question names. */
const MOST_NAMED = 3;

/** Asks what becomes of each place that resources share, by its key. What is left alone has no choice. */
export async function askShared(
  questions: readonly SharedPlace[],
  streams: Streams = { input: process.stdin, output: process.stderr },
): Promise<ReadonlyMap<string, Choice>> {
  const chosen = new Map<string, Choice>();
  for (const question of questions) {
    const [message, options] = [formatQuestion(question), buildOptions(question)];
    const answer = answered(await select({ ...streams, message, options }));
    if (answer !== 'leave') chosen.set(question.key, answer);
  }
  return chosen;
}

/** Returns true if somebody was asked about a leaf, and chose to leave it. */
export function isLeft(
  { address, path }: { readonly address: string; readonly path: string },
  questions: readonly SharedPlace[],
  choices: ReadonlyMap<string, Choice>,
): boolean {
  return questions.some(
    ({ key, liveEdits }) =>
      !choices.has(key) &&
      liveEdits.some((liveEdit) => liveEdit.address === address && liveEdit.text === path),
  );
}

/** Describes what changed, from the configured value to the live one, and who else has the configured value. */
function formatQuestion({ where, liveEdits, others }: SharedPlace): string {
  const changed = liveEdits.map(({ address, text, values }) => {
    const name = sanitiseLine(`${address} ${text}`);
    return values === undefined
      ? `${name} changed on the platform.`
      : `${name} changed on the platform: ${changeText(values)}`;
  });
  const shared =
    others.length === 0
      ? `The configuration puts it together from ${where}.`
      : `${formatCount(others.length, 'other')} also read${others.length === 1 ? 's' : ''} ${where}: ${formatFirst(others, MOST_NAMED)}.`;
  return [...firstLines(changed, MOST_NAMED), sanitiseLine(shared)].join('\n');
}

/** Columns of a value in a question; more of it is in `callsheet pull --dry-run`. */
const MOST_COLUMNS = 60;

/** `20 → 30`; of texts of several lines the first that differs. */
function changeText({ before, after }: Values): string {
  const isText = typeof before === 'string' && typeof after === 'string';
  if (!isText || !(isMultiline(before) || isMultiline(after))) return arrow(before, after);
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const at = old.findIndex((line, index) => line !== fresh[index]);
  const line = at === -1 ? old.length : at;
  return `line ${line + 1}: ${arrow(old[line] ?? null, fresh[line] ?? null)}`;
}

function arrow(before: Json, after: Json): string {
  const sides = shortSides(before, after, MOST_COLUMNS);
  const notes = sides.unseen.map((text) => `\n  ${UNSEEN_SIGN} ${isolate(text)}`);
  return [`${isolate(sides.before)} → ${isolate(sides.after)}`, ...notes].join('');
}

function buildOptions({ where, liveEdits, others, choices }: SharedPlace) {
  const addresses = [...new Set(liveEdits.map(({ address }) => address))];
  const labels = {
    own: `Write it on ${sanitiseLine(formatFirst(addresses, MOST_NAMED))} alone`,
    shared: `Change it in ${sanitiseLine(where)}, also for the ${formatCount(others.length, 'other')}`,
    leave: 'Do not pull it',
  } as const;
  return [...choices, 'leave' as const].map((value) => ({ value, label: labels[value] }));
}
