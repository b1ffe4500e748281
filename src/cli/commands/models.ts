import { MODELS, renderCatalogueText } from '../../render/read/catalogue.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { organizationId } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';

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
