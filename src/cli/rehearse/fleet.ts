import { operations } from '../../api/operations.generated.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { recordIn } from '../../kinds/answer.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Beside } from '../../rehearse/seed.ts';
import type { Dialect, SeedOrganization } from '../../simulator/index.ts';
import type { ContentRecord } from '../../snapshot/format.ts';
import { readAccount } from '../../snapshot/read-account.ts';
import type { Session } from '../session.ts';

/** Resources that are read at once, for each connection. */
const AHEAD = 4;

/** Everything readable of the fleet, from the platform. Nothing is kept on the disk. */
export async function readFleet(session: Session, now: Date): Promise<readonly ContentRecord[]> {
  const { client, reader, state, stack, concurrency } = session;
  const owners = new Map(
    Object.entries(state.resources).map(([address, one]) => [
      `${one.kind} ${one.id}`,
      { address, state: one },
    ]),
  );
  const records: ContentRecord[] = [];
  const account = readAccount({
    client,
    reader,
    me: await client.call({ operation: 'getMe' }),
    organization: undefined,
    known: {
      organizations: Object.values(stack.organizations),
      knowledgeBases: knowledgeBasesOf(session).map(({ id }) => id),
      ids: (kind) =>
        Object.values(state.resources).flatMap((one) => (one.kind === kind ? [one.id] : [])),
    },
    ahead: AHEAD * concurrency,
    now,
    sensitive: true,
    owner: (kind, id) => owners.get(`${kind} ${id}`),
  });
  for await (const record of account) records.push(record);
  return records;
}

/** What the stack knows of the fleet beside what was read. */
export function knownBeside(
  known: Pick<Session, 'stack' | 'state' | 'platform'>,
  { merchants, level }: Pick<Beside, 'merchants' | 'level'>,
): Beside {
  const { stack, platform } = known;
  return {
    account: platform.account_id,
    organizations: Object.fromEntries(
      Object.entries(stack.organizations).map(([name, id]) => [id, name]),
    ),
    knowledgeBases: knowledgeBasesOf(known),
    merchants,
    level,
  };
}

/** Knowledge bases of the stack and its state: the platform lists none. */
function knowledgeBasesOf({
  stack,
  state,
}: Pick<Session, 'stack' | 'state'>): Beside['knowledgeBases'] {
  const recorded = Object.values(state.resources).map(({ scope }) => scope.knowledge_base_id);
  const bases = new Map<string, string | null>();
  for (const id of recorded) if (id) bases.set(id, null);
  for (const { document } of stack.resources) {
    const { knowledge_base_id: id, organization_id: owner } = document;
    if (typeof id === 'string' && id !== '')
      bases.set(id, typeof owner === 'string' ? owner : null);
  }
  return [...bases].map(([id, organization]) => ({ id, organization }));
}

/** What the key is limited to, as far as the platform tells. */
export async function levelOf({ reader }: Session): Promise<Beside['level']> {
  // Scoped keys are told by an operation that is closed to them.
  const told = await reader.terms().closedTo('getBillingReport');
  return told.type === 'told' ? told.value : undefined;
}

type Merchant = NonNullable<SeedOrganization['merchant']>;

/** Payment accounts of the organizations in which the plan asks for payments. */
export async function merchantsOf(
  { changes }: PlanDocument,
  { reader }: Session,
): Promise<Beside['merchants']> {
  const merchants = new Map<string, Merchant>();
  for (const { kind, id, organization_id: owner, fields } of changes) {
    const asked = kindNamed(kind).facets.find(
      ({ field, readiness }) =>
        readiness !== undefined && fields.some(({ path }) => path.startsWith(`${field}.`)),
    );
    if (id === null || owner === null || asked?.readiness === undefined) continue;
    const told = await reader.terms().about(asked.readiness.ask(id));
    if (told.type === 'untold') continue;
    const { account_status: status, charges_enabled: charges } = recordIn(told.value);
    if (isStatus(status)) merchants.set(owner, { status, charges: charges === true });
  }
  return merchants;
}

const STATUSES = ['not_started', 'onboarding', 'active', 'restricted'] as const;

function isStatus(value: unknown): value is Merchant['status'] {
  return STATUSES.some((status) => status === value);
}

/** The operations that the platform turned out not to have: its copy has none of them either. */
export function lackedBy({ reader }: Session): Pick<Dialect, 'absent'> {
  const names = Object.keys(operations) as Dialect['absent'];
  return { absent: names.filter((name) => reader.lackOf(name) === 'absent') };
}
