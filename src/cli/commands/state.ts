import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { renderAddresses, renderLock, renderResource } from '../../render/state.ts';
import {
  renderEdit,
  renderMigration,
  renderPush,
  renderRepair,
  renderUntouched,
} from '../../render/state-edits.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import type { State } from '../../state/model.ts';
import { replay } from '../../state/replay.ts';
import { formatState } from '../../state/state-text.ts';
import { describeActor } from '../actor.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readState } from '../session.ts';
import { openStack } from '../stack.ts';
import { chooseAddresses } from '../state/choose.ts';
import { editState, noState } from '../state/edit.ts';
import { forgetAddresses } from '../state/forget.ts';
import { migrateState } from '../state/migrate.ts';
import { moveAddress } from '../state/move.ts';
import { holderFor, withStore } from '../state/open.ts';
import { pushState } from '../state/push.ts';
import { repairState } from '../state/repair.ts';
import { trustSecrets } from '../state/trust.ts';
import { say, tellUnfinished } from '../tell.ts';

export type StateFlags = CommonFlags & { readonly format: 'text' | 'json' };
export type ForceFlags = StateFlags & { readonly force?: boolean };

/** `callsheet state list [ADDRESS…]`: the addresses that the state holds, one a line. */
export function list(
  patterns: readonly Address[],
  flags: StateFlags,
  context: Context,
): Promise<ExitCode> {
  return withStore(flags, context, async ({ store }) => {
    const { state, unfinished } = await readState(store);
    tellUnfinished(unfinished, context);
    const chosen = new Set(patterns.flatMap((pattern) => chooseAddresses(pattern, state)));
    const resources = Object.entries(state.resources)
      .filter(([address]) => patterns.length === 0 || chosen.has(address))
      .map(([address, { kind, id, name, scope, protect }]) => {
        return { address, kind, id, name, scope, protect };
      })
      .sort((a, b) => (a.address < b.address ? -1 : 1));
    const { lineage, serial, account_id: account = null } = state;
    const head = { lineage, serial, account_id: account };
    const { terminal } = context;
    terminal.out(
      flags.format === 'json'
        ? json('callsheet-state-list', { ...head, resources })
        : renderAddresses(resources, terminal.render),
    );
    if (resources.length === 0) terminal.err(`The state ${store.location} holds no resource.`);
    return EXIT.done;
  });
}

/** `callsheet state show ADDRESS`: everything that the state remembers of one resource. */
export function show(address: Address, flags: StateFlags, context: Context): Promise<ExitCode> {
  return withStore(flags, context, async ({ store }) => {
    const { state, unfinished } = await readState(store);
    tellUnfinished(unfinished, context);
    const resource = state.resources[address];
    if (resource === undefined) {
      const [first = ''] = chooseAddresses(address, state);
      throw new CallsheetError('usage', `${address} names several resources`, {
        hint: `Name one of them, such as ${first}.`,
      });
    }
    const { terminal } = context;
    terminal.out(
      flags.format === 'json'
        ? json('callsheet-state-resource', { address, resource })
        : renderResource(address, resource, terminal.render),
    );
    return EXIT.done;
  });
}

/** `callsheet state pull`: the state as it is stored, for a backup or for `state push`. */
export function pull(flags: CommonFlags, context: Context): Promise<ExitCode> {
  return withStore(flags, context, async ({ store }) => {
    const { state, pending } = await store.load();
    if (state === undefined) throw noState(store.location);
    tellUnfinished(replay(state, pending).began?.run, context);
    context.terminal.out(await formatState(state));
    return EXIT.done;
  });
}

/** `callsheet state push FILE`: puts a state in the place of the stack's. */
export async function push(file: string, flags: ForceFlags, context: Context): Promise<ExitCode> {
  const { edited, setAside } = await pushState(file, flags.force === true, flags, context);
  const { terminal } = context;
  terminal.out(
    flags.format === 'json'
      ? json('callsheet-state-edit', { ...(edited ?? NO_EDIT), set_aside: setAside })
      : renderPush(edited, setAside, terminal.render),
  );
  return EXIT.done;
}

/** `callsheet state mv FROM TO`: gives what the state remembers another address. */
export async function mv(
  from: Address,
  to: Address,
  flags: StateFlags,
  context: Context,
): Promise<ExitCode> {
  const edited = await editState('state mv', flags, context, (state) =>
    moveAddress(from, to, state),
  );
  showEdit(edited, flags, context);
  say(
    context.terminal,
    `Where the configuration still says ${from}, rename it there, too: the state does not change it.`,
  );
  return EXIT.done;
}

/** `callsheet state rm ADDRESS…`: forgets resources, and deletes nothing. */
export async function rm(
  addresses: readonly Address[],
  flags: ForceFlags,
  context: Context,
): Promise<ExitCode> {
  const edited = await editState('state rm', flags, context, (state) =>
    forgetAddresses(addresses, flags.force === true, state),
  );
  showEdit(edited, flags, context);
  say(
    context.terminal,
    'Nothing was deleted on the platform. What the configuration still has is found again by its name.',
  );
  return EXIT.done;
}

/** `callsheet state trust [ADDRESS…]`: from now on a rotation of these secrets is noticed. Writes the state alone. */
export async function trust(
  addresses: readonly Address[],
  flags: StateFlags & { readonly dryRun?: boolean },
  context: Context,
): Promise<ExitCode> {
  const loaded = await openStack(flags, context);
  const make = (state: State) => trustSecrets(addresses, loaded, state, context);
  const { records, ledger } = await withStore(flags, context, async ({ store }) => {
    const { state, unfinished } = await readState(store);
    tellUnfinished(unfinished, context);
    return make(state);
  });
  if (records.length > 0 && flags.dryRun !== true) {
    showEdit(await editState('state trust', flags, context, make), flags, context);
    return EXIT.done;
  }
  const { terminal } = context;
  terminal.out(
    flags.format === 'json'
      ? json('callsheet-state-edit', { ...NO_EDIT, ledger, set_aside: [] })
      : renderUntouched(ledger, terminal.render),
  );
  return EXIT.done;
}

/** `callsheet state unlock [LEASE]`: shows who holds the state, or takes the lease from them. */
export function unlock(
  lease: string | undefined,
  flags: ForceFlags,
  context: Context,
): Promise<ExitCode> {
  return withStore(flags, context, async ({ store, settings }) => {
    const { terminal, now } = context;
    const held = await store.lock();
    if (lease !== undefined) {
      if (held?.lease === lease && held.owner === 'running' && flags.force !== true)
        throw new CallsheetError(
          'locked',
          `process ${held.holder.pid}, which holds the state ${store.location}, runs on this machine`,
          {
            hint: `Wait for it, or interrupt it (Ctrl-C): it then stops cleanly. To stop it before its next write: callsheet state unlock ${lease} --force`,
          },
        );
      const actor = await describeActor(settings.dir, context);
      await store.unlock(lease, holderFor('', 'state unlock', actor, context));
    }
    const { watch: _, ...told } = held ?? { watch: 0 };
    const seen = {
      location: store.location,
      held: 'lease' in told ? told : null,
      unlocked: lease !== undefined,
    };
    terminal.out(
      flags.format === 'json'
        ? json('callsheet-lock', seen)
        : renderLock(seen, now(), terminal.render),
    );
    return EXIT.done;
  });
}

/** `callsheet state repair`: rebuilds the state from what is readable and from what is live. */
export async function repair(flags: StateFlags, context: Context): Promise<ExitCode> {
  const { location, salvage, edited, findings, setAside } = await repairState(flags, context);
  const { terminal } = context;
  const { problem, read, journals } = salvage;
  const told = {
    location,
    problem: problem?.message ?? null,
    read,
    journals,
    ...(edited ?? NO_EDIT),
    set_aside: setAside,
    findings,
  };
  terminal.out(
    flags.format === 'json'
      ? json('callsheet-state-repair', told)
      : renderRepair(told, terminal.render),
  );
  if (edited !== undefined) terminal.err('callsheet plan shows what is left to do.');
  return EXIT.done;
}

/** `callsheet state migrate --to PLACE`: moves the state into an empty place. */
export async function migrate(
  flags: StateFlags & { readonly to: string },
  context: Context,
): Promise<ExitCode> {
  const migrated = await migrateState(flags.to, flags, context);
  const { terminal } = context;
  terminal.out(
    flags.format === 'json'
      ? json('callsheet-state-migration', migrated)
      : renderMigration(migrated, terminal.render),
  );
  return EXIT.done;
}

const NO_EDIT = { run: null, serial: null, ledger: [] } as const;

function showEdit(
  edited: Awaited<ReturnType<typeof editState>>,
  { format }: StateFlags,
  { terminal }: Context,
): void {
  terminal.out(
    format === 'json'
      ? json('callsheet-state-edit', { ...edited, set_aside: [] })
      : renderEdit(edited, terminal.render),
  );
}

function json(format: string, content: object): string {
  return escapeInJson(JSON.stringify({ format, version: 1, ...content }, null, 2));
}
