import executable from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

let running: Promise<Browser> | undefined;

/** One Chromium for a file of tests; `closeChromium` ends it. */
export function openChromium(): Promise<Browser> {
  running ??= launch();
  return running;
}

async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await executable.executablePath(),
    args: executable.args.filter((arg) => !arg.startsWith('--single-process')),
    headless: true,
  });
}

export async function closeChromium(): Promise<void> {
  const browser = await running;
  running = undefined;
  await browser?.close();
}
