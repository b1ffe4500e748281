import { describe, expect, onTestFinished, test } from 'vitest';
import { openTerminal, sizeTerminals } from '../../src/console/terminal.ts';

/** Makes standard output and standard error terminals of a size until the end of the test. */
function sized(columns: number | undefined, rows: number | undefined): void {
  for (const stream of [process.stdout, process.stderr]) {
    const { isTTY, columns: before, rows: high } = stream;
    onTestFinished(() => {
      Object.assign(stream, { isTTY, columns: before, rows: high });
    });
    Object.assign(stream, { isTTY: columns !== undefined, columns, rows });
  }
}

describe('the width of a terminal', () => {
  test.each([
    ['a terminal that says', 60, {}, 60],
    ['a terminal that says 0', 0, {}, 100],
    ['a terminal that says 0, and COLUMNS', 0, { COLUMNS: '72' }, 72],
    ['a pipe', undefined, {}, 100],
    ['a pipe, and COLUMNS', undefined, { COLUMNS: '72' }, 72],
    ['a pipe, and COLUMNS of 0', undefined, { COLUMNS: '0' }, 100],
    ['a terminal wider than COLUMNS', 60, { COLUMNS: '72' }, 60],
  ])('of %s', (_, columns, env, width) => {
    sized(columns, columns);
    const terminal = openTerminal({}, env);
    expect(terminal.render.width).toBe(width);
    expect(terminal.renderErr.width).toBe(width);
  });

  test('of a terminal that is resized while a run goes on, to 0 and back', () => {
    sized(90, 30);
    const terminal = openTerminal({}, {});
    process.stderr.columns = 0;
    expect(terminal.renderErr.width).toBe(100);
    process.stderr.columns = 50;
    expect(terminal.renderErr.width).toBe(50);
  });
});

test('libraries are told a width where the terminal says 0', () => {
  sized(0, 0);
  sizeTerminals({});
  expect(process.stdout.columns).toBe(100);
  process.stdout.columns = 0;
  process.stdout.emit('resize');
  expect(process.stdout.columns).toBe(100);
  process.stdout.columns = 70;
  process.stdout.emit('resize');
  expect(process.stdout.columns).toBe(70);
});

test('a terminal of no rows draws as many lines as one of 24', () => {
  sized(0, 0);
  let written = '';
  const { write } = process.stderr;
  onTestFinished(() => {
    process.stderr.write = write;
  });
  process.stderr.write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  openTerminal({}, { TERM: 'xterm' }).live?.draw('one\ntwo\nthree\n');
  expect(written).toBe('one\ntwo\nthree\n');
});
