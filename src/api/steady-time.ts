/** Milliseconds of a clock that nobody sets back. */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}
