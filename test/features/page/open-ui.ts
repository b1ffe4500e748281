import type { BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { renderUi } from '../../../src/features/page/render.ts';
import { openChromium } from '../../chromium.ts';

/** Opens what `callsheet ui` serves, with documents given here. */
export async function openUi(
  documents: { readonly [path: string]: unknown },
  options: BrowserContextOptions = {},
): Promise<Page> {
  const html = await renderUi({ dir: 'clinics', hasPlan: 'plan.json' in documents, version: '0' });
  const context = await (await openChromium()).newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.route('http://ui.test/**', (route) => {
    const path = decodeURIComponent(new URL(route.request().url()).pathname.slice(1));
    if (path === '') return route.fulfill({ contentType: 'text/html', body: html });
    if (path in documents) return route.fulfill({ json: documents[path] });
    return route.fulfill({ contentType: 'text/event-stream', body: '' });
  });
  await page.goto('http://ui.test/');
  return page;
}
