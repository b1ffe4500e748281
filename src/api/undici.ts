import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Where undici keeps what every `fetch` of the process sends with, by version of its interface. */
const PLACES = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

/** With a listener here undici does not set up its own, which print what is sent where `NODE_DEBUG` asks. */
const CHANNELS = ['undici:client:connected', 'undici:request:headers'];
const listen = () => {};

/**
 * Loads undici when something is about to be sent. It sets itself up as the sender of every `fetch` in the
 * process, which is not for a library to decide: what was there before is put back. Its debug lines stay off: they
 * show presigned addresses whole; `--trace-http` shows what may be shown.
 */
export async function loadUndici(): Promise<typeof import('undici')> {
  const before = PLACES.map((place) => Reflect.get(globalThis, place));
  for (const channel of CHANNELS) subscribe(channel, listen);
  const undici = await import('undici').finally(() => {
    for (const channel of CHANNELS) unsubscribe(channel, listen);
  });
  PLACES.forEach((place, index) => {
    if (Reflect.has(globalThis, place)) Reflect.set(globalThis, place, before[index]);
  });
  return undici;
}
