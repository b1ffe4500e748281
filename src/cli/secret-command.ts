import { spawn } from 'node:child_process';
import type { Context } from '../console/context.ts';
import { redactText } from '../core/credentials.ts';
import { clip } from '../core/errors.ts';
import { sanitiseLine } from '../render/untrusted.ts';
import { MAX_SECRET_BYTES, type RunCommand } from '../stack/index.ts';

/** A vault that waits for a person's thumb takes seconds; one that takes longer has hung. */
const LONGEST_MS = 30_000;
/** The most characters of a command's complaint that are quoted: enough to know why. */
const LONGEST_COMPLAINT = 160;

type Outcome = Awaited<ReturnType<RunCommand>>;

/**
 * Runs what `exec:` secrets name in the shell, in the folder of the stack and with the environment of Callsheet. It
 * cannot ask anything; an interrupt, or half a minute, ends it with all that it started.
 */
export function runSecretCommand({
  env,
  stop,
}: Pick<Context, 'env' | 'stop'>): NonNullable<Context['runSecret']> {
  return (dir) => (command) =>
    new Promise((resolve) => {
      const isGroup = process.platform !== 'win32';
      const child = spawn(command, {
        cwd: dir,
        env: { ...env },
        shell: true,
        detached: isGroup,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let ended: string | undefined;
      const end = (why: string) => {
        ended ??= why;
        if (child.pid === undefined) return;
        try {
          if (isGroup) process.kill(-child.pid, 'SIGKILL');
          else child.kill('SIGKILL');
        } catch {
          // It is gone already.
        }
      };
      const timer = setTimeout(() => end(`took longer than ${LONGEST_MS / 1000} s`), LONGEST_MS);
      const interrupt = () => end('was interrupted');
      stop.addEventListener('abort', interrupt);
      if (stop.aborted) interrupt();
      const printed: Buffer[] = [];
      let size = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_SECRET_BYTES) end('printed more than the maximum size of a secret');
        else printed.push(chunk);
      });
      let complaint = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (complaint.length < LONGEST_COMPLAINT) complaint += text;
      });
      const settle = (outcome: Outcome) => {
        clearTimeout(timer);
        stop.removeEventListener('abort', interrupt);
        resolve(outcome);
      };
      child.on('error', ({ message }) => settle({ why: `could not be started: ${message}` }));
      child.on('close', (exit, signal) => {
        if (ended !== undefined) settle({ why: ended });
        else if (exit !== 0) settle({ why: failure(exit ?? signal, complaint) });
        else settle(decodeText(Buffer.concat(printed)));
      });
    });
}

function failure(exit: number | NodeJS.Signals | null, complaint: string): string {
  // Some commands complain with all that they were called with.
  const said = redactText(sanitiseLine(complaint.trim().split('\n')[0] ?? ''));
  const first = clip(said, LONGEST_COMPLAINT);
  return `ended with ${exit}${first === '' ? '' : `: ${first}`}`;
}

function decodeText(bytes: Buffer): Outcome {
  try {
    return { printed: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { why: 'printed something that is not UTF-8' };
  }
}
