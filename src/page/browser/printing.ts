import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Whether the page is about to be printed. What is printed must be there before the browser goes on. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const print = matchMedia('print');
    const follow = () => renderNow(() => setPrinting(print.matches));
    const begin = () => renderNow(() => setPrinting(true));
    const end = () => setPrinting(false);
    print.addEventListener('change', follow);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      print.removeEventListener('change', follow);
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

/** What a change of state leads to is rendered before this returns. */
function renderNow(change: () => void): void {
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  change();
  if (debounceRendering === undefined) delete options.debounceRendering;
  else options.debounceRendering = debounceRendering;
}
