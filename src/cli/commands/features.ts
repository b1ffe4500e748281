import { CallsheetError } from '../../core/errors.ts';
import { isList, isObject, type JsonObject } from '../../core/value.ts';
import { FEATURE_COLUMNS, renderFeaturesText } from '../../render/read/features.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { organizationId } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';

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
