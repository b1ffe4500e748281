import { createContext } from 'preact';
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

/** Reads the data in the page. It is not checked: the page's renderer wrote it. */
export function readData<T>(): T {
  return JSON.parse(document.getElementById('data')?.textContent ?? 'null');
}

/** Returns the emptied element in which the page is shown. */
export function rootElement(): HTMLElement {
  const root = document.getElementById('app');
  if (root === null) throw new Error('the page has no place to be shown in');
  root.replaceChildren();
  return root;
}

/** The cards that a reader marked as read. */
type LookedAt = {
  readonly looked: ReadonlySet<string>;
  readonly look: (card: string, isSeen: boolean) => void;
};

export const Looked = createContext<LookedAt>({ looked: new Set(), look: () => undefined });

/** Marks of one plan, kept until the tab is closed. */
export function useLooked(digest: string): LookedAt {
  const key = `callsheet.looked.${digest}`;
  const [looked, setLooked] = useState<ReadonlySet<string>>(
    () => new Set(JSON.parse(read('sessionStorage', key) ?? '[]')),
  );
  const look = (card: string, isSeen: boolean) => {
    const next = new Set(looked);
    if (isSeen) next.add(card);
    else next.delete(card);
    write('sessionStorage', key, JSON.stringify([...next]));
    setLooked(next);
  };
  return { looked, look };
}

/** Something that a reader chose, kept where the browser keeps things for this page. */
export function useKept<T extends string>(
  name: string,
  choices: readonly T[],
  otherwise: T,
): readonly [T, (value: T) => void] {
  const key = `callsheet.${name}`;
  const [value, setValue] = useState(() => {
    const kept = read('localStorage', key);
    return choices.find((choice) => choice === kept) ?? otherwise;
  });
  const keep = (next: T) => {
    write('localStorage', key, next);
    setValue(next);
  };
  return [value, keep];
}

type Store = 'localStorage' | 'sessionStorage';

/** A file that is opened from a disk may have no storage, which is nothing to tell anybody. */
function read(store: Store, key: string): string | null {
  try {
    return globalThis[store].getItem(key);
  } catch {
    return null;
  }
}

function write(store: Store, key: string, value: string): void {
  try {
    globalThis[store].setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}
