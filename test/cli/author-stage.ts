import type { Context } from '../../src/console/context.ts';
import { onTerminal } from '../../src/console/events.ts';
import { features } from '../../src/features/index.ts';
import type { RenderOptions } from '../../src/render/terminal.ts';

/** A context for commands that ask nobody anything, and what they print with it. */
export function openAuthorStage(width = 80): {
  readonly context: Context;
  readonly said: () => string;
} {
  let said = '';
  const say = (text: string) => {
    said += text.endsWith('\n') ? text : `${text}\n`;
  };
  const render: RenderOptions = { width, color: false, verbose: false };
  const terminal: Context['terminal'] = {
    out: say,
    err: say,
    render,
    renderErr: render,
    wrapsErr: false,
    canAsk: false,
    ask: () => Promise.reject(new Error('nobody is there')),
  };
  const context: Context = {
    ...onTerminal(terminal),
    features,
    env: {},
    now: () => new Date('2026-11-21T09:45:00Z'),
    stop: new AbortController().signal,
    version: '1.2.3',
  };
  return { context, said: () => said };
}
