/**
 * What a table holds under a name that somebody else wrote. A plain look-up would also find what every
 * object has, such as `constructor`.
 */
export function ownOf<T>(
  table: { readonly [name: string]: T } | undefined,
  name: string,
): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
