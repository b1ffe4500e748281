import { expect, test } from 'vitest';
import { eachStack } from '../../../src/features/fleet/run-stack.ts';
import { quietContext } from '../../cli/quiet-context.ts';

const STACKS = ['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({ path, dir: path }));
const HOW = { verb: 'Working' };

/** Work whose end each test decides on. */
function gates() {
  const open = new Map<string, () => void>();
  const work = ({ path }: { readonly path: string }) =>
    new Promise<string>((resolve) => open.set(path, () => resolve(path)));
  return { open, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('results come in order, each as soon as it can', async () => {
  const { open, work } = gates();
  const taken: string[] = [];
  const { context } = quietContext();
  const all = eachStack(STACKS, HOW, context, work, (path) => void taken.push(path));
  await turn();
  expect([...open.keys()]).toEqual(['a', 'b', 'c', 'd']);
  open.get('b')?.();
  await turn();
  expect(taken).toEqual([]);
  expect([...open.keys()]).toEqual(['a', 'b', 'c', 'd', 'e']);
  open.get('a')?.();
  await turn();
  expect(taken).toEqual(['a', 'b']);
  for (const path of ['c', 'd', 'e', 'f']) open.get(path)?.();
  await turn();
  open.get('f')?.();
  await all;
  expect(taken).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('one request at once means one stack at once', async () => {
  const { context } = quietContext();
  let running = 0;
  const seen: number[] = [];
  const work = async () => {
    running += 1;
    await turn();
    seen.push(running);
    running -= 1;
  };
  await eachStack(STACKS, { ...HOW, concurrency: 1 }, context, work, () => undefined);
  expect(new Set(seen)).toEqual(new Set([1]));
});

test('where a result cannot be kept, those at work end and no other begins', async () => {
  const { context } = quietContext();
  const begun: string[] = [];
  const ended: string[] = [];
  const work = async ({ path }: { readonly path: string }) => {
    begun.push(path);
    if (path !== 'a') await turn();
    ended.push(path);
  };
  const take = () => Promise.reject(new Error('no space left'));
  await expect(eachStack(STACKS, HOW, context, work, take)).rejects.toThrow('no space left');
  expect(ended).toEqual(begun);
  expect(begun).not.toContain('f');
});

test('on a terminal the stacks at work are shown with how far each is', async () => {
  const { context } = quietContext();
  const drawn: string[] = [];
  const live = { draw: (text: string) => void drawn.push(text), end: () => void drawn.push('') };
  const { open, work } = gates();
  const on = { ...context, terminal: { ...context.terminal, live } };
  const said = (stack: { readonly path: string }, onProgress: (line: string) => void) => {
    onProgress(`reading ${stack.path}`);
    return work(stack);
  };
  const all = eachStack(STACKS.slice(0, 2), HOW, on, said, () => undefined);
  await expect
    .poll(() => drawn.at(-1))
    .toBe('Working: 0 of 2 stacks\n  a  reading a\n  b  reading b\n');
  open.get('a')?.();
  await expect.poll(() => drawn.at(-1)).toBe('Working: 1 of 2 stacks\n  b  reading b\n');
  open.get('b')?.();
  await all;
  expect(drawn.at(-1)).toBe('');
});
