import { rowKey, rowsAddress } from '../../src/core/address.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { Situation } from './situations.ts';

/** What of a view can be read without opening anything, and what a reviewer misses there. */

/** Markdown as it reads: tags and entities gone, and with them what is folded. */
export function readMarkdown(markdown: string): string {
  return markdown
    .replace(/<!--.*?-->/gs, '')
    .replace(/<details>.*?<\/details>/gs, '')
    .replace(/<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&#8203;/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&nbsp;', ' ');
}

/** Marks of changed words, and what the layout adds: blanks, and the sign of a line that goes on. */
const LAYOUT = /\[-|-\]|\{\+|\+\}|\n\s*· |\s+/g;

function bare(text: string): string {
  return text.replace(LAYOUT, '');
}

/** Addresses and words of a plan that cannot be read in a view. */
export function findMissing(visible: string, { plan, words }: Situation): readonly string[] {
  const text = bare(visible);
  return [
    ...listAddresses(plan).filter((address) => !isNamed(address, visible, text)),
    ...words.filter((word) => !text.includes(bare(word))),
  ];
}

function listAddresses({ changes }: PlanDocument): readonly string[] {
  return changes
    .filter(({ action }) => action !== 'no_op' && action !== 'adopt')
    .map(({ address }) => address);
}

/** By itself; or its block, of which all rows are meant or, in a list, its key, both parts of its key, or the numbers around it. */
function isNamed(address: string, visible: string, text: string): boolean {
  if (text.includes(bare(address))) return true;
  const [block, key] = [rowsAddress(address), rowKey(address)];
  if (block === undefined || key === undefined || !text.includes(`${block}["…"]`)) return false;
  if (text.includes(`allrowsof${block}["…"]`)) return true;
  const names = new Set(visible.split(/[\s,;:]+/));
  if (names.has(key)) return true;
  const splits = Array.from(key.matchAll(/[-_. /]/g), ({ index }) => index);
  if (splits.some((at) => names.has(key.slice(0, at)) && names.has(key.slice(at + 1)))) return true;
  const [, stem = '', number = ''] = /^(.*?)(\d+)$/.exec(key) ?? [];
  return Array.from(visible.matchAll(/(\S+?)(\d+)\s+to\s+(\S+?)(\d+)/g)).some(
    ([, from, first, to, last]) =>
      from === stem && to === stem && +number >= Number(first) && +number <= Number(last),
  );
}
