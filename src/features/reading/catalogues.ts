import type { Context } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import {
  type ReadFlags,
  type ReadFormat,
  type ShowFlags,
  show,
  stampDocument,
} from '../../console/show.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Call } from '../../kinds/kind.ts';
import { getText, listIn } from '../../kinds/making.ts';
import { readOrganizations } from '../../live/entitlements.ts';
import { UNASKED } from '../../platform/client.ts';
import { formatFigure } from '../../render/read/table.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import { type PlatformSession, withPlatform } from '../../run/platform-session.ts';
import {
  findAgent,
  onPlatform,
  organizationId,
  organizationNames,
  type ScopeFlags,
} from './find.ts';
import {
  type Catalogue,
  FEATURE_COLUMNS,
  MODELS,
  ORGANIZATIONS,
  renderCatalogueText,
  renderFeaturesText,
  renderPaymentsText,
  STT_PROVIDERS,
} from './render/catalogue.ts';

/** `callsheet get organizations`: the organizations that the key reaches, with their ids. */
export async function organizations(flags: ReadFlags, context: Context): Promise<ExitCode> {
  return withPlatform(flags, context, async (session) => {
    const named = organizationNames(session);
    const found = await readOrganizations(session.client, context.now());
    if (found.type === 'unanswered') {
      say(
        context.terminal,
        `The key may not list organizations (${found.why}). The list shows the organizations of its agents.`,
      );
    }
    const known = found.type === 'answered' ? found.value : await organizationsOfAgents(session);
    const data = known.map(({ id, ...rest }) => ({
      id,
      ...rest,
      stack_name: named.get(id) ?? null,
    }));
    showCatalogue(
      ORGANIZATIONS,
      stampDocument('callsheet-organizations', { data }),
      flags,
      context,
    );
    return EXIT.done;
  });
}

/** A key that is limited to a part of the account learns its organizations from its agents alone. */
async function organizationsOfAgents({ client }: PlatformSession) {
  const ids = new Set<string>();
  for await (const { organization_id: id } of client.each(kindNamed('agent').list({}))) {
    if (typeof id === 'string') ids.add(id);
  }
  const unnamed = { name: null, reseller_id: null, reseller_name: null };
  return [...ids].sort().map((id) => ({ id, ...unnamed }));
}

type ModelsFlags = ReadFlags & Pick<ScopeFlags, 'organization'>;

/** `callsheet get models`: the language models that may be assigned. */
export async function models(flags: ModelsFlags, context: Context): Promise<ExitCode> {
  const { organization } = flags;
  return withPlatform(flags, context, async ({ client, settings }) => {
    const id =
      organization === undefined
        ? undefined
        : organizationId(organization, settings?.organizations ?? {});
    const query = id === undefined ? {} : { organization_id: id };
    const data = await client.list({ operation: 'listLlmModels', query });
    const document = stampDocument('callsheet-models', { organization_id: id ?? null, data });
    showCatalogue(MODELS, document, flags, context);
    return EXIT.done;
  });
}

/** `callsheet get stt_providers`: the speech-to-text providers. */
export async function sttProviders(flags: ReadFlags, context: Context): Promise<ExitCode> {
  return withPlatform(flags, context, async ({ client }) => {
    const data = await client.list({ operation: 'listSttProviders' });
    showCatalogue(
      STT_PROVIDERS,
      stampDocument('callsheet-stt-providers', { data }),
      flags,
      context,
    );
    return EXIT.done;
  });
}

function showCatalogue(
  catalogue: Catalogue,
  document: { readonly data: readonly JsonObject[] },
  flags: { readonly format: ReadFormat },
  context: Context,
): void {
  const { data } = document;
  const table = { columns: catalogue.fields, records: data };
  show(flags, document, (to) => renderCatalogueText(catalogue, data, to), context, table);
}

export type FeaturesFlags = ModelsFlags & {
  readonly reseller?: string;
  readonly locked?: boolean;
};

/** `callsheet get features`: what may be used, and by whom it is locked. */
export async function features(flags: FeaturesFlags, context: Context): Promise<ExitCode> {
  const { organization, reseller, locked: lockedOnly = false } = flags;
  if (organization !== undefined && reseller !== undefined) {
    throw new CallsheetError('usage', '--organization and --reseller exclude each other', {
      hint: 'The features of an organization already show what its reseller locks.',
    });
  }
  return withPlatform(flags, context, async ({ client, settings }) => {
    const query: Record<string, string> = {};
    if (reseller !== undefined) query.reseller_id = reseller;
    if (organization !== undefined) {
      query.organization_id = organizationId(organization, settings?.organizations ?? {});
    }
    const answer = await client.call({ operation: 'listFeatures', query });
    const matrix: JsonObject = isObject(answer) ? answer : {};
    const all = listIn(answer);
    const shown = lockedOnly ? all.filter(({ state }) => state === 'locked') : all;
    const { scope = null, feature_administration_enabled: isAdministered = null } = matrix;
    const view = {
      scope: scopeTitle(matrix, organization),
      isAdministered: isAdministered !== false,
      features: all,
      lockedOnly,
    };
    show(
      flags,
      stampDocument('callsheet-features', {
        scope,
        feature_administration_enabled: isAdministered,
        data: shown,
      }),
      (to) => renderFeaturesText(view, to),
      context,
      { columns: FEATURE_COLUMNS, records: shown },
    );
    return EXIT.done;
  });
}

/** `organization harbor (3c6e…)`: the level that was resolved. */
function scopeTitle({ scope }: JsonObject, name: string | undefined): string {
  if (!isObject(scope)) return 'the account';
  const id = String(scope.id);
  return name === undefined || name === id
    ? `${scope.level} ${id}`
    : `${scope.level} ${name} (${id})`;
}

type PaymentsFlags = ShowFlags & ScopeFlags & { readonly refresh?: boolean };

/** `callsheet get payments AGENT`: whether an agent may take payments, and what is missing. */
export async function payments(
  wanted: string,
  flags: PaymentsFlags,
  context: Context,
): Promise<ExitCode> {
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const answer = await onPlatform('agent', agent, () =>
      session.client.call({
        operation: 'getPaymentReadiness',
        path: { agentId: agent.id },
        query: flags.refresh === true ? { refresh: 'true' } : {},
      }),
    );
    const readiness = isObject(answer) ? answer : {};
    const document = stampDocument('callsheet-payments', { data: readiness });
    show(flags, document, (to) => renderPaymentsText(agent.label, readiness, to), context);
    return EXIT.done;
  });
}

export type SessionFlags = ShowFlags & {
  readonly profile: string;
  readonly user?: string;
  readonly pbx?: boolean;
  readonly claim?: string;
};

/** `callsheet session`: a session token for an application that embeds an agent. The token is all of stdout. */
export async function session(flags: SessionFlags, context: Context): Promise<ExitCode> {
  const call = buildCall(flags);
  return withPlatform(flags, context, async ({ client }) => {
    const answer = await client.writing(UNASKED).call(call);
    const minted = isObject(answer) ? answer : {};
    const token = getText(minted, 'token');
    const expires = minted.expires_at ?? null;
    context.terminal.err(
      `Standard output is a session token: anyone who has it can use the session until ${formatFigure(expires, 'time')}. Keep it out of logs.`,
    );
    const document = stampDocument('callsheet-session', { data: { token, expires_at: expires } });
    show(flags, document, () => sanitiseLine(token), context);
    return EXIT.done;
  });
}

function buildCall({ profile, user, pbx, claim }: SessionFlags): Call {
  const body = { profile_id: profile, ...(user === undefined ? {} : { user_id: user }) };
  if (pbx !== true) {
    if (claim === undefined) return { operation: 'createSession', body };
    throw new CallsheetError('usage', '--claim is only for --pbx', {
      hint: 'Add --pbx, or leave --claim out.',
    });
  }
  if (claim !== undefined)
    return { operation: 'createPbxSession', body: { ...body, claim_id: claim } };
  throw new CallsheetError('usage', '--pbx needs --claim', {
    hint: 'Give the id of the user base claim at the PBX provider.',
  });
}
