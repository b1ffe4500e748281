import { findText, getOwn, type JsonObject } from '../core/value.ts';
import { valueAt } from '../core/walk.ts';
import type { FindConfigured, FindWritten } from '../plan/make.ts';
import { getSource, type Stack, textsInYaml } from '../stack/index.ts';
import { askGit, isInRepository, readVersions } from './actor.ts';
import { listRuns, readRun } from './find-run.ts';
import type { Session } from './session.ts';

/** Runs, and versions of a file, that are read at most: a value that stood longer is in the newest of them. */
const MOST_READ = 20;

/**
 * Finds a value that was written last and that the state keeps a digest of. Whatever has it will do, as the digest tells:
 * a copy that a later run took of the resource, or the file that the value stands in, as committed.
 */
export function createWrittenFinder(session: Session): FindWritten {
  const { stack } = session;
  const copies = openCopies(session);
  const committed = openVersions(session, () => listCommits(stack.dir, 'HEAD'));
  const versions = new Map<string, Promise<readonly string[]>>();
  return async ({ kind, id, address, path }, isWanted) => {
    for await (const document of copies(id)) {
      const value = valueAt(kind.schema, document, path);
      if (value !== undefined && isWanted(value)) return value;
    }
    const origin = stack.traceOrigin(address, path);
    const { file } = (origin && getSource(origin)) ?? {};
    if (file === undefined) {
      // It is configured no more: the commits had it.
      for await (const { document } of committed([address])) {
        const text = findText(valueAt(kind.schema, document, path));
        if (text !== undefined && isWanted(text)) return text;
      }
      return undefined;
    }
    const reading = versions.get(file) ?? readVersions(stack.dir, file, MOST_READ);
    versions.set(file, reading);
    for (const text of await reading) {
      // It is the text itself, or stands in it.
      const found = isWanted(text) ? text : textsInYaml(text).find(isWanted);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The copies that runs took of a resource, the newest first. Each journal is read once. */
function openCopies(session: Session) {
  const read = async (run: string) => {
    const entries = (await readRun(session, run)) ?? [];
    const found = entries.flatMap((entry): readonly (readonly [string, JsonObject])[] =>
      entry.type === 'snapshot' && entry.id !== null && entry.document !== null
        ? [[entry.id, entry.document]]
        : [],
    );
    return Object.fromEntries(found);
  };
  const journals = new Map<string, ReturnType<typeof read>>();
  let runs: ReturnType<typeof listRuns> | undefined;
  return async function* readCopies(id: string) {
    runs ??= listRuns(session);
    for (const run of (await runs).slice(0, MOST_READ)) {
      const reading = journals.get(run) ?? read(run);
      journals.set(run, reading);
      const document = getOwn(await reading, id);
      if (document !== undefined) yield document;
    }
  };
}

/** Commits that are read at most to learn what the files had since the last apply. */
const MOST_COMMITS = 50;

/**
 * Gives a resource as the commits have it that the checkout is made of, the newest first, back to the one that was applied
 * last. Nothing older: what was written since then took it back. Each commit is loaded once, and only when it is asked for.
 */
export function createConfiguredFinder(
  session: Pick<Session, 'stack' | 'state' | 'loadAt'>,
): FindConfigured {
  const { applied } = session.state;
  const { dir } = session.stack;
  return openVersions(session, async () =>
    applied === undefined ? [] : listCommitsSince(dir, applied.commit),
  );
}

/** Gives a resource as some commits have it, in their order. */
function openVersions(
  { stack: { dir }, loadAt }: Pick<Session, 'stack' | 'loadAt'>,
  listThem: () => Promise<readonly string[]>,
): FindConfigured {
  const load = async function* () {
    if (isInRepository(dir)) yield* loadAt(await listThem());
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded: Promise<IteratorResult<{ readonly stack: Stack }, void>>[] = [];
  return async function* listVersions(addresses) {
    loading ??= load();
    for (let at = 0; ; at += 1) {
      // A commit that Git cannot read counts as absent.
      const next = loaded[at] ?? loading.next().catch(() => ENDED);
      loaded[at] = next;
      const { done, value } = await next;
      if (done === true) return;
      const [found] = addresses.flatMap(
        (address) => value.stack.resources.find((one) => one.address === address) ?? [],
      );
      if (found !== undefined) yield found;
    }
  };
}

const ENDED: IteratorResult<never, void> = { done: true, value: undefined };

/** Commits of the checkout that touch the folder of the stack, the newest first, and the given one, if the checkout has it. */
async function listCommitsSince(dir: string, commit: string): Promise<readonly string[]> {
  try {
    const listed = await listCommits(dir, 'HEAD', `^${commit}`);
    const parted = await askGit(dir, 'merge-base', commit, 'HEAD').catch(() => undefined);
    return parted === commit ? [...listed, commit] : listed;
  } catch {
    // A shallow clone may not have it.
    return [];
  }
}

/** Commits of a range that touch the folder of the stack, the newest first; none where Git cannot read them. */
async function listCommits(dir: string, ...range: readonly string[]): Promise<readonly string[]> {
  const listed = [`--max-count=${MOST_COMMITS}`, ...range, '--', '.'];
  const ids = await askGit(dir, 'rev-list', ...listed).catch(() => '');
  return ids.split('\n').filter((one) => one !== '');
}
