import { useState } from 'preact/hooks';

/** The address of a change in the page, so that it can be bookmarked and sent to somebody. */
export function linkTo(address: string): string {
  return `#${encodeURIComponent(address)}`;
}

/** The change that the address of the page names; empty where it names none. */
export function placeNow(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** Shows a change in the address of the page without adding to its history at every key. */
export function goTo(address: string): void {
  history.replaceState(null, '', linkTo(address));
}

/** The data that stands in the page. Its shape is that of whoever wrote the page. */
export function readData<T>(): T {
  return JSON.parse(document.getElementById('data')?.textContent ?? 'null');
}

/** Where the page is shown. */
export function rootElement(): HTMLElement {
  const root = document.getElementById('app');
  if (root === null) throw new Error('the page has no place to be shown in');
  root.replaceChildren();
  return root;
}

/** Something that a reader chose, kept where the browser keeps things for this page. */
export function useKept<T extends string>(
  name: string,
  choices: readonly T[],
  otherwise: T,
): readonly [T, (value: T) => void] {
  const [value, setValue] = useState(() => read(name, choices) ?? otherwise);
  const keep = (next: T) => {
    write(name, next);
    setValue(next);
  };
  return [value, keep];
}

/** A file that is opened from a disk may have no storage, which is nothing to tell anybody. */
function read<T extends string>(name: string, choices: readonly T[]): T | undefined {
  try {
    const kept = localStorage.getItem(`callsheet.${name}`);
    return choices.find((choice) => choice === kept);
  } catch {
    return undefined;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`callsheet.${name}`, value);
  } catch {
    // It holds until the page is closed.
  }
}
