import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { PlanDocument } from '../../../src/core/plan-document.ts';
import { renderReport } from '../../../src/features/page/render.ts';
import { openChromium } from '../../chromium.ts';
import { temporaryFolder } from '../../temporary.ts';

/** A page, and what it did that no page may do. */
export type OpenedPage = {
  readonly page: Page;
  /** Requests beyond the file itself, dialogs, errors and breaches of the policy. */
  readonly wrongs: readonly string[];
};

/** Opens HTML as somebody would who double-clicks the file. */
export async function openPage(
  html: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const folder = temporaryFolder();
  const file = join(folder, 'plan.html');
  await writeFile(file, html);
  const browser = await openChromium();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const wrongs: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url() !== url) wrongs.push(`request ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => wrongs.push(`error ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console ${message.text()}`);
  });
  await page.goto(url);
  await page.locator('h1').waitFor();
  return { page, wrongs };
}

export async function openReport(
  plan: PlanDocument,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  return openPage(await renderReport(plan), options);
}
