import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import '../e2e/build.ts';

/** Says how much memory the process took at most, when it ends. */
const REPORTING = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs';
   process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));`,
)}`;

/** Runs commands in a folder, and keeps how much memory each of them took at most. */
export function openPeaks(folder: string, env: Readonly<Record<string, string>>) {
  const file = join(folder, 'peak');
  const peaks = new Map<string, number>();

  /** Begins a command. One that is killed has no peak. */
  function begin(...args: readonly string[]) {
    return spawn(process.execPath, ['--import', REPORTING, inject('bin'), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, PEAK_FILE: file, ...env },
    });
  }

  /** What a command that ends with this exit code prints. */
  async function run(exit: number, ...args: readonly string[]): Promise<string> {
    const child = begin(...args);
    const out: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    const ended = await new Promise((resolve) => child.on('close', resolve));
    const command = args.join(' ');
    expect(ended, command).toBe(exit);
    peaks.set(command, Math.round(Number(readFileSync(file, 'utf8')) / 1024));
    return out.join('');
  }

  /** No command took as many megabytes. `what` is said of them all in the log. */
  function expectBelow(megabytes: number, what: string): void {
    const told = JSON.stringify(Object.fromEntries(peaks));
    process.stdout.write(`peak memory ${what}: ${told}\n`);
    expect(Math.max(...peaks.values()), told).toBeLessThan(megabytes);
  }

  return { begin, run, expectBelow };
}
