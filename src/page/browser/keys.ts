import { useLayoutEffect } from 'preact/hooks';

/** What a key does; whoever is asked for one that is not here leaves it to the browser. */
export type Keys = { readonly [key: string]: () => void };

/** Keys that work while somebody types, too. */
const ALWAYS: readonly string[] = ['Escape'];

/**
 * Listens to single keys, unless they are turned off or meant for something that is typed into. What a key does
 * is taken over before the next one can come, so that none is lost.
 */
export function useKeys(keys: Keys, isOn: boolean): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { key, target } = event;
      const act = keys[key];
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (act === undefined || isModified || event.defaultPrevented) return;
      if (!ALWAYS.includes(key) && (!isOn || takesKeys(target))) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}

function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('input, select, textarea, dialog') !== null;
}
