import { expect, test } from 'vitest';
import { confirm, onTerminal } from '../../../src/console/events.ts';
import { kindNamed } from '../../../src/kinds/index.ts';
import type { Reader } from '../../../src/plan/reader.ts';
import { whileReading } from '../../../src/run/plan.ts';

const plain = { width: 80, color: false, verbose: false };
const agent = kindNamed('agent');

function platform(): Reader {
  return {
    list: async () => [],
    read: async () => undefined,
    findLack: () => undefined,
    history: async () => [],
    isHistoryDated: async () => undefined,
    entitlements: () => {
      throw new Error('nobody asks for them');
    },
  };
}

function screen(isTerminal: boolean) {
  const drawn: string[] = [];
  const lines: string[] = [];
  let isEnded = false;
  const terminal = {
    out: () => undefined,
    err: (text: string) => void lines.push(text),
    render: plain,
    renderErr: plain,
    wrapsErr: isTerminal,
    canAsk: false,
    ask: async () => '',
    ...(isTerminal
      ? { live: { draw: (text: string) => void drawn.push(text), end: () => (isEnded = true) } }
      : {}),
  };
  return { terminal, drawn, lines, isEnded: () => isEnded };
}

async function readMany(reader: Reader, times: number) {
  for (let count = 0; count < times; count += 1)
    await reader.read(agent, { id: 'x', scope: {} }, new Set());
}

test('a terminal shows that something goes on before the first answer, and nothing once it ended', async () => {
  const { terminal, drawn, lines, isEnded } = screen(true);
  await whileReading(platform(), 1200, onTerminal(terminal), async (reader) => {
    expect(drawn).toEqual(['Reading live resources: 0 of 1,200 resources']);
    await readMany(reader, 3);
    await expect.poll(() => drawn.at(-1)).toBe('Reading live resources: 3 of 1,200 resources');
  });
  expect(isEnded()).toBe(true);
  expect(lines).toEqual([]);
});

test('what is drawn goes away when reading fails, too', async () => {
  const { terminal, isEnded } = screen(true);
  const failing = whileReading(platform(), 1, onTerminal(terminal), () =>
    Promise.reject(new Error('no')),
  );
  await expect(failing).rejects.toThrow('no');
  expect(isEnded()).toBe(true);
});

test('a log has a line for each thousand', async () => {
  const { terminal, lines } = screen(false);
  await whileReading(platform(), 1500, onTerminal(terminal), (reader) => readMany(reader, 2100));
  expect(lines).toEqual(['1,000 of 1,500 resources read', '2,000 resources read']);
});

test('a question breaks between words, and is answered behind its end', async () => {
  const { terminal } = screen(true);
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return ' yes';
  };
  const narrow = { ...terminal, canAsk: true, renderErr: { ...plain, width: 40 }, ask };
  expect(await confirm('Roll back run 20261123t093646z-788dde?', narrow)).toBe(true);
  expect(asked).toEqual(['Roll back run 20261123t093646z-788dde?\nType "yes", or "no": ']);
});
