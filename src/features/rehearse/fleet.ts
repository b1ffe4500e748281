import type { Context, PlanFlags } from '../../console/context.ts';
import type { PlanDocument, PlanOptions, RehearsalSource } from '../../core/plan-document.ts';
import { invert } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { recordIn } from '../../kinds/making.ts';
import { operations } from '../../platform/operations.generated.ts';
import type { Transport } from '../../platform/transport.ts';
import { announce, checkNamed, planConfiguration, planOptions } from '../../run/plan.ts';
import { openSession, type Session } from '../../run/session.ts';
import { type Dialect, MERCHANT_STATUSES, type Merchant } from '../../simulator/index.ts';
import type { ContentRecord } from '../../snapshot/format.ts';
import { readAccount, recordedIn } from '../../snapshot/read-account.ts';
import { type Beside, type Replica, replicate } from './seed.ts';

/** Resources that are read at once, for each connection. */
const AHEAD = 4;

/** Everything readable of the fleet, from the platform. Nothing is kept on the disk. */
async function readFleet(session: Session, now: Date): Promise<readonly ContentRecord[]> {
  const { client, reader, state, stack, concurrency } = session;
  const { ids, owner } = recordedIn(state);
  const records: ContentRecord[] = [];
  const account = readAccount({
    client,
    reader,
    me: await client.call({ operation: 'getMe' }),
    organization: undefined,
    known: {
      organizations: Object.values(stack.organizations),
      knowledgeBases: listKnowledgeBases(session).map(({ id }) => id),
      ids,
    },
    ahead: AHEAD * concurrency,
    now,
    sensitive: true,
    owner,
  });
  for await (const record of account) records.push(record);
  return records;
}

/** Returns the stack's knowledge of the fleet beside what was read. */
export function knownBeside(
  known: Pick<Session, 'stack' | 'state' | 'platform'>,
  { merchants, level }: Pick<Beside, 'merchants' | 'level'>,
): Beside {
  const { stack, platform } = known;
  return {
    account: platform.account_id,
    organizations: invert(stack.organizations),
    knowledgeBases: listKnowledgeBases(known),
    merchants,
    level,
  };
}

/** Knowledge bases of the stack and its state: the platform lists none. */
function listKnowledgeBases({
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

/** Returns the limits of the key, as far as the platform reports them. */
async function readLevel({ reader }: Session): Promise<Beside['level']> {
  // An operation that is closed to scoped keys shows that the key is scoped.
  const answer = await reader.entitlements().closedTo('getBillingReport');
  return answer.type === 'answered' ? answer.value : undefined;
}

/** Payment accounts of the organizations in which the plan asks for payments. */
async function readMerchants(
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
    const answer = await reader.entitlements().about(asked.readiness.ask(id));
    if (answer.type === 'unanswered') continue;
    const { account_status: status, charges_enabled: charges } = recordIn(answer.value);
    const known = MERCHANT_STATUSES.find((one) => one === status);
    if (known !== undefined) merchants.set(owner, { status: known, charges: charges === true });
  }
  return merchants;
}

/** The operations that the platform turned out not to have: its copy has none of them either. */
function lackedBy({ reader }: Session): Pick<Dialect, 'absent'> {
  const names = Object.keys(operations) as Dialect['absent'];
  return { absent: names.filter((name) => reader.findLack(name) === 'absent') };
}

/** The fleet of a rehearsal, and the stack that the plan is of. */
export type Fleet = Pick<Session, 'stack' | 'state' | 'secretValues' | 'platform' | 'world'> & {
  readonly source: RehearsalSource;
  /** Plans as of now; undefined where the fleet cannot be planned on. */
  readonly planNow: ((options: PlanOptions) => Promise<PlanDocument>) | undefined;
  /** The fleet, for a copy on which that plan is tried. */
  readonly replica: (plan: PlanDocument | undefined) => Promise<Replica>;
  /** Operations that the platform is known not to have. Asked once the fleet is read. */
  readonly lacks: () => Pick<Dialect, 'absent'>;
  readonly close: () => Promise<void>;
};

/** The platform itself, through a wire that lets nothing but questions pass. */
export async function platformFleet(flags: PlanFlags, context: Context): Promise<Fleet> {
  const { wire } = context;
  const outside: Context = {
    ...context,
    wire: (transport) => readingOnly(wire === undefined ? transport : wire(transport)),
  };
  const session = await openSession(flags, outside, { check: checkNamed(planOptions(flags)) });
  announce(session, context);
  return {
    ...session,
    source: { type: 'platform' },
    planNow: async (options) => (await planConfiguration(session, options, outside)).plan,
    async replica(plan) {
      const records = await readFleet(session, context.now());
      const merchants = plan === undefined ? new Map() : await readMerchants(plan, session);
      const beside = knownBeside(session, { merchants, level: await readLevel(session) });
      return replicate(records, beside);
    },
    lacks: () => lackedBy(session),
  };
}

/**
 * A wire that lets nothing through but questions and the minting of a token: whatever a rehearsal does, no write
 * of it can reach the platform.
 */
export function readingOnly(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const { method, about } = request;
      if (method === 'GET' || about?.operation === 'createToken') return transport.send(request);
      throw new Error(`a rehearsal may not send ${method} to the platform`);
    },
  };
}
