import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import { draftBeside } from '../draft-file.ts';

/** New texts by path in a folder; `before` is what the file held when it was read, without its byte order mark. */
export type NewTexts = ReadonlyMap<string, { readonly before: string; readonly after: string }>;

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
