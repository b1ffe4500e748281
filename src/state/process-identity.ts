import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, so that another one can tell later whether it still runs. */
export type ProcessIdentity = {
  /** Where its number means something: host, boot and process namespace. */
  readonly machine: string;
  readonly pid: number;
  /** When it started, in the system's own count; null where the system does not say. A number is used again, a start is not. */
  readonly started: string | null;
};

/** Identifies the running machine. Two containers of one host name differ by their process namespace. */
export function thisMachine(): string {
  const parts = [
    hostname(),
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

export function identify(pid: number, machine: string): ProcessIdentity {
  return { machine, pid, started: readStat(pid)?.started ?? null };
}

/** Whether a process is certainly gone. False where that cannot be known, as on another machine. */
export function isGone(process_: ProcessIdentity, machine: string): boolean {
  if (process_.machine !== machine || process_.pid <= 0) return false;
  try {
    process.kill(process_.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
  const now = readStat(process_.pid);
  if (now === undefined || process_.started === null) return false;
  return now.started !== process_.started || ENDED.has(now.state);
}

/** Zombie and dead: ended, though the parent has not looked yet. */
const ENDED = new Set(['Z', 'X']);

/** From proc(5): the state is the 3rd field, the start time the 22nd. The 2nd may hold blanks and brackets. */
function readStat(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
