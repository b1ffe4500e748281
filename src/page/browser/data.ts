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
