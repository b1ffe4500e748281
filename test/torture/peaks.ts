import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import '../e2e/build.ts';

/**
 * Says how many kilobytes the process took at most, when it ends. Linux counts in `maxRSS` what the process had that
 * started it.
 */
const REPORTING = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync, writeFileSync } from 'node:fs';
   const peak = () => {
     try {
       return /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
     } catch {
       return String(process.resourceUsage().maxRSS);
     }
   };
   process.on('exit', () => writeFileSync(process.env.PEAK_FILE, peak()));`,
)}`;

/** Runs commands in a folder, and keeps how much memory each of them took at most. */
export function openPeaks(folder: string, env: Readonly<Record<string, string>>) {
  const file = join(folder, 'peak');
  const peaks = new Map<string, number>();

  /** Begins a command. One that is killed has no peak. */
  function begin(...args: readonly string[]) {
    return spawn(process.execPath, ['--import', REPORTING, inject('bin'), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, PEAK_FILE: file, ...env },
    });
  }

  /** What a command prints that ends with this exit code. */
  async function run(exit: number, ...args: readonly string[]): Promise<string> {
    return (await tell(exit, ...args)).out;
  }

  /** The same, and what it says beside that. */
  async function tell(exit: number, ...args: readonly string[]) {
    const child = begin(...args);
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.err += text;
    });
    const ended = await new Promise((resolve) => child.on('close', resolve));
    const command = args.join(' ');
    expect(ended, `${command}: ${said.err}`).toBe(exit);
    peaks.set(command, Math.round(Number(readFileSync(file, 'utf8')) / 1024));
    return said;
  }

  /** No command took as many megabytes. `what` is said of them all in the log. */
  function expectBelow(megabytes: number, what: string): void {
    const told = JSON.stringify(Object.fromEntries(peaks));
    process.stdout.write(`peak memory ${what}: ${told}\n`);
    expect(Math.max(...peaks.values()), told).toBeLessThan(megabytes);
  }

  return { begin, run, tell, expectBelow };
}
