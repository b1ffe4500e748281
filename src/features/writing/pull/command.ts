import type { Context } from '../../../console/context.ts';
import { say } from '../../../console/events.ts';
import type { ShowFlags } from '../../../console/show.ts';
import { commandSpan, quoted } from '../../../core/command-line.ts';
import type { PullDocument } from '../../../core/documents.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../../core/errors.ts';
import { checkAddresses } from '../../../kinds/index.ts';
import { jsonText } from '../../../render/untrusted.ts';
import { announce, planConfiguration, planOptions } from '../../../run/plan.ts';
import { type CheckNamed, openSession } from '../../../run/session.ts';
import { openFolder, STACK_FILE } from '../../../stack/folder.ts';
import { type Choice, type Pulled, pullDocument, pullLive } from './index.ts';
import { renderPullText } from './render.ts';
import { getStatus, propose, readAgain, writePulled } from './write.ts';

export type PullFlags = ShowFlags & {
  /** Show what would be written. */
  readonly dryRun?: boolean;
  /** Write over changes that are not committed. */
  readonly allowDirty?: boolean;
  /** Take live values where the configuration changed, too. */
  readonly theirs?: boolean;
  /** Write the edits of both where both sides changed a text. */
  readonly merge?: boolean;
  /** Write on the resource itself what it shares with others. */
  readonly override?: boolean;
  /** Change what it shares with others where that stands, for them, too. */
  readonly changeShared?: boolean;
  readonly skipRefused?: boolean;
  /** Write files for live resources that the stack does not have. */
  readonly new?: boolean;
  readonly concurrency?: number;
};

/** `callsheet pull`: what is live, written into the files that say what should be. */
export async function pull(
  addresses: readonly string[],
  flags: PullFlags,
  context: Context,
): Promise<ExitCode> {
  const isNew = flags.new === true;
  const chosen = chosenBy(flags);
  const check: CheckNamed = ({ stack }) => {
    const known = stack.resources.map(({ address }) => address);
    if (!isNew) checkAddresses(addresses, known);
  };
  const session = await openSession(flags, context, { check, plans: true });
  try {
    announce(session, context);
    const { stack } = session;
    const options = planOptions({ target: isNew ? [] : addresses });
    const planned = await planConfiguration(session, options, context, {
      isPreflighted: false,
      calls: false,
      // An edit that apply keeps is pulled like any other.
      drift: 'undo',
    });
    const { uncompared } = planned;
    if (uncompared !== undefined) say(context.terminal, uncompared);
    if (isNew) {
      const document = await propose(addresses, planned, session, flags, context);
      show(document, addresses, flags, context);
      return getExit(document, flags);
    }
    const pullWith = (choose: (key: string) => Choice | undefined) =>
      pullLive({
        stack,
        planned,
        theirs: flags.theirs === true,
        merge: flags.merge === true,
        typed: (command) => commandSpan(command, flags),
        choose,
        textOf: (file) => textIn(stack.dir, file),
        reload: (texts) => readAgain(session.stack.dir, texts, flags, context),
      });
    let pulled = await pullWith(() => chosen);
    let left: Pulled['refused'] = [];
    if (pulled.questions.length > 0 && canAsk(flags, context)) {
      const { askShared, isLeft } = await import('./ask.ts');
      const { questions } = pulled;
      const choices = await askShared(questions);
      if (choices.size > 0) pulled = await pullWith((key) => choices.get(key));
      // A leaf that somebody chose to leave is no refusal, and holds up nothing else.
      left = pulled.refused.filter((one) => isLeft(one, questions, choices));
      pulled = { ...pulled, refused: pulled.refused.filter((one) => !left.includes(one)) };
    }
    const status = getStatus(pulled.files.size, pulled.refused, flags);
    if (status === 'written') await writePulled(pulled, stack, flags, context);
    const document = pullDocument(pulled, status, stack);
    show(document, addresses, flags, context, left);
    tellEnvironment(document, flags, context);
    return getExit(document, flags);
  } finally {
    await session.close();
  }
}

/** Repeats the chosen flags, to be typed once more. */
function chosenFlags({ new: isNew, merge, theirs, override, changeShared, allowDirty }: PullFlags) {
  const given = {
    '--new': isNew,
    '--merge': merge,
    '--theirs': theirs,
    '--override': override,
    '--change-shared': changeShared,
    '--allow-dirty': allowDirty,
  };
  return Object.entries(given).flatMap(([flag, isGiven]) => (isGiven === true ? flag : []));
}

function chosenBy({ override, changeShared }: PullFlags): Choice | undefined {
  if (override === true && changeShared === true) {
    throw new CallsheetError('usage', '--override and --change-shared exclude each other', {
      hint: 'One writes a shared value on the resource itself, the other at its shared source.',
    });
  }
  if (override === true) return 'own';
  return changeShared === true ? 'shared' : undefined;
}

/** Returns true if somebody is there to decide, and has not done so with a flag. */
function canAsk(flags: PullFlags, { terminal }: Context): boolean {
  const isDecided = [flags.dryRun, flags.skipRefused, flags.override, flags.changeShared].includes(
    true,
  );
  return terminal.canAsk && flags.format === 'text' && !isDecided;
}

/** Notes that lines outside an environment's own block are read by the others as well. */
function tellEnvironment(
  { pulled }: PullDocument,
  { env }: PullFlags,
  { terminal }: Context,
): void {
  if (env === undefined || pulled.every(({ file }) => file === STACK_FILE)) return;
  say(
    terminal,
    `Values outside of environments.${env} also apply to the other environments: plan them before you apply.`,
  );
}

function getExit({ refused, undecided = [] }: PullDocument, flags: PullFlags): ExitCode {
  return refused.length + undecided.length > 0 && flags.skipRefused !== true
    ? EXIT.refused
    : EXIT.done;
}

/** A file of the stack as it was read. */
function textIn(dir: string, file: string): string {
  const read = openFolder(dir).text(file);
  return 'source' in read ? read.source.text : '';
}

/** `left`: what somebody was asked about and did not want. */
function show(
  document: PullDocument,
  addresses: readonly string[],
  flags: PullFlags,
  { terminal }: Context,
  left: Pulled['refused'] = [],
): void {
  if (flags.format === 'json') {
    terminal.out(jsonText(document));
    return;
  }
  const without = ['pull', ...addresses.map(quoted), ...chosenFlags(flags), '--skip-refused'];
  const rest = commandSpan(without.join(' '), flags);
  const text = renderPullText(document, rest, terminal.render, left);
  const diffs = document.files.flatMap(({ diff }) => diff ?? []);
  if (diffs.length === 0) terminal.out(text);
  else {
    // The diff alone is the result, so that it can be piped.
    terminal.out(diffs.join('\n'));
    terminal.err(renderPullText(document, rest, terminal.renderErr));
  }
}
