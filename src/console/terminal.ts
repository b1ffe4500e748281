import { stripVTControlCharacters } from 'node:util';
import { CallsheetError } from '../core/errors.ts';
import type { RenderOptions } from '../render/terminal.ts';

/** Results go to `out`, progress and warnings to `err`. */
export type Terminal = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** How results are to be rendered. */
  readonly render: RenderOptions;
  /** The same for what goes to `err`. */
  readonly renderErr: RenderOptions;
  /** True if sentences on `err` are broken to its width. In a pipe they stay whole, for grep. */
  readonly wrapsErr: boolean;
  /** Lines on `err` that are redrawn in place; undefined where there is no terminal, or no person at it. */
  readonly live?: LiveArea | undefined;
  /** True if a person can be asked something. */
  readonly canAsk: boolean;
  readonly ask: (question: string) => Promise<string>;
};

type TerminalFlags = {
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
};

/** Wide enough for reading; a pipe has no width of its own. */
const WIDTH_WITHOUT_TERMINAL = 100;

/** A serial line and `docker exec -t` say that they have 0 columns. */
function getWidth({ columns }: NodeJS.WriteStream, env: NodeJS.ProcessEnv): number {
  return columns || Number(env.COLUMNS) || WIDTH_WITHOUT_TERMINAL;
}

/** Gives terminals that say 0 columns a width, also after a resize, for libraries that would break every character. */
export function sizeTerminals(env: NodeJS.ProcessEnv): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY !== true) continue;
    const size = () => {
      stream.columns = getWidth(stream, env);
    };
    size();
    if (!followed.has(stream)) stream.on('resize', size);
    followed.add(stream);
  }
}

/** Terminals whose width is put right after each resize. */
const followed = new WeakSet<NodeJS.WriteStream>();

/**
 * Opens the process's own terminal; `printed` is called with each result. `NO_COLOR` and `--no-color` win over
 * `FORCE_COLOR` and what is detected.
 */
export function openTerminal(
  flags: TerminalFlags,
  env: NodeJS.ProcessEnv,
  printed: () => void = () => undefined,
): Terminal {
  const isForced = env.FORCE_COLOR !== undefined && !['', '0', 'false'].includes(env.FORCE_COLOR);
  const isOff = flags.color === false || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  const optionsFor = (stream: NodeJS.WriteStream): RenderOptions => ({
    width: getWidth(stream, env),
    color: !isOff && (isForced || stream.isTTY === true),
    verbose: flags.verbose === true,
    isPiped: stream.isTTY !== true,
  });
  const drawing = isLive(flags, env)
    ? openDrawing(
        (text) => void process.stderr.write(text),
        () => process.stderr.rows || 24,
      )
    : undefined;
  const around = drawing?.around ?? ((write: () => void) => write());
  return {
    out: (text) => {
      printed();
      around(() => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`));
    },
    err: (text) => {
      if (flags.quiet === true) return;
      around(() => void process.stderr.write(text.endsWith('\n') ? text : `${text}\n`));
    },
    live: drawing,
    render: optionsFor(process.stdout),
    // A window that is made narrower during a run would break the lines that are drawn in place.
    get renderErr() {
      return optionsFor(process.stderr);
    },
    wrapsErr: process.stderr.isTTY === true,
    canAsk: process.stdin.isTTY === true,
    ask: askOnTerminal,
  };
}

/**
 * A display that is redrawn helps on a terminal only: not in a log, not for `TERM=dumb`, and not for a screen reader,
 * which would read it again and again (`ACCESSIBLE`).
 */
function isLive({ quiet }: TerminalFlags, { TERM, ACCESSIBLE }: NodeJS.ProcessEnv): boolean {
  const isRead = (ACCESSIBLE ?? '') !== '';
  return process.stderr.isTTY === true && quiet !== true && TERM !== 'dumb' && !isRead;
}

async function askOnTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

/** Interval at which a display is redrawn: short enough to see that it moves. */
const EVERY_MS = 120;

/** Draws on a terminal, at once and again and again, until the result is called. */
export function drawEvery(live: LiveArea | undefined, render: () => string): () => void {
  if (live === undefined) return () => undefined;
  const draw = () => live.draw(render());
  const timer = setInterval(draw, EVERY_MS).unref();
  draw();
  return () => {
    clearInterval(timer);
    live.end();
  };
}

/** The last lines of a terminal, which are redrawn while something goes on. */
type LiveArea = {
  /** Puts lines where the last ones stood; each must fit the width. */
  readonly draw: (text: string) => void;
  /** Takes them away for good. */
  readonly end: () => void;
};

type Drawing = LiveArea & {
  /** Writes something that stays: it goes above the lines that are redrawn. */
  readonly around: (write: () => void) => void;
};

const UP = (lines: number) => (lines === 0 ? '' : `\x1b[${lines}A`);
/** To the beginning of the line, and everything below it empty. */
const CLEAR = '\r\x1b[J';

/** Draws on a stream that is a terminal. What scrolls by is not touched, so nothing is lost from its history. */
export function openDrawing(write: (text: string) => void, rows: () => number): Drawing {
  let shown = '';
  const height = () => shown.split('\n').length - 1;
  const clear = () => {
    if (shown !== '') write(UP(height()) + CLEAR);
  };
  const area: Drawing = {
    draw(text) {
      // More lines than the screen has could not be taken away again.
      const fitting = text.split('\n').slice(0, Math.max(1, rows() - 1));
      const next = text === '' ? '' : `${fitting.join('\n').replace(/\n$/, '')}\n`;
      if (next === shown) return;
      write(`${shown === '' ? '' : UP(height()) + CLEAR}${next}`);
      shown = next;
    },
    end: () => area.draw(''),
    around(work) {
      const kept = shown;
      clear();
      shown = '';
      work();
      area.draw(kept);
    },
  };
  return area;
}

/** A terminal that keeps messages and asks nothing. Of what is drawn the first line counts. */
export function messagesOnly(
  { render, renderErr, wrapsErr }: Terminal,
  said: string[],
  onProgress: (line: string) => void = () => undefined,
): Terminal {
  return {
    // With it a log of each change is spared, which the result has, too.
    live: {
      draw: (text) => onProgress(stripVTControlCharacters(text.split('\n')[0] ?? '')),
      end: () => undefined,
    },
    out: () => undefined,
    err: (text) => void said.push(text.endsWith('\n') ? text : `${text}\n`),
    render,
    renderErr,
    wrapsErr,
    canAsk: false,
    ask: () =>
      Promise.reject(new CallsheetError('usage', 'one of many stacks cannot ask for approval')),
  };
}
