import { renderFailureJson } from '../../render/failure.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { failureOf } from '../report.ts';

/** What a command printed, and whether it came to its end. */
export type Printed = { readonly isFailure: boolean; readonly json: string };

/**
 * Has a command print its JSON document into a text: so the page is fed by what `--format json` prints, and cannot
 * say anything else. A failure is the document that a program would get.
 */
export async function printed(
  command: (context: Context) => Promise<ExitCode>,
  context: Context,
): Promise<Printed> {
  const texts: string[] = [];
  const terminal = {
    ...context.terminal,
    out: (text: string) => void texts.push(text),
    err: () => undefined,
    canAsk: false,
  };
  try {
    await command({ ...context, terminal });
    return { isFailure: false, json: texts.join('') };
  } catch (error) {
    return { isFailure: true, json: renderFailureJson(failureOf(error)) };
  }
}
