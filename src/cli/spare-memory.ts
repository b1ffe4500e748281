import { setFlagsFromString } from 'node:v8';

/** A heap grows by as much before it is collected again. Left alone it would be several times as large as what is in use. */
const GROWTH_PERCENT = 30;

/**
 * Has garbage collected early. A restoration, like a plan of a large fleet, waits for the platform most of the time,
 * and makes and drops documents by the gigabyte. Both flags are asked for at every collection, so that they count from now on.
 */
export function spareMemory(): void {
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Keeps what was just made from being let grow before it is looked through. An export makes and drops documents as
 * fast as they are read: left alone this part of the heap gets larger than all the rest.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
