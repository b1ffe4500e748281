import type { Address } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { findById } from '../../plan/identify.ts';
import { scopeOf, scopesOf } from '../../plan/natural-key.ts';
import type { ListedResource } from '../../plan/reader.ts';
import type { Session } from '../session.ts';

/** Where a resource was found that an address cannot stand for. */
type Elsewhere = { readonly kind: Kind; readonly scope: Scope };

/**
 * The live resource of an id, where the address says that it is. Throws `CallsheetError('usage')` where it is
 * not there, saying what it is and whose instead, as far as can be told.
 */
export async function findLive(
  { address, kind: name, document }: DesiredResource,
  id: string,
  session: Pick<Session, 'reader' | 'stack' | 'state'>,
): Promise<ListedResource> {
  const kind = kindNamed(name);
  const scope = scopeOf(kind, document);
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
        : scopesOf(kind, stack.resources, state);
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
  const noun = nounOf(kind);
  const say = (message: string, hint: string) => new CallsheetError('usage', message, { hint });
  if (elsewhere === undefined) {
    const hint = `callsheet get ${kind.section} lists what there is.`;
    return say(
      `there is no ${noun} ${id} where ${address} belongs, as far as the key reaches`,
      hint,
    );
  }
  if (elsewhere.kind !== kind) {
    const other = nounOf(elsewhere.kind);
    const hint = `Give the id of ${article(noun)}, or an address that begins with ${elsewhere.kind.name}.`;
    return say(`${id} is ${article(other)}, and ${address} stands for ${article(noun)}`, hint);
  }
  const [field = '', owner = ''] = Object.entries(elsewhere.scope)[0] ?? [];
  const name =
    Object.entries(stack.organizations).find(([, known]) => known === owner)?.[0] ?? owner;
  const place = field.replace(/_id$/, '').replaceAll('_', ' ');
  const hint = `Correct ${place} of ${address} in the configuration, or give another id.`;
  return say(`${id} belongs to ${place} ${name}, and ${address} to another one`, hint);
}

function nounOf({ name }: Kind): string {
  return name.replaceAll('_', ' ');
}

function article(noun: string): string {
  return `${/^[aeiou]|^sms/.test(noun) ? 'an' : 'a'} ${noun}`;
}
