import { renderCatalogueText, STT_PROVIDERS } from '../../render/read/catalogue.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { type ReadFormat, show } from '../read/show.ts';

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
