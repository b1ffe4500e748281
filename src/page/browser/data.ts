import type { Packed } from '../pack.ts';

/** The data that stands in the page. */
export function readData(): Packed {
  return JSON.parse(document.getElementById('data')?.textContent ?? 'null');
}

/** Where the page is shown. */
export function rootElement(): HTMLElement {
  const root = document.getElementById('app');
  if (root === null) throw new Error('the page has no place to be shown in');
  root.replaceChildren();
  return root;
}
