import type { Address } from '../core/address.ts';
import type { IntentRecorded, JournalEntry, LedgerLine } from '../state/journal.ts';

/**
 * What became of a run that died, as far as its journal knows: done where the resource was recorded,
 * failed where a request left and nothing more was written down. What it never came to is not listed.
 */
export function ledgerOfDeadRun(entries: readonly JournalEntry[]): readonly LedgerLine[] {
  const intents = new Map<Address, IntentRecorded[]>();
  const recorded = new Map<Address, string | null>();
  for (const entry of entries) {
    if (entry.type === 'intent') {
      intents.set(entry.address, [...(intents.get(entry.address) ?? []), entry]);
    }
    if (entry.type === 'resource') recorded.set(entry.address, entry.resource?.id ?? null);
  }
  return [...intents].map(([address, steps]) => {
    const isDone = recorded.has(address);
    return {
      address,
      action: actionOf(steps),
      status: isDone ? 'done' : 'failed',
      id: recorded.get(address) ?? steps.at(-1)?.id ?? null,
      message: isDone ? null : 'the run died before it was known whether this took',
      fields: [...new Set(steps.flatMap(({ fields }) => fields))],
      history: null,
    };
  });
}

function actionOf(steps: readonly IntentRecorded[]): string {
  const has = (step: IntentRecorded['step']) => steps.some((one) => one.step === step);
  if (has('create')) return has('delete') ? 'replace' : 'create';
  return has('delete') ? 'delete' : 'update';
}
