import type { Context } from '../../console/context.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import { type Address, nameInWords } from '../../core/address.ts';
import { commandLine, quoted } from '../../core/command-line.ts';
import type { DesiredResource } from '../../core/desired.ts';
import type { ImportDocument } from '../../core/documents.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { plainId } from '../../core/value.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { type Ambiguity, findById } from '../../plan/identify.ts';
import { getScope, listScopes } from '../../plan/natural-key.ts';
import type { ListedResource } from '../../plan/reader.ts';
import { type Binding, bind, bindAll, type Found } from '../../run/bind.ts';
import { beginEdit, type EditBegan, type Edited, editLine, recordEdit } from '../../run/edit.ts';
import { recordRecovery } from '../../run/recover.ts';
import { releasing } from '../../run/run.ts';
import {
  type CheckNamed,
  claimForRun,
  fingerprintsForRun,
  openSession,
  type Session,
} from '../../run/session.ts';
import type { State } from '../../state/model.ts';
import type { Lease } from '../../state/store.ts';
import { renderImportText } from './init/new-stack.ts';

export type ImportFlags = ShowFlags & { readonly all?: boolean };

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
  const check: CheckNamed = ({ stack }) => {
    const wanted = wantedBy(address, id, flags);
    if (wanted !== 'all') findDesired(wanted.address, stack.resources);
  };
  const session = await openSession(flags, context, { check });
  const wanted = wantedBy(address, id, flags);
  try {
    const open = { store: session.store, settings: session.stack };
    const { began, lease } = await beginEdit('import', open, context);
    return await releasing(lease, async () => {
      const state = await recordRecovery(lease, session, context);
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
          : await record(began, found.bindings, state, lease, own, context);
      const document = importDocument(edit, found, flags);
      show(flags, document, (to) => renderImportText(document, to), context);
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
  if (all !== true && address !== undefined && id !== undefined)
    return { address, id: plainId(id) };
  const message =
    all === true
      ? '--all takes no address'
      : 'an address of the configuration and a live id are needed';
  throw new CallsheetError('usage', message, {
    hint: '`callsheet import ADDRESS ID` binds one resource. `callsheet import --all` binds every resource with a clear match by name.',
  });
}

async function find(wanted: Wanted, session: Session, context: Context): Promise<Found> {
  if (wanted === 'all') return bindAll(session, context);
  const binding = await bindOne(wanted.address, wanted.id, session, context);
  return { bindings: binding === undefined ? [] : [binding], unclear: [], absent: [] };
}

/** Writes the bindings down as an edit of the state, with a journal of its own. */
async function record(
  began: EditBegan,
  bindings: readonly Binding[],
  state: State,
  lease: Lease,
  session: Session,
  context: Context,
): Promise<Edited> {
  const { base_url } = session.platform;
  session.beginWriting();
  const edit = {
    records: bindings.map(({ address, resource }) => [address, resource] as const),
    ledger: bindings.map(({ address, resource, differing }) =>
      editLine(
        address,
        'adopt',
        resource.id,
        differing.length === 0 ? null : 'it differs from the configuration',
      ),
    ),
  };
  return recordEdit(lease, { ...began, base_url }, state, edit, context);
}

function importDocument(
  edit: Edited | undefined,
  { bindings, unclear, absent }: Found,
  flags: ImportFlags,
): ImportDocument {
  return stampDocument('callsheet-import', {
    run: edit?.run ?? null,
    serial: edit?.serial ?? null,
    bound: bindings.map(({ address, resource, differing }) => ({
      address,
      id: resource.id,
      differing,
    })),
    unclear: unclear.map((one) => unclearOne(one, flags)),
    absent,
  });
}

function unclearOne(one: Ambiguity, flags: ImportFlags): ImportDocument['unclear'][number] {
  const { address } = one;
  if (one.type === 'several') {
    const ids = one.candidates.map(({ id }) => id);
    const reason = `${ids.length} live resources have this name`;
    const commands = ids.map((id) => commandLine(`import ${quoted(address)} ${id}`, flags));
    return { address, reason, ids, commands };
  }
  const why = one.holder === undefined ? 'does not exist' : `already belongs to ${one.holder}`;
  const reason = `lifecycle.adopt names ${one.id}, which ${why}`;
  return { address, reason, ids: [], commands: [] };
}

/** Binds one address to an id that somebody gave. Undefined: the state has it so already. */
async function bindOne(
  address: Address,
  id: string,
  session: Session,
  context: Context,
): Promise<Binding | undefined> {
  const { state, stack } = session;
  const desired = findDesired(address, stack.resources);
  const holder = Object.entries(state.resources).find(
    ([, one]) => one.kind === desired.kind && one.id === id,
  )?.[0];
  if (holder === address) return undefined;
  refuseTaken(address, id, holder, state);
  await findLive(desired, id, session);
  const adopting = { ...desired, lifecycle: { ...desired.lifecycle, adopt: id } };
  const { bindings } = await bind([adopting], session, context);
  return bindings[0];
}

/** The resource of an address. Throws `CallsheetError('usage')`, with the nearest address, where there is none. */
function findDesired(address: Address, resources: readonly DesiredResource[]): DesiredResource {
  const desired = resources.find((one) => one.address === address);
  if (desired !== undefined) return desired;
  const known = resources.map((one) => one.address);
  throw new CallsheetError('usage', `the configuration has no ${address}`, {
    hint: didYouMean(
      address,
      known,
      'Write the resource first, or let `callsheet export` write it.',
    ),
  });
}

function refuseTaken(
  address: Address,
  id: string,
  holder: Address | undefined,
  state: State,
): void {
  if (holder !== undefined) {
    throw new CallsheetError('refused', `${id} already belongs to ${holder}`, {
      hint: `One live resource has one address: \`callsheet state mv ${quoted(holder)} ${quoted(address)}\`, or \`callsheet state rm ${quoted(holder)}\` first.`,
    });
  }
  const other = state.resources[address]?.id;
  if (other === undefined) return;
  throw new CallsheetError('refused', `${address} is already bound to ${other}`, {
    hint: `\`callsheet state rm ${quoted(address)}\` forgets it. Nothing is deleted on the platform.`,
  });
}

/** The place of a resource that an address cannot stand for. */
type Elsewhere = { readonly kind: Kind; readonly scope: Scope };

/**
 * The live resource of an id, where the address says that it is. Throws `CallsheetError('usage')` where it is
 * not there, saying what it is and whose instead, as far as can be told.
 */
async function findLive(
  { address, kind: name, document }: DesiredResource,
  id: string,
  session: Pick<Session, 'reader' | 'stack' | 'state'>,
): Promise<ListedResource> {
  const kind = kindNamed(name);
  const scope = getScope(kind, document);
  const { reader } = session;
  const found = await findById(kind, id, scope, reader);
  if (found !== undefined) return found;
  throw notThere(address, id, kind, await findElsewhere(id, kind, scope, session), session);
}

/** Looks through every list that the stack has to do with. What cannot be listed says nothing. */
async function findElsewhere(
  id: string,
  { name }: Kind,
  scope: Scope,
  { reader, stack, state }: Pick<Session, 'reader' | 'stack' | 'state'>,
): Promise<Elsewhere | undefined> {
  const organizations = Object.values(stack.organizations);
  const ordered = kinds.toSorted((a, b) => Number(b.name === name) - Number(a.name === name));
  for (const kind of ordered) {
    const own = kind.scope.includes('organization_id')
      ? [scope, ...organizations.map((organization_id) => ({ organization_id }))]
      : kind.scope.length === 0
        ? [{}]
        : listScopes(kind, stack.resources, state);
    for (const within of own.filter((one) => kind.scope.every((field) => one[field]))) {
      const listed = await reader.list(kind, within).catch(() => undefined);
      if (listed?.some((one) => one.id === id)) return { kind, scope: within };
    }
  }
  return undefined;
}

function notThere(
  address: Address,
  id: string,
  kind: Kind,
  elsewhere: Elsewhere | undefined,
  { stack }: Pick<Session, 'stack'>,
): CallsheetError {
  const noun = formatNoun(kind);
  const say = (message: string, hint: string) => new CallsheetError('usage', message, { hint });
  if (elsewhere === undefined) {
    const hint = `\`callsheet get ${kind.section}\` lists the existing resources.`;
    return say(`the key has access to no ${noun} ${id} in the place of ${address}`, hint);
  }
  if (elsewhere.kind !== kind) {
    const other = formatNoun(elsewhere.kind);
    const hint = `Give the id of ${article(noun)}, or an address that begins with ${elsewhere.kind.name}.`;
    return say(`${id} is ${article(other)}, and ${address} is ${article(noun)}`, hint);
  }
  const [field = '', owner = ''] = Object.entries(elsewhere.scope)[0] ?? [];
  const name =
    Object.entries(stack.organizations).find(([, known]) => known === owner)?.[0] ?? owner;
  const place = nameInWords(field);
  const hint = `Correct ${place} of ${address} in the configuration, or give another id.`;
  return say(`${id} belongs to ${place} ${name}, and ${address} to another one`, hint);
}

function formatNoun({ name }: Kind): string {
  return nameInWords(name);
}

function article(noun: string): string {
  return `${/^[aeiou]|^sms/.test(noun) ? 'an' : 'a'} ${noun}`;
}
