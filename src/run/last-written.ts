import { getOwn, type JsonObject } from '../core/value.ts';
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
  const versions = new Map<string, Promise<readonly string[]>>();
  return async ({ kind, id, address, path }, isWanted) => {
    for await (const document of copies(id)) {
      const value = valueAt(kind.schema, document, path);
      if (value !== undefined && isWanted(value)) return value;
    }
    const origin = stack.originOf(address, path);
    const { file } = (origin && getSource(origin)) ?? {};
    if (file === undefined) return undefined;
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
  return async function* copiesOf(id: string) {
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
export function createConfiguredFinder({
  stack: { dir },
  state: { applied },
  loadAt,
}: Pick<Session, 'stack' | 'state' | 'loadAt'>): FindConfigured {
  const load = async function* () {
    if (applied === undefined || !isInRepository(dir)) return;
    yield* loadAt(await listCommitsSince(dir, applied.commit));
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded: Promise<IteratorResult<{ readonly stack: Stack }, void>>[] = [];
  return async function* versionsOf(addresses) {
    loading ??= load();
    for (let at = 0; ; at += 1) {
      // What Git cannot read is as good as not there.
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
    const range = [`--max-count=${MOST_COMMITS}`, 'HEAD', `^${commit}`, '--', '.'];
    const listed = (await askGit(dir, 'rev-list', ...range))
      .split('\n')
      .filter((one) => one !== '');
    const parted = await askGit(dir, 'merge-base', commit, 'HEAD').catch(() => undefined);
    return parted === commit ? [...listed, commit] : listed;
  } catch {
    // A shallow clone may not have it.
    return [];
  }
}
