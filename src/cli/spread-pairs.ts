/** Flags that take several `OLD=NEW` (DESIGN §3), each given once for commander. */
const FLAGS: ReadonlySet<string> = new Set(['--map-organization', '--map-knowledge-base']);

/**
 * Gives the flag again to each pair that follows one, so that `--map-organization a=b c=d FILE` and
 * `FILE --map-organization a=b c=d` mean the same: a flag that took whatever follows would take the file.
 */
export function spreadPairs(argv: readonly string[]): readonly string[] {
  let flag: string | undefined;
  let hasValue = false;
  return argv.flatMap((word) => {
    if (FLAGS.has(word)) {
      [flag, hasValue] = [word, false];
      return [word];
    }
    const isPair = flag !== undefined && /^[^-=][^=]*=/.test(word);
    if (flag !== undefined && isPair && hasValue) return [flag, word];
    if (isPair) hasValue = true;
    else flag = undefined;
    return [word];
  });
}
