/** The last lines of a terminal, which are drawn anew while something goes on. */
export type LiveArea = {
  /** Puts lines where the last ones stood; each must fit the width. */
  readonly draw: (text: string) => void;
  /** Takes them away for good. */
  readonly end: () => void;
};

export type Drawing = LiveArea & {
  /** Writes something that stays: it goes above the lines that are drawn anew. */
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
