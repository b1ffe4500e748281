import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { isList, isObject, type JsonObject } from '../../core/value.ts';
import type { Call } from '../../kinds/kind.ts';
import { textOf } from '../../kinds/making.ts';
import {
  FEATURE_COLUMNS,
  MODELS,
  renderCatalogueText,
  renderFeaturesText,
  renderPaymentsText,
  STT_PROVIDERS,
} from '../../render/read/catalogue.ts';
import { formatFigure } from '../../render/read/table.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import { withPlatform } from '../../run/platform-session.ts';
import type { CommonFlags, Context } from '../context.ts';
import {
  findAgent,
  onPlatform,
  organizationId,
  type ReadFormat,
  type ScopeFlags,
  show,
} from '../read/find.ts';
import { type GetFlags, get } from './get.ts';

export type ModelsFlags = CommonFlags & {
  readonly organization?: string;
  readonly format: ReadFormat;
};

/** `callsheet models`: the language models that may be assigned. */
export async function models(flags: ModelsFlags, context: Context): Promise<ExitCode> {
  const { organization, format } = flags;
  const { terminal } = context;
  return withPlatform(flags, context, async ({ client, settings }) => {
    const id =
      organization === undefined
        ? undefined
        : organizationId(organization, settings?.organizations ?? {});
    const query = id === undefined ? {} : { organization_id: id };
    const data = await client.list({ operation: 'listLlmModels', query });
    show(
      format,
      {
        text: () => renderCatalogueText(MODELS, data, terminal.render),
        json: () => ({
          format: 'callsheet-models',
          version: 1,
          organization_id: id ?? null,
          data,
        }),
        csv: () => ({ columns: MODELS.fields, records: data }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

/** `callsheet voices`: the cloned voices of an organization; `callsheet get voices` under a shorter name. */
export function voices(flags: GetFlags, context: Context): Promise<ExitCode> {
  return get('custom_voices', undefined, flags, context);
}

export type SttFlags = CommonFlags & { readonly format: ReadFormat };

/** `callsheet stt`: the speech-to-text providers. */
export async function stt(flags: SttFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  return withPlatform(flags, context, async ({ client }) => {
    const data = await client.list({ operation: 'listSttProviders' });
    show(
      flags.format,
      {
        text: () => renderCatalogueText(STT_PROVIDERS, data, terminal.render),
        json: () => ({ format: 'callsheet-stt-providers', version: 1, data }),
        csv: () => ({ columns: STT_PROVIDERS.fields, records: data }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

export type FeaturesFlags = CommonFlags & {
  readonly organization?: string;
  readonly reseller?: string;
  readonly locked?: boolean;
  readonly format: ReadFormat;
};

/** `callsheet features`: what may be used, and by whom it is locked. */
export async function features(flags: FeaturesFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
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
    if (!isList(matrix.data)) {
      throw new CallsheetError('api', 'listFeatures answered without a `data` list');
    }
    const all = matrix.data.filter((feature) => isObject(feature));
    const shown = lockedOnly ? all.filter(({ state }) => state === 'locked') : all;
    show(
      flags.format,
      {
        text: () =>
          renderFeaturesText(
            {
              scope: scopeTitle(matrix, organization),
              isAdministered: matrix.feature_administration_enabled !== false,
              features: all,
              lockedOnly,
            },
            terminal.render,
          ),
        json: () => ({
          format: 'callsheet-features',
          version: 1,
          scope: matrix.scope ?? null,
          feature_administration_enabled: matrix.feature_administration_enabled ?? null,
          data: shown,
        }),
        csv: () => ({ columns: FEATURE_COLUMNS, records: shown }),
      },
      terminal,
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

export type PaymentsFlags = CommonFlags &
  ScopeFlags & { readonly refresh?: boolean; readonly format: 'text' | 'json' };

/** `callsheet payments AGENT`: whether an agent may take payments, and what is missing. */
export async function payments(
  wanted: string,
  flags: PaymentsFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
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
    show(
      flags.format,
      {
        text: () => renderPaymentsText(agent.label, readiness, terminal.render),
        json: () => ({ format: 'callsheet-payments', version: 1, data: readiness }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

export type SessionFlags = CommonFlags & {
  readonly profile: string;
  readonly user?: string;
  readonly pbx?: boolean;
  readonly claim?: string;
  readonly format: 'text' | 'json';
};

/** `callsheet session`: a session token for an application that embeds an agent. The token is all of stdout. */
export async function session(flags: SessionFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const call = callOf(flags);
  return withPlatform(flags, context, async ({ client }) => {
    const answer = await client.call(call);
    const minted = isObject(answer) ? answer : {};
    const token = textOf(minted, 'token');
    const expires = minted.expires_at ?? null;
    terminal.err(
      `Standard output is a session token: whoever has it can use the session until ${formatFigure(expires, 'time')}. Keep it out of logs.`,
    );
    show(
      flags.format,
      {
        text: () => sanitiseLine(token),
        json: () => ({
          format: 'callsheet-session',
          version: 1,
          data: { token, expires_at: expires },
        }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

function callOf({ profile, user, pbx, claim }: SessionFlags): Call {
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
