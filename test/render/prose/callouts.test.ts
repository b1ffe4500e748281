import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Callout } from '../../../src/render/prose/blocks.ts';
import { diffProse } from '../../../src/render/prose/diff.ts';

type Edit = { readonly name: string; readonly edit: string; readonly tell: readonly string[] };

const FILE = new URL('./callouts.corpus.yaml', import.meta.url);
const edits: readonly Edit[] = parse(readFileSync(FILE, 'utf8'));

/** Of what is told, so much has to be wanted; of what is wanted, so much has to be told. */
const LEAST = { precision: 0.95, recall: 0.9 };

function textsOf(edit: string): readonly [before: string, after: string] {
  const removed = /\[-(.*?)-\]/gsu;
  const added = /\{\+(.*?)\+\}/gsu;
  return [
    edit.replace(added, '').replace(removed, '$1'),
    edit.replace(removed, '').replace(added, '$1'),
  ];
}

function wordsOf({ mark, before, after }: Callout): string {
  if (mark === 'instruction') {
    const what = before === null ? 'added' : after === null ? 'removed' : 'changed';
    return `instruction ${what}: ${[before, after].filter((text) => text !== null).join(' → ')}`;
  }
  const to = mark === 'transfer' ? 'transfer to ' : '';
  if (before === null) return `new: ${to}${after}`;
  if (after === null) return `gone: ${to}${before}`;
  return before === after ? `moved: ${after}` : `${to}${before} → ${after}`;
}

test('call-outs say what a reviewer wants to be told of the corpus', () => {
  const misses: string[] = [];
  let [right, wrong, missed] = [0, 0, 0];
  for (const { name, edit, tell } of edits) {
    const told = diffProse(...textsOf(edit)).callouts.map(wordsOf);
    const waiting = [...tell];
    for (const one of told) {
      const at = waiting.indexOf(one);
      if (at >= 0) waiting.splice(at, 1);
      else misses.push(`${name}: told ${one}`);
      if (at >= 0) right += 1;
      else wrong += 1;
    }
    missed += waiting.length;
    misses.push(...waiting.map((one) => `${name}: not told ${one}`));
  }
  const precision = right / (right + wrong);
  const recall = right / (right + missed);
  const figures = `${edits.length} edits: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
  process.stdout.write(`${[figures, ...misses].join('\n  ')}\n`);
  expect(precision, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.precision);
  expect(recall, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.recall);
});

test('a name that stayed in its paragraph is told as moved in neither direction', () => {
  const name = '{{first_name|there}}';
  const before = `${name} ${name}\nhours. ${name} you you price,\n${name} 你好世界\n`;
  const after = `you 你好世界 ${name}\n${name} hours. ${name}\n`;
  expect(diffProse(before, after).callouts.map(wordsOf)).toEqual([`gone: ${name}`]);
  expect(diffProse(after, before).callouts.map(wordsOf)).toEqual([`new: ${name}`]);
});
