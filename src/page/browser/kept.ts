import { useState } from 'preact/hooks';

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
