/** `2026-11-21T09:45:12Z`: a time in a sentence for people, who count in seconds. Other texts stay as they are. */
export function inSeconds(time: string): string {
  return time.replace(/(?<=T\d\d:\d\d:\d\d)\.\d+(?=Z$)/, '');
}
