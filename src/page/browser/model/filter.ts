import type { Action, Verdict } from '../../../core/plan-document.ts';
import { type Entry, type Plan, someText } from './plan.ts';

/** What the list shows. An empty set or text leaves out nothing. */
export type Filter = {
  readonly actions: ReadonlySet<Action>;
  readonly verdicts: ReadonlySet<Verdict>;
  readonly kind: string;
  readonly owner: string | null;
  readonly words: string;
};

export const NO_FILTER: Filter = {
  actions: new Set(),
  verdicts: new Set(),
  kind: '',
  owner: null,
  words: '',
};

/** Whether it leaves out anything. */
export function isFiltering({ actions, verdicts, kind, owner, words }: Filter): boolean {
  return (
    actions.size > 0 || verdicts.size > 0 || kind !== '' || owner !== null || words.trim() !== ''
  );
}

/**
 * The entries that a filter lets through. Every word must stand somewhere in a change: in its address, name, kind,
 * organization, action, verdict or any text of it. A text that many changes share is searched once.
 */
export function filterEntries(plan: Plan, filter: Filter): readonly Entry[] {
  const tests = filter.words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => findsWord(word, plan.texts));
  return plan.entries.filter(
    (entry) => passes(entry, filter) && tests.every((test) => test(entry, plan)),
  );
}

function passes(entry: Entry, { actions, verdicts, kind, owner }: Filter): boolean {
  return (
    (actions.size === 0 || actions.has(entry.action)) &&
    (verdicts.size === 0 || verdicts.has(entry.verdict)) &&
    (kind === '' || entry.kind === kind) &&
    (owner === null || entry.owner === owner)
  );
}

function findsWord(word: string, texts: readonly string[]): (entry: Entry, plan: Plan) => boolean {
  const pattern = new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
  const shared = new Map<string, boolean>(
    texts.map((text, index) => [`\u0001${index}`, pattern.test(text)]),
  );
  const holds = (text: string) => shared.get(text) ?? pattern.test(text);
  return (entry, plan) => {
    const { address, name, kind, owner, action, verdict } = entry;
    const told = [address, name, kind.replaceAll('_', ' '), owner, action, verdict];
    return told.some((text) => pattern.test(text)) || someText(plan.packedOf(entry), holds);
  };
}

/** How many entries there are of each value. */
export function countBy<K>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => K,
): ReadonlyMap<K, number> {
  const counts = new Map<K, number>();
  for (const entry of entries) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return counts;
}
