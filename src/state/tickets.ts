import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './disk-failures.ts';
import { parseTicket, type Ticket } from './ticket.ts';

/** The lock's folder of numbered tickets; `lock.ts` says what they mean. */

/** The numbers that are there, in no order. */
async function ticketNumbers(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
}

/** 0 when there is no ticket, and no folder of them. */
export async function lastTicket(folder: string): Promise<number> {
  try {
    return Math.max(0, ...(await ticketNumbers(folder)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** Makes the ticket of a number. Undefined when somebody else was faster. */
export async function makeTicket(
  folder: string,
  number: number,
  text: () => string,
): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(join(folder, String(number)), 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    await file.writeFile(text());
  } catch (error) {
    await file.close();
    await removeTicket(folder, number);
    throw error;
  }
  return file;
}

/**
 * Removes every ticket before that of a number, which was just made. False, with that one removed
 * instead, when it came so late that later ones exist.
 */
export async function takePlace(folder: string, number: number): Promise<boolean> {
  const others = (await ticketNumbers(folder)).filter((other) => other !== number);
  const isLate = others.some((other) => other > number);
  const past = isLate ? [number] : [...others].sort((a, b) => a - b);
  for (const other of past) await removeTicket(folder, other);
  return !isLate;
}

function removeTicket(folder: string, number: number): Promise<void> {
  return rm(join(folder, String(number)), { force: true });
}

/** `unwritten`: its maker died before it could write, or is about to. */
export async function readTicket(
  folder: string,
  number: number,
): Promise<Ticket | 'gone' | 'unwritten'> {
  try {
    return parseTicket(await readFile(join(folder, String(number)), 'utf8')) ?? 'unwritten';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
}
