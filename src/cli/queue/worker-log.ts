import { formatCount } from '../../render/wording.ts';
import { EXIT } from '../exit.ts';
import type { StackResult } from '../fleet/run-stack.ts';
import type { Level } from '../monitor/log.ts';
import type { WorkEvent } from './work.ts';

/** What a worker writes to its log: each line is one of these, with its level and time. Stands in docs/workers.md. */
type WorkerEvent =
  | {
      readonly event: 'started';
      readonly worker: string;
      readonly commit: string | null;
      readonly stacks: number;
      /** Null: nothing is answered. */
      readonly listen: string | null;
      readonly version: string;
    }
  | { readonly event: 'exposed'; readonly listen: string }
  | ({ readonly event: 'stack_began'; readonly attempt: number; readonly alone: boolean } & About)
  | ({
      readonly event: 'stack_ended';
      readonly exit: number;
      readonly well: boolean;
      readonly seconds: number;
      readonly message: string;
    } & About)
  | ({
      readonly event: 'stack_given_back';
      readonly message: string;
      /** Until somebody takes it again. */
      readonly seconds: number;
    } & About)
  | ({ readonly event: 'lease_lost' } & About)
  | { readonly event: 'queue_lost'; readonly message: string }
  | { readonly event: 'queue_back'; readonly seconds: number }
  | {
      readonly event: 'waits_elsewhere';
      readonly commits: readonly string[];
      readonly stacks: number;
      readonly commit: string | null;
    }
  | { readonly event: 'stopping' }
  | {
      readonly event: 'stopped';
      readonly done: number;
      readonly failed: number;
      readonly given_back: number;
    };

type About = { readonly stack: string; readonly command: string; readonly batch: string };

/** How much each event matters. */
export function levelOf(event: WorkerEvent): Level {
  switch (event.event) {
    case 'stack_ended':
      return event.well ? 'info' : 'error';
    case 'exposed':
    case 'lease_lost':
    case 'queue_lost':
      return 'warn';
    case 'stack_began':
      return 'debug';
    default:
      return 'info';
  }
}

/** An event as a sentence, for a terminal. */
export function wordsOf(event: WorkerEvent): string {
  switch (event.event) {
    case 'started': {
      const where =
        event.listen === null ? '' : ` http://${event.listen} has /healthz and /metrics`;
      return `${event.worker} works on ${event.commit ?? 'stacks of no repository'}.${where}`;
    }
    case 'exposed':
      return `${event.listen} is not a loopback address: whoever reaches it reads the metrics`;
    case 'stack_began':
      return `${nameOf(event)}: try ${event.attempt}${event.alone ? ', with nothing beside it' : ''}`;
    case 'stack_ended':
      return `${nameOf(event)}: ${event.message}`;
    case 'stack_given_back': {
      const when = event.seconds === 0 ? '' : `, again in ${event.seconds} s`;
      return `${nameOf(event)}: given back, ${event.message}${when}`;
    }
    case 'lease_lost':
      return `${nameOf(event)}: another worker has it by now, and finds what this one did`;
    case 'queue_lost':
      return `${event.message}. Trying again.`;
    case 'queue_back':
      return `The queue answers again, after ${Math.round(event.seconds)} s`;
    case 'waits_elsewhere':
      return `${formatCount(event.stacks, 'stack')} wait for workers at ${event.commits.map(short).join(', ')}; this checkout is at ${short(event.commit ?? 'no commit')}`;
    case 'stopping':
      return 'Stopping: what is under way on the platform is finished. Again to exit at once';
    case 'stopped': {
      const { done, failed, given_back: back } = event;
      return `${formatCount(done, 'stack')} done, ${failed} of them not well; ${back} given back`;
    }
  }
}

/** What happened to the work, as it is logged; undefined for what is only counted. */
export function lineOf(event: WorkEvent, commit: string | undefined): WorkerEvent | undefined {
  switch (event.type) {
    case 'working':
    case 'looked':
    case 'turned':
      return undefined;
    case 'began': {
      const { attempts: attempt, isSuspect: alone } = event.claim.task;
      return { event: 'stack_began', ...aboutOf(event), attempt, alone };
    }
    case 'settled': {
      const { seconds, result, isWell: well } = event;
      const message = outcomeWords(result);
      return { event: 'stack_ended', ...aboutOf(event), exit: result.exit, well, seconds, message };
    }
    case 'again': {
      const { why: message, seconds } = event;
      return { event: 'stack_given_back', ...aboutOf(event), message, seconds };
    }
    case 'taken':
      return { event: 'lease_lost', ...aboutOf(event) };
    case 'lost':
      return { event: 'queue_lost', message: event.error.message };
    case 'back':
      return { event: 'queue_back', seconds: event.seconds };
    case 'elsewhere': {
      const { commits, tasks: stacks } = event;
      return { event: 'waits_elsewhere', commits, stacks, commit: commit ?? null };
    }
  }
}

function aboutOf({ claim }: Extract<WorkEvent, { claim: unknown }>): About {
  const { stack, command, batch } = claim.task;
  return { stack, command, batch };
}

function nameOf({ stack, command }: About): string {
  return `${stack}  ${command}`;
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
