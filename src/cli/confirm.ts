import type { Terminal } from './terminal.ts';

/** Asks for a plain `yes`. */
export async function confirm(question: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.canAsk) return false;
  const answer = await terminal.ask(`${question} Only "yes" is taken for one: `);
  return answer.trim() === 'yes';
}
