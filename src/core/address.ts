/** An address names a resource in plans, state and configuration: `agent.reception`, `agent.clinic["harbor"]`, `knowledge_source.clinic.faq`. */
export type Address = string;

/** What stands before the first dot: `agent` of `agent.clinic["harbor"]`. */
export function kindOf(address: Address): string {
  const dot = address.indexOf('.');
  return dot < 0 ? address : address.slice(0, dot);
}

/** A key that may stand in an address or path without quotes. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Whether `name` may name a resource in the configuration. */
export function isResourceName(name: string): boolean {
  return PLAIN.test(name);
}

/** `formatAddress('agent', ['clinic'], 'harbor')` is `agent.clinic["harbor"]`. */
export function formatAddress(kind: string, names: readonly string[], key?: string): Address {
  const base = [kind, ...names].join('.');
  return key === undefined ? base : withKey(base, key);
}

/** The address of one row: `agent.clinic["harbor"]` of `agent.clinic`. */
export function withKey(address: Address, key: string): Address {
  return `${address}[${JSON.stringify(key)}]`;
}

/** Whether a text has the form of an address (its kind is not checked). */
export function isAddress(text: string): boolean {
  return /^[a-z_]+(\.[A-Za-z_][A-Za-z0-9_-]*)+(\["(?:[^"\\]|\\.)*"\])?$/.test(text);
}

/** Whether a `--target` pattern names an address: the address itself, its row-less form, or its kind. */
export function matchesAddress(pattern: string, address: Address): boolean {
  return (
    address === pattern || address.startsWith(`${pattern}.`) || address.startsWith(`${pattern}[`)
  );
}

/** Compares addresses as people count: `clinic["c2"]` before `clinic["c10"]`. For `sort`. */
export function byAddress(a: Address, b: Address): number {
  const [left, right] = [a.split(NUMBERS), b.split(NUMBERS)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const [one = '', other = ''] = [left[at], right[at]];
    // Every second part is a number.
    const difference = at % 2 === 1 ? Number(one) - Number(other) : 0;
    if (difference !== 0) return difference;
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

const NUMBERS = /(\d{1,15})/;
