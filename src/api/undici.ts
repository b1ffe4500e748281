/** Where undici keeps what every `fetch` of the process sends with, by version of its interface. */
const PLACES = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

/**
 * Loads undici when something is about to be sent. It sets itself up as the sender of every `fetch` in the
 * process, which is not for a library to decide: what was there before is put back.
 */
export async function loadUndici(): Promise<typeof import('undici')> {
  const before = PLACES.map((place) => Reflect.get(globalThis, place));
  const undici = await import('undici');
  PLACES.forEach((place, index) => {
    if (Reflect.has(globalThis, place)) Reflect.set(globalThis, place, before[index]);
  });
  return undici;
}
