import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import packed from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { removeFolder, temporaryFolder } from './temporary.ts';

let running: Promise<Browser> | undefined;

/** One Chromium for a file of tests; `closeChromium` ends it. */
export function openChromium(): Promise<Browser> {
  running ??= launch();
  return running;
}

/** Pages are drawn without WebGL, whose rendering in software takes most of the browser's time. */
const UNUSED =
  /^--(single-process|in-process-gpu|use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu)/;
packed.setGraphicsMode = false;

async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await unpack(),
    args: packed.args.filter((arg) => !UNUSED.test(arg)),
    headless: true,
    // Its processes may still write while it ends: a folder of its own goes with whatever is in it.
    env: { ...process.env, TMPDIR: temporaryFolder() },
  });
}

/**
 * Unpacks Chromium beside its package, once. By itself the package unpacks into the folder for temporary files and
 * takes what is there already: somebody else's, or what another process has written half of.
 */
async function unpack(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const home = join(dirname(main), '..');
  const unpacked = join(home, 'unpacked');
  if (!existsSync(unpacked)) {
    const folder = await mkdtemp(join(home, 'unpacking-'));
    const script = `import packed from '@sparticuz/chromium'; await packed.executablePath();`;
    const args = ['--input-type=module', '--eval', script];
    const env = { ...process.env, TMPDIR: folder };
    await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
    // Another process may have been faster.
    await rename(folder, unpacked).catch(() => removeFolder(folder));
  }
  return join(unpacked, 'chromium');
}

export async function closeChromium(): Promise<void> {
  const browser = await running;
  running = undefined;
  await browser?.close();
}
