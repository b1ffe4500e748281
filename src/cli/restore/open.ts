import { readEndpoints } from '../../api/endpoints.ts';
import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { recordIn, textOf } from '../../kinds/answer.ts';
import { addressesOf } from '../../restore/addresses.ts';
import { type Held, refuseClashes } from '../../restore/held.ts';
import { inOrder, MOST_TOGETHER, type Part, partsOf } from '../../restore/parts.ts';
import type { CommonFlags, Context } from '../context.ts';
import { DEFAULT_CONCURRENCY, openClient } from '../open-client.ts';
import { openSessionOn, openStore, type Session } from '../session.ts';
import { spareMemory } from '../spare-memory.ts';
import type { LoadedStack } from '../stack.ts';
import { type Choice, chooseFrom, type PlaceFlags } from './choice.ts';
import type { Holding } from './holding.ts';
import { blankStack, findStack, organizationNames, placeState } from './place.ts';
import { gatherSupplies, isInSnapshot, type Supplies, type SupplyFlags } from './supplies.ts';
import { checkOrganizations, organizationsOf } from './target.ts';

/** Everything that is known before the first round. */
export type Opened = {
  readonly holding: Holding;
  readonly choice: Choice;
  readonly addresses: ReadonlyMap<Held, Address>;
  /** What is planned and carried out at once; as a rule all of it. */
  readonly parts: readonly Part[];
  readonly supplies: Supplies;
  /** The file that it remembers in what it made. */
  readonly state: string;
  readonly isSameAccount: boolean;
  readonly organizations: Readonly<Record<string, string>>;
  /** A session of its own for each round: what was read for one is old by the next. */
  readonly session: () => Promise<Session>;
};

export type OpenFlags = CommonFlags &
  PlaceFlags &
  SupplyFlags & {
    readonly state?: string;
    readonly concurrency?: number;
    /** Resources that are planned at once at most; no flag of the command line. */
    readonly together?: number;
  };

/** Looks at what is to be restored, and at where to. Nothing is written. */
export async function openRestoration(
  holding: Holding,
  flags: OpenFlags,
  context: Context,
): Promise<Opened> {
  const stack = await findStack(flags, context);
  const source = stack ?? blankStack(flags.dir);
  const endpoints = stack && readEndpoints(stack.platform);
  const client = await openClient(
    source,
    context,
    flags.concurrency ?? DEFAULT_CONCURRENCY,
    endpoints,
  );
  const interrupt = () => void client.close();
  context.stop.addEventListener('abort', interrupt);
  try {
    const account = textOf(recordIn(await client.call({ operation: 'getMe' })), 'account_id');
    const choice = await chooseFrom(holding, flags, {
      stack: stack?.organizations ?? {},
      target: () => organizationsOf(client, context.now()),
    });
    if (choice.chosen.length === 0) throw nothing(holding);
    refuseClashes(choice.chosen, choice.places);
    await checkOrganizations(choice, client, (id) => holding.organizations.get(id) ?? null);
    const all = addressesOf(holding.all);
    if (choice.chosen.length > MOST_TOGETHER) spareMemory();
    const ordered = inOrder(choice.chosen, choice.places);
    const addresses = new Map(ordered.map((held) => [held, all.get(held) ?? held.id]));
    const supplies = await gatherSupplies(
      addresses,
      [...all.values()],
      flags,
      stack,
      holding.media,
      context,
    );
    const state = placeState(flags.state, holding, account, choice.places, stack);
    const loaded: LoadedStack = {
      stack: { ...source, state: { file: state }, digest: holding.sha256 },
      warnings: [],
      secretOf: supplies.secretOf,
      secretValues: supplies.secretValues,
      // What there is no secret for was asked about before.
      needSecrets: async () => {},
    };
    const { platform } = holding.header;
    return {
      holding,
      choice,
      addresses,
      parts: partsOf(addresses, choice.places, flags.together),
      supplies,
      state,
      isSameAccount: platform.account_id === account && platform.base_url === client.baseUrl,
      organizations: organizationNames(holding, choice.places, stack),
      session: () =>
        openSessionOn(loaded, openStore(loaded.stack, context), flags, context, async (file) =>
          isInSnapshot(file)
            ? new globalThis.Blob([new Uint8Array(await holding.bytesOf(file.sha256))], {
                type: file.mime,
              })
            : undefined,
        ),
    };
  } finally {
    context.stop.removeEventListener('abort', interrupt);
    await client.close();
  }
}

function nothing({ file }: Holding): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} holds nothing of what was asked for`, {
    hint: 'callsheet snapshot show lists what is in it.',
  });
}
