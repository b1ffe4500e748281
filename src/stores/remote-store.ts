import { linesIn } from '../state/journal-text.ts';
import { isRunId } from '../state/layout.ts';
import { inOrder, type Receipt, readReceipt } from '../state/receipts.ts';
import { type OpenRun, readOpenRun, sortOpenRuns, type Wanted } from '../state/run-files.ts';
import { salvageFrom } from '../state/salvage.ts';
import { salvageJournal } from '../state/salvage-text.ts';
import type { Standing } from '../state/standing.ts';
import { parseState, readState } from '../state/state-text.ts';
import type { Lease, StateStore } from '../state/store.ts';
import type { Kept, Remote, RemoteEffects } from './remote.ts';
import { openRemoteLease } from './remote-lease.ts';
import { breakLease, seeLease, takeLease } from './take.ts';

/** A store over what keeps the texts somewhere else. Nothing is written before the first `acquire`. */
export function openRemoteStore(remote: Remote, effects: RemoteEffects): StateStore {
  const { location } = remote;
  const leases = new Set<Lease>();
  /** What was read under a lease: nobody but its holder can have changed it since. */
  let latest: Standing | undefined;
  let closing: Promise<void> | undefined;

  async function load(): Promise<Standing> {
    const standing = await standingOf(await remote.read(), location);
    latest = leases.size > 0 ? standing : undefined;
    return standing;
  }

  async function takeStock(): Promise<Standing> {
    const standing = latest ?? (await standingOf(await remote.read(), location));
    latest = undefined;
    return standing;
  }

  async function readRun(run: string, wanted: Wanted): Promise<OpenRun | undefined> {
    const pieces = await remote.journal(run);
    return pieces && readOpenRun(linesIn(pieces), run, nameOf(run, location), wanted);
  }

  async function close(): Promise<void> {
    for (const lease of leases) await lease.release();
    leases.clear();
    await remote.close();
  }

  return {
    location,
    async load() {
      const { state, runs } = await load();
      return { state, pending: runs.pending?.entries ?? [] };
    },
    overlaps: async (account, claims) => (await remote.overlaps?.(account, claims)) ?? [],
    salvage: () => salvageRemote(remote),
    lock: () => seeLease(remote, effects),
    unlock: (lease, by) => breakLease(remote, lease, by, effects),
    async acquire(holder) {
      const id = await takeLease(remote, holder, effects);
      latest = undefined;
      const lease = openRemoteLease(id, holder, remote, effects, takeStock);
      leases.add(lease);
      return lease;
    },
    async runs() {
      const names = await remote.runs();
      const receipts: Receipt[] = [];
      for (const run of names)
        receipts.push(
          await readReceipt(
            run,
            () => readRun(run, 'ends'),
            async () => '',
          ),
        );
      return inOrder(receipts);
    },
    async run(id) {
      return isRunId(id) ? (await readRun(id, 'all'))?.entries : undefined;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** What messages call the journal of a run. */
export function nameOf(run: string, location: string): string {
  return `of run ${run} in ${location}`;
}

async function standingOf({ state: pieces, open }: Kept, location: string): Promise<Standing> {
  const state =
    pieces && ((await readState(linesIn(pieces))) ?? (await parseState(pieces.join(''), location)));
  const runs: OpenRun[] = [];
  for (const { run, pieces } of open)
    runs.push(await readOpenRun(linesIn(pieces), run, nameOf(run, location), 'all'));
  return { state, runs: sortOpenRuns(state, runs, location) };
}

function salvageRemote(remote: Remote) {
  const { location } = remote;
  return salvageFrom({
    location,
    check: async () => standingOf(await remote.read(), location),
    lines: async () => {
      const { state } = await remote.read();
      return state && linesIn(state);
    },
    state: async () => (await remote.read()).state?.join(''),
    async journals() {
      const { open } = await remote.read();
      const sourceOf = (
        run: string,
        finished: boolean,
        pieces: () => Promise<readonly string[]>,
      ) => {
        const path = nameOf(run, location);
        const read = async () => salvageJournal(linesIn(await pieces()), path);
        return { run, path, finished, read };
      };
      const finished = await remote.runs();
      return [
        ...open.map(({ run, pieces }) => sourceOf(run, false, async () => pieces)),
        ...finished.map((run) =>
          sourceOf(run, true, async () => (await remote.journal(run)) ?? []),
        ),
      ];
    },
  });
}
