import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STACK_FILE } from '../../config/discover.ts';
import { openFolder } from '../../config/folder.ts';
import type { Stack } from '../../config/index.ts';
import { resourceSchema } from '../../config/schema.ts';
import { spotsBelow } from '../../config/trace.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { PullDocument } from '../../core/pull-document.ts';
import { contextAt, sensitivity } from '../../core/redact.ts';
import { type Pulled, pullLive } from '../../pull/index.ts';
import { renderPullText } from '../../render/pull.ts';
import { unifiedDiff } from '../../render/unified.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import type { CommonFlags, Context } from '../context.ts';
import { draftBeside } from '../draft-file.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planConfiguration } from '../make-plan.ts';
import { checkAddresses, planOptions } from '../plan-flags.ts';
import { propose } from '../pull/propose.ts';
import { readAgain } from '../pull/read-again.ts';
import { lookAtWorkingTree } from '../pull/working-tree.ts';
import {
  openSession,
  type Session,
  say,
  tellRunning,
  tellUncompared,
  tellWarnings,
} from '../session.ts';

export type PullFlags = CommonFlags & {
  readonly format: 'text' | 'json';
  /** Show what would be written. */
  readonly dryRun?: boolean;
  /** Write over changes that are not committed. */
  readonly force?: boolean;
  /** Take live values where the configuration changed, too. */
  readonly theirs?: boolean;
  /** Write on the resource itself what it shares with others. */
  readonly override?: boolean;
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
  const session = await openSession(flags, context);
  try {
    tellWarnings(session.warnings, context);
    tellRunning(session.unfinished, context);
    const { stack } = session;
    const isNew = flags.new === true;
    const known = stack.resources.map(({ address }) => address);
    if (!isNew) checkAddresses(addresses, known);
    const options = planOptions({ dir: flags.dir, target: isNew ? [] : addresses });
    const planned = await planConfiguration(session, options, context, { isPreflighted: false });
    tellUncompared(planned, context);
    if (isNew) {
      const document = await propose(addresses, planned, session, flags, context);
      show(document, flags, context);
      return exitOf(document, flags);
    }
    const pulled = await pullLive({
      stack,
      planned,
      theirs: flags.theirs === true,
      override: flags.override === true,
      textOf: (file) => textIn(stack.dir, file),
      reload: (texts) => readAgain(session.stack.dir, texts, flags, context),
    });
    const status = statusOf(pulled, flags);
    if (status === 'written') await write(pulled, session, flags, context);
    const document = documentOf(pulled, status, session);
    show(document, flags, context);
    tellEnvironment(document, flags, context);
    return exitOf(document, flags);
  } finally {
    await session.close();
  }
}

/** What stands outside an environment's own block is read by the others as well. */
function tellEnvironment(
  { pulled }: PullDocument,
  { env }: PullFlags,
  { terminal }: Context,
): void {
  if (env === undefined || pulled.every(({ file }) => file === STACK_FILE)) return;
  say(
    terminal,
    `What is written outside of environments.${env} holds for the other environments, too: plan them before you apply.`,
  );
}

function exitOf({ refused }: PullDocument, flags: PullFlags): ExitCode {
  return refused.length > 0 && flags.skipRefused !== true ? EXIT.refused : EXIT.done;
}

function statusOf({ files, refused }: Pulled, flags: PullFlags): PullDocument['status'] {
  if (refused.length > 0 && flags.skipRefused !== true && flags.dryRun !== true) return 'refused';
  if (files.size === 0) return 'nothing';
  return flags.dryRun === true ? 'dry_run' : 'written';
}

/** A file of the stack as it was read. */
function textIn(dir: string, file: string): string {
  const read = openFolder(dir).text(file);
  return 'source' in read ? read.source.text : '';
}

async function write(
  { files }: Pulled,
  { stack }: Session,
  flags: PullFlags,
  context: Context,
): Promise<void> {
  const own = new Set([...stack.written().files, ...files.keys()]);
  const tree = await lookAtWorkingTree(stack.dir, { own, written: new Set(files.keys()) });
  if (tree.type === 'none') {
    say(
      context.terminal,
      `The stack is not under Git (${tree.reason}): nothing will show what pull changed, or bring it back.`,
    );
  }
  if (tree.type === 'unknown' && flags.force !== true) throw untold(tree.reason);
  if (tree.type === 'dirty' && flags.force !== true) throw dirty(tree.files);
  if (context.stop.aborted) throw new CallsheetError('interrupted', 'nothing was written');
  replaceFiles(stack.dir, files);
}

function untold(reason: string): CallsheetError {
  const message = `nothing was written: git does not say whether the stack has changes (${reason})`;
  return new CallsheetError('refused', message, { hint: '--force writes all the same.' });
}

const MOST_NAMED = 5;

function dirty(files: readonly string[]): CallsheetError {
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : '';
  const named = `${files.slice(0, MOST_NAMED).join(', ')}${more}`;
  return new CallsheetError('refused', `nothing was written: ${named} changed and not committed`, {
    hint: 'Commit or stash the changes first, so that what pull writes can be reviewed alone; --force writes all the same, --dry-run shows what it would write.',
  });
}

function documentOf(
  { pulled, kept, refused, files }: Pulled,
  status: PullDocument['status'],
  { stack }: Session,
): PullDocument {
  return {
    format: 'callsheet-pull',
    version: 1,
    status,
    pulled: status === 'refused' ? [] : [...pulled],
    kept,
    refused,
    files:
      status === 'refused'
        ? []
        : [...files].map(([path, { before, after }]) => ({
            path,
            created: false,
            ...(status === 'dry_run' && {
              diff: unifiedDiff({ file: path, before, after, isHidden: hiddenLines(stack, path) }),
            }),
          })),
  };
}

function show(document: PullDocument, flags: PullFlags, { terminal }: Context): void {
  if (flags.format === 'json') {
    terminal.out(escapeInJson(JSON.stringify(document, null, 2)));
    return;
  }
  const text = renderPullText(document, terminal.render);
  const diffs = document.files.flatMap(({ diff }) => diff ?? []);
  if (diffs.length === 0) terminal.out(text);
  else {
    // The diff alone is the result, so that it can be piped.
    terminal.out(diffs.join('\n'));
    terminal.err(renderPullText(document, terminal.renderErr));
  }
}

/**
 * Finds lines of a file that hold sensitive values in clear: no diff shows them. A line that is new holds one
 * where it has the words of one, as when something beside it changed.
 */
function hiddenLines(stack: Stack, file: string): (line: string) => boolean {
  const lines = new Set<string>();
  const words = new Set<string>();
  for (const { kind, spot } of stack.written().resources) {
    const root = resourceSchema(kind);
    for (const { path, written } of spotsBelow(root, spot)) {
      if (written?.type !== 'scalar') continue;
      if (sensitivity(contextAt(root, path), written.text) === 'open') continue;
      for (const { source, start, end } of [written.place, written.origin ?? written.place]) {
        if (source.file !== file) continue;
        const from = source.text.lastIndexOf('\n', start - 1) + 1;
        const to = source.text.indexOf('\n', end - 1);
        const text = source.text.slice(from, to < 0 ? undefined : to);
        for (const line of text.split(/\r?\n/)) lines.add(line);
        for (const line of source.text.slice(start, end).split(/\r?\n/)) words.add(line.trim());
      }
    }
  }
  words.delete('');
  return (line) => lines.has(line) || [...words].some((one) => line.includes(one));
}

/** New texts by path in a folder; `before` is what the file held when it was read, without its byte order mark. */
type NewTexts = ReadonlyMap<string, { readonly before: string; readonly after: string }>;

type Draft = {
  readonly target: string;
  readonly draft: string;
  readonly old: Buffer;
  done: boolean;
};

const MARK = '\uFEFF';

/**
 * Puts new texts in the place of files, all or none: drafts first, which are then renamed. A file keeps its
 * permissions and its byte order mark, and a link keeps leading to it. One that changed since it was read
 * stops everything.
 */
export function replaceFiles(dir: string, texts: NewTexts): void {
  const drafts: Draft[] = [];
  try {
    for (const [file, { before, after }] of texts) {
      const target = realpathSync(join(dir, file));
      const old = readFileSync(target);
      const text = old.toString('utf8');
      const mark = text.startsWith(MARK) ? MARK : '';
      if (text.slice(mark.length) !== before) throw moved(file);
      drafts.push({ target, draft: draftBeside(target, mark + after, 'pull'), old, done: false });
    }
    for (const one of drafts) {
      renameSync(one.draft, one.target);
      one.done = true;
    }
  } catch (cause) {
    for (const { target, draft, old, done } of drafts) {
      if (done) writeFileSync(target, old);
      else rmSync(draft, { force: true });
    }
    if (cause instanceof CallsheetError) throw cause;
    const reason = cause instanceof Error ? cause.message.split(',')[0] : String(cause);
    throw new CallsheetError('usage', `nothing was written: ${reason}`, { cause });
  }
}

function moved(file: string): CallsheetError {
  return new CallsheetError('stale', `${file} was changed while pull was at work`, {
    hint: 'Nothing was written. Run it again.',
  });
}
