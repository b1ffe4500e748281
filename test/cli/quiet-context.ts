import type { Context } from '../../src/console/context.ts';
import { onTerminal } from '../../src/console/events.ts';
import { features } from '../../src/features/index.ts';

/** A context in which a command's output is kept, 80 columns wide and without colour. */
export function quietContext(): {
  readonly context: Context;
  readonly said: { readonly out: string; readonly err: string };
} {
  const said = { out: '', err: '' };
  const render = { width: 80, color: false, verbose: false };
  const context: Context = {
    ...onTerminal({
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += `${text}\n`;
      },
      render,
      renderErr: render,
      wrapsErr: false,
      canAsk: false,
      ask: () => Promise.reject(new Error('nothing is asked')),
    }),
    features,
    env: {},
    now: () => new Date(0),
    stop: new AbortController().signal,
    version: '1.2.3',
  };
  return { context, said };
}
