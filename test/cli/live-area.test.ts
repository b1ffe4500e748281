import { expect, test } from 'vitest';
import { openDrawing } from '../../src/console/terminal.ts';

/** As much of a terminal as is written to: lines, up, the beginning of the line, and clearing what is below. */
function screenOf(written: string): readonly string[] {
  const shown = written.replaceAll('\u001b', '␛');
  const lines = [''];
  let row = 0;
  for (const part of shown.match(/␛\[\d*[AJ]|\r|\n|[^␛\r\n]+/g) ?? []) {
    if (part.endsWith('A') && part.startsWith('␛')) row -= Number(part.slice(2, -1));
    else if (part === '␛[J') lines.splice(row, lines.length, '');
    else if (part === '\n') {
      row += 1;
      if (lines[row] === undefined) lines.push('');
    } else if (part !== '\r') lines[row] += part;
  }
  return lines;
}

function stage(rows = 10) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  return { write, drawing: openDrawing(write, () => rows), screen: () => screenOf(written) };
}

test('lines are drawn where the last ones stood, whether they are more or fewer', () => {
  const { drawing, screen } = stage();
  drawing.draw('1 of 3\nagents\nnow: a\n');
  drawing.draw('2 of 3\nagents\n');
  expect(screen()).toEqual(['2 of 3', 'agents', '']);
  drawing.draw('3 of 3\nagents\nnow: c\n');
  expect(screen()).toEqual(['3 of 3', 'agents', 'now: c', '']);
});

test('what stays goes above them', () => {
  const { drawing, screen, write } = stage();
  drawing.draw('1 of 3\nagents\n');
  drawing.around(() => write('a failed\n'));
  drawing.draw('2 of 3\nagents\n');
  drawing.around(() => write('b failed\nbecause\n'));
  expect(screen()).toEqual(['a failed', 'b failed', 'because', '2 of 3', 'agents', '']);
});

test('nothing of them is left at the end, and what stays is', () => {
  const { drawing, screen, write } = stage();
  drawing.around(() => write('before\n'));
  drawing.draw('1 of 1\nagents\n');
  drawing.end();
  drawing.end();
  drawing.around(() => write('after\n'));
  expect(screen()).toEqual(['before', 'after', '']);
});

test('no more is drawn than the screen can take away again', () => {
  const { drawing, screen } = stage(3);
  drawing.draw('1\n2\n3\n4\n');
  drawing.draw('5\n6\n7\n8\n');
  expect(screen()).toEqual(['5', '6', '']);
});
