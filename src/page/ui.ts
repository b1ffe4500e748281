import { pageAssets } from './assets.ts';
import { framePage } from './frame.ts';
import type { UiStart } from './ui-start.ts';

/** The page that `callsheet ui` serves. It may ask its own server for documents and events, and nobody else. */
export async function renderUi(start: UiStart): Promise<string> {
  return framePage({
    title: `Callsheet: ${start.dir}`,
    assets: await pageAssets('ui'),
    data: JSON.stringify(start),
    policy: ["connect-src 'self'"],
  });
}
