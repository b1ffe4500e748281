import { renderProse } from '../../render/prose.ts';
import { sanitise } from '../../render/untrusted.ts';
import { formatCount } from '../../render/wording.ts';
import { EXIT } from '../exit.ts';
import type { StackResult } from '../fleet/run-stack.ts';
import type { Terminal } from '../terminal.ts';
import type { WorkEvent } from './work.ts';

/** Says what a worker does, a line for each step: it has no reader most of the time, and a log always. */
export function tellWork(
  event: WorkEvent,
  commit: string | undefined,
  { err, wrapsErr, renderErr }: Terminal,
): void {
  const text = wordsOf(event, commit);
  if (text !== undefined) err(wrapsErr ? renderProse(text, renderErr) : sanitise(text));
}

function wordsOf(event: WorkEvent, commit: string | undefined): string | undefined {
  switch (event.type) {
    case 'began':
      return undefined;
    case 'settled':
      return `${nameOf(event)}: ${outcomeWords(event.result)}`;
    case 'again': {
      const when = event.seconds === 0 ? '' : `, again in ${event.seconds} s`;
      return `${nameOf(event)}: given back, ${event.why}${when}`;
    }
    case 'taken':
      return `${nameOf(event)}: another worker has it by now, and finds what this one did`;
    case 'lost':
      return `${event.error.message}. Trying again.`;
    case 'elsewhere':
      return `${formatCount(event.tasks, 'stack')} wait for workers at ${event.commits.map(short).join(', ')}; this checkout is at ${short(commit ?? 'no commit')}.`;
  }
}

function nameOf({ claim: { task } }: Extract<WorkEvent, { claim: unknown }>): string {
  return `${task.stack}  ${task.command}`;
}

function short(commit: string): string {
  return /^[0-9a-f]{40,}$/.test(commit) ? commit.slice(0, 12) : commit;
}

function outcomeWords({ exit, document, error }: StackResult): string {
  if (error !== undefined) return `exit ${exit}, ${error.message.split('\n')[0] ?? ''}`;
  if (document?.format === 'callsheet-run') {
    const done = document.ledger.filter(({ status }) => status === 'done').length;
    const other = document.ledger.length - done;
    if (document.ledger.length === 0) return 'nothing to change';
    return `${formatCount(done, 'change')} done${other === 0 ? '' : `, ${other} not`}${exitWords(exit)}`;
  }
  if (document?.format === 'callsheet-plan') {
    return `${formatCount(document.changes.length, 'change')} planned${exitWords(exit)}`;
  }
  return exit === EXIT.done ? 'done' : `exit ${exit}`;
}

function exitWords(exit: number): string {
  return exit === EXIT.done ? '' : ` (exit ${exit})`;
}
