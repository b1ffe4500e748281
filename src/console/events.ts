import {
  CallsheetError,
  EXIT,
  type ExitCode,
  explainSystemError,
  formatCount,
  getExitCode,
} from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { sum } from '../core/value.ts';
import { describeApiError } from '../platform/errors.ts';
import { renderDiagnosticsBeside, renderFailureJson } from '../render/diagnostics.ts';
import { renderProse } from '../render/terminal.ts';
import { renderPlanText, reviewPlan } from '../render/text.ts';
import { sanitise, sanitiseLine } from '../render/untrusted.ts';
import { formatNumber } from '../render/wording.ts';
import { type Event, toFailure } from '../run/document.ts';
import type { Context } from './context.ts';
import { drawEvery, type Terminal } from './terminal.ts';

/** Builds the members of a context that use its terminal: another terminal must replace all of them. */
export function onTerminal(terminal: Terminal): Pick<Context, 'terminal' | 'emit' | 'confirm'> {
  return {
    terminal,
    emit: presentOn(terminal),
    confirm: async (question) => {
      terminal.live?.end();
      return confirm(question, terminal);
    },
  };
}

/** Asks for a plain `yes`. */
export async function confirm(question: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.canAsk) return false;
  return (await askFor(`${question} Type "yes", or "no":`, terminal)) === 'yes';
}

async function askFor(text: string, terminal: Terminal): Promise<string> {
  const { wrapsErr, renderErr } = terminal;
  const answer = await terminal.ask(`${wrapsErr ? renderProse(text, renderErr).trimEnd() : text} `);
  return answer.trim();
}

/**
 * Shows plans, and asks about the last one, or about several that were shown elsewhere: also about what was shown in brief,
 * which `show` prints whole.
 */
export function openPlanReview(terminal: Terminal) {
  type Reviewed = { readonly plan: PlanDocument; readonly folded: number; readonly title?: string };
  let reviewed: readonly Reviewed[] = [];
  return {
    /** `whole`: the plan with what `plan` leaves out, of which as many changes are shown in brief. */
    show(plan: PlanDocument, whole = plan, leftOut = 0): void {
      const { text, folded } = reviewPlan(plan, terminal.render);
      terminal.out(text);
      reviewed = [{ plan: whole, folded: Math.max(folded, leftOut) }];
    },
    /** A plan that was shown already, as one of several. `title`: which of them it is. */
    add(plan: PlanDocument, title: string): void {
      reviewed = [...reviewed, { plan, folded: reviewPlan(plan, terminal.render).folded, title }];
    },
    async confirm(question: string): Promise<boolean> {
      const folded = sum(reviewed.map((one) => one.folded));
      if (!terminal.canAsk || folded === 0) return confirm(question, terminal);
      const brief =
        folded === 1
          ? '1 change is shown in brief'
          : `${formatCount(folded, 'change')} are shown in brief`;
      const answer = await askFor(
        `${brief}. ${question} Type "yes", "no", or "show" to read all of it first:`,
        terminal,
      );
      if (answer !== 'show') return answer === 'yes';
      for (const { plan, title } of reviewed) {
        if (title !== undefined) terminal.out(`\n${sanitiseLine(title)}\n`);
        terminal.out(renderPlanText(plan, { ...terminal.render, verbose: true }));
      }
      return confirm(question, terminal);
    },
  };
}

/** Asks for what `--auto-approve` says. Throws where no person can be asked; `hint` says how to go on then. */
export async function isAgreed(
  question: string,
  { autoApprove }: { readonly autoApprove?: boolean },
  terminal: Terminal,
  hint: string,
  ask = (text: string) => confirm(text, terminal),
): Promise<boolean> {
  if (autoApprove === true) return true;
  if (terminal.canAsk) return ask(question);
  const message = 'nothing was written: approval is needed, and there is no terminal to ask on';
  throw new CallsheetError('usage', message, { hint });
}

/** Returns the answer to a prompt. Throws if the prompt was interrupted: its answer is a symbol then. */
export function answered<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer !== 'symbol') return answer as Exclude<T, symbol>;
  throw new CallsheetError('interrupted', 'interrupted; nothing was written');
}

/** A sentence beside the results: broken to the width on a terminal, whole in a pipe. */
export function say({ err, wrapsErr, renderErr }: Terminal, text: string): void {
  const width = wrapsErr ? renderErr.width : Infinity;
  err(renderProse(text.trimEnd(), { ...renderErr, width }).trimEnd());
}

/** Resources between two lines in a log. */
const STRIDE = 1000;

/** Shows events of the engine beside the results. A terminal redraws what is read; a log gets a line a thousand. */
function presentOn(terminal: Terminal): (event: Event) => void {
  const { live } = terminal;
  let reading = { read: 0, expected: 0 };
  let stop: (() => void) | undefined;
  return (event) => {
    switch (event.type) {
      case 'loading':
        live?.draw('Reading the stack');
        return;
      case 'reading':
        reading = event;
        if (live === undefined && event.read > 0 && event.read % STRIDE === 0)
          terminal.err(`${progressIn(event)} read`);
        stop ??= drawEvery(live, () => `Reading live resources: ${progressIn(reading)}`);
        return;
      case 'loaded':
      case 'read':
        stop?.();
        stop = undefined;
        live?.end();
        return;
      case 'warnings':
        terminal.err(renderDiagnosticsBeside(event.diagnostics, terminal.renderErr));
        return;
      case 'waiting':
        terminal.err(`Waiting: ${event.message}.`);
        return;
      case 'planning_again':
        terminal.err(`Planning again: ${event.message}.`);
        return;
      case 'overlaps':
        terminal.err(
          [
            'Another stack manages the same resources, so apply will refuse this plan:',
            ...event.lines.map((line) => `  ${line}`),
          ].join('\n'),
        );
        return;
      case 'unread':
        if (!terminal.render.verbose) return;
        break;
      case 'rollback_failed':
        reportFailure(event.error, terminal, terminal.render.verbose);
        return;
    }
    say(terminal, sentenceOn(event));
  };
}

type Sentence = Exclude<
  Event,
  {
    type:
      | 'loading'
      | 'reading'
      | 'loaded'
      | 'read'
      | 'warnings'
      | 'waiting'
      | 'planning_again'
      | 'overlaps'
      | 'rollback_failed';
  }
>;

function sentenceOn(event: Sentence): string {
  switch (event.type) {
    case 'notice':
      return event.text;
    case 'comparing_secrets':
      return `Comparing ${event.secrets} secrets with the last written values. Without CALLSHEET_FINGERPRINT_KEY that takes a while (\`callsheet help secrets\`).`;
    case 'no_state':
      return `There is no state at ${event.location}: a first run, or another place than before.`;
    case 'not_sealed':
      return 'The state is not sealed: anyone who can write to its store can change it. To seal it, set CALLSHEET_FINGERPRINT_KEY (`callsheet help secrets`).';
    case 'run_at_work':
      return `Run ${event.run} is running: for changes that it has not recorded yet, this uses the live values.`;
    case 'unread':
      return `${formatNumber(event.unread)} of ${formatNumber(event.all)} resources were not read, because they are unchanged since the last run. --refresh full reads them all.`;
    case 'uncompared':
      return event.message;
    case 'recovered':
      return `Run ${event.run}, which died, is recovered: \`callsheet runs ${event.run}\``;
    case 'stopping':
      return 'Interrupted: Callsheet finishes the requests in flight and starts no others. Interrupt again to exit at once.';
    case 'rollback_owed':
      return `Run ${event.run} was started with --rollback-on-failure, and failed or died before its rollback. To undo it: \`callsheet rollback\`.`;
    case 'rolling_back':
      return `Run ${event.run} is rolled back (--rollback-on-failure).`;
    case 'rollback_resumed':
      return `Continuing the interrupted rollback of run ${event.run}.`;
  }
}

/** Facets and second looks are reads, too: once there are more than resources, their number is all that is said. */
function progressIn({
  read,
  expected,
}: {
  readonly read: number;
  readonly expected: number;
}): string {
  const of = read <= expected && expected > 0 ? ` of ${formatNumber(expected)}` : '';
  return `${formatNumber(read)}${of} ${expected === 1 ? 'resource' : 'resources'}`;
}

/** Throws where somebody wants it to end: nothing is written from then on. */
export function refuseInterrupted({ stop }: Pick<Context, 'stop'>): void {
  if (stop.aborted) throw new CallsheetError('interrupted', 'nothing was written');
}

/** Why a command ended: a request that fails once somebody interrupted was ended by the interrupt. */
export function endedBy(error: unknown, stop: AbortSignal): unknown {
  const isEnded =
    stop.aborted &&
    error instanceof CallsheetError &&
    (error.code === 'network' || error.code === 'interrupted');
  return isEnded ? new CallsheetError('interrupted', 'interrupted; nothing was written') : error;
}

/** A failure as the document that `--format json` prints. */
export function failureJson(error: unknown): string {
  return renderFailureJson(toFailure(error));
}

/** Shows a failure and gives its exit code. Only a bug in Callsheet is shown with a stack trace. */
export function reportFailure(thrown: unknown, terminal: Terminal, verbose: boolean): ExitCode {
  const error = explainSystemError(thrown);
  const write = (text: string) => say(terminal, text);
  if (!(error instanceof CallsheetError)) {
    write('Callsheet itself failed; this is a bug. Please report it with the lines below.');
    terminal.err(sanitise(error instanceof Error ? (error.stack ?? error.message) : String(error)));
    return EXIT.error;
  }
  if (error.diagnostics.length > 0) {
    terminal.err(renderDiagnosticsBeside(error.diagnostics, terminal.renderErr));
  } else {
    write(`Error: ${describeApiError(error)}`);
    if (error.hint !== undefined) write(error.hint);
  }
  if (verbose && error.cause !== undefined) write(`Cause: ${String(error.cause)}`);
  return getExitCode(error.code);
}
