import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { ImportDocument } from '../../core/import-document.ts';
import type { Obscurity } from '../../plan/identify.ts';
import { renderImportText } from '../../render/imported.ts';
import type { State } from '../../state/model.ts';
import { nextState } from '../../state/replay.ts';
import type { Lease } from '../../state/store.ts';
import { describeActor } from '../actor.ts';
import { claimForRun } from '../claims.ts';
import { commandLine } from '../command-line.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Binding, bindAll, bindOne, type Found } from '../import/bind.ts';
import { releasing } from '../run.ts';
import { runId } from '../run-id.ts';
import { fingerprintsForRun, openSession, recordSettlement, type Session } from '../session.ts';
import { beginning, editLine, ending, originOf } from '../state/edit.ts';
import { holderFor } from '../state/open.ts';

export type ImportFlags = CommonFlags & {
  readonly all?: boolean;
  readonly format: 'text' | 'json';
};

/**
 * `callsheet import ADDRESS ID`, or `--all`: has addresses of the configuration stand for live resources. Only the
 * state is written.
 */
export async function importCommand(
  address: Address | undefined,
  id: string | undefined,
  flags: ImportFlags,
  context: Context,
): Promise<ExitCode> {
  const wanted = wantedBy(address, id, flags);
  const session = await openSession(flags, context);
  try {
    const run = runId(context.now());
    const actor = await describeActor(session.stack.dir, context);
    const lease = await session.store.acquire(holderFor(run, 'import', actor, context));
    return await releasing(lease, async () => {
      const state = await recordSettlement(lease, session, context);
      const fingerprints = await fingerprintsForRun(state, session, context);
      const own: Session = { ...session, state, world: { ...session.world, fingerprints } };
      const found = await find(wanted, own, context);
      const bound = found.bindings.map(({ address, resource: { kind, id } }) => {
        return { address, kind, id };
      });
      await claimForRun(lease, bound, session);
      const edit =
        found.bindings.length === 0
          ? undefined
          : await record(run, found.bindings, state, lease, own, context);
      const document = documentOf(edit, found, flags);
      context.terminal.out(
        flags.format === 'json'
          ? JSON.stringify(document, null, 2)
          : renderImportText(document, context.terminal.render),
      );
      return found.unclear.length > 0 ? EXIT.partial : EXIT.done;
    });
  } finally {
    await session.close();
  }
}

type Wanted = 'all' | { readonly address: Address; readonly id: string };

function wantedBy(
  address: string | undefined,
  id: string | undefined,
  { all }: ImportFlags,
): Wanted {
  if (all === true && address === undefined) return 'all';
  if (all !== true && address !== undefined && id !== undefined) return { address, id };
  const message =
    all === true
      ? '--all takes no address'
      : 'an address of the configuration and a live id are needed';
  throw new CallsheetError('usage', message, {
    hint: 'callsheet import ADDRESS ID binds one; callsheet import --all binds everything that its name tells.',
  });
}

async function find(wanted: Wanted, session: Session, context: Context): Promise<Found> {
  if (wanted === 'all') return bindAll(session, context);
  const binding = await bindOne(wanted.address, wanted.id, session, context);
  return { bindings: binding === undefined ? [] : [binding], unclear: [], absent: [] };
}

/** Writes the bindings down as an edit of the state, with a journal of its own. */
async function record(
  run: string,
  bindings: readonly Binding[],
  state: State,
  lease: Lease,
  session: Session,
  context: Context,
): Promise<{ readonly run: string; readonly serial: number }> {
  const { stack, platform } = session;
  session.beginWriting();
  const settings = { dir: stack.dir, platform: stack.platform };
  const began = await beginning(run, 'import', { settings }, context);
  await lease.append({ ...began, base_url: platform.base_url, ...originOf(state) });
  for (const { address, resource } of bindings) {
    await lease.append({ type: 'resource', address, resource });
  }
  const ledger = bindings.map(({ address, resource, differing }) =>
    editLine(
      address,
      'adopt',
      resource.id,
      differing.length === 0 ? null : 'it differs from the configuration',
    ),
  );
  await lease.append(ending(ledger, context));
  const bound = bindings.map(({ address, resource }) => [address, resource] as const);
  const next = nextState(state, run, { ...state.resources, ...Object.fromEntries(bound) });
  await lease.commit(next);
  return { run, serial: next.serial };
}

function documentOf(
  edit: { readonly run: string; readonly serial: number } | undefined,
  { bindings, unclear, absent }: Found,
  flags: ImportFlags,
): ImportDocument {
  return {
    format: 'callsheet-import',
    version: 1,
    run: edit?.run ?? null,
    serial: edit?.serial ?? null,
    bound: bindings.map(({ address, resource, differing }) => ({
      address,
      id: resource.id,
      differing,
    })),
    unclear: unclear.map((one) => unclearOne(one, flags)),
    absent,
  };
}

function unclearOne(one: Obscurity, flags: ImportFlags): ImportDocument['unclear'][number] {
  const { address } = one;
  if (one.type === 'several') {
    const reason = `${one.ids.length} live resources have its name`;
    const commands = one.ids.map((id) => commandLine(`import ${address} ${id}`, flags));
    return { address, reason, ids: one.ids, commands };
  }
  const why = one.holder === undefined ? 'does not exist' : `is what ${one.holder} stands for`;
  const reason = `lifecycle.adopt names ${one.id}, which ${why}`;
  return { address, reason, ids: [], commands: [] };
}
