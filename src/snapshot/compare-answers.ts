import { digestOf } from '../core/digest.ts';
import type { Note } from '../core/plan-document.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Difference } from './difference.ts';
import type { AnswerRecord } from './format.ts';

/** Entries that are named in one sentence. */
const MOST_NAMED = 5;

/** What the platform answered otherwise in between: one sentence for every question. */
export function compareAnswers({ answers, organizations }: Difference): readonly Note[] {
  return [...answers.values()].flatMap(({ before, after }): readonly Note[] => {
    const one = after ?? before;
    if (one === undefined) return [];
    const message =
      before === undefined || after === undefined
        ? `only the ${before === undefined ? 'later' : 'earlier'} snapshot has what ${one.operation} answered`
        : differences(before, after);
    const place = one.organization_id ?? one.reseller_id;
    const where = place === null ? 'the account' : (organizations[place] ?? place);
    return [{ severity: 'info', address: null, message: `${where}: ${message}` }];
  });
}

function differences(before: AnswerRecord, after: AnswerRecord): string {
  const old = entriesOf(before.answer);
  const now = entriesOf(after.answer);
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => digestOf(old.get(name) ?? null) !== digestOf(now.get(name) ?? null),
  );
  if (names.length === 0) return `${after.operation} answers otherwise`;
  const told = names
    .slice(0, MOST_NAMED)
    .map((name) => wordsFor(name, old.get(name), now.get(name)));
  const more = names.length - told.length;
  return `${after.operation}: ${told.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Entries of a list by what names them. */
function entriesOf(answer: Json): ReadonlyMap<string, JsonObject> {
  const data = isObject(answer) ? answer.data : undefined;
  const entries = isList(data) ? data.filter((one) => isObject(one)) : [];
  return new Map(entries.map((one) => [String(one.key ?? one.id ?? ''), one]));
}

function wordsFor(
  name: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): string {
  if (before === undefined) return `${name} appeared`;
  if (after === undefined) return `${name} went`;
  const { state: old } = before;
  const { state: now } = after;
  return typeof now === 'string' && old !== now ? `${name} is ${now}` : `${name} changed`;
}
