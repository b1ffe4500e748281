import { compareTexts } from './value.ts';

/** An address names a resource in plans, state and configuration: `agent.reception`, `agent.clinic["harbor"]`, `knowledge_source.clinic.faq`. */
export type Address = string;

/** A name is live text, and may be of any length. */
const LONGEST_NAME = 80;

/** `Front desk (agent.reception)`: a resource in a sentence, or its address alone where it has no name. */
export function formatLabel(address: Address, name: string | undefined): string {
  if (name === undefined || name === address) return address;
  const characters = Array.from(name);
  const rest = characters.length > LONGEST_NAME ? '…' : '';
  return `${characters.slice(0, LONGEST_NAME).join('')}${rest} (${address})`;
}

/** Returns `agent` of `agent.clinic["harbor"]`. */
export function getKind(address: Address): string {
  const dot = address.indexOf('.');
  return dot < 0 ? address : address.slice(0, dot);
}

/** `retry policy` of `retry_policy`, and of `retry_policy_id`: the platform's name of a thing, as people read it. */
export function nameInWords(name: string): string {
  return name.replace(/_id$/, '').replaceAll('_', ' ');
}

/** A key that may stand in an address or path without quotes. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function isResourceName(name: string): boolean {
  return PLAIN.test(name);
}

/** `formatAddress('knowledge_source', ['clinic', 'faq'])` is `knowledge_source.clinic.faq`. */
export function formatAddress(kind: string, names: readonly string[]): Address {
  return [kind, ...names].join('.');
}

/** The address of one row: `agent.clinic["harbor"]` of `agent.clinic`. */
export function withKey(address: Address, key: string): Address {
  return `${address}[${JSON.stringify(key)}]`;
}

/** The block of its row: `agent.clinic` of `agent.clinic["harbor"]`; undefined where it is none of a row. */
export function rowsAddress(address: Address): Address | undefined {
  const at = address.indexOf('[');
  return at < 0 ? undefined : address.slice(0, at);
}

/** The key of its row: `harbor` of `agent.clinic["harbor"]`; undefined where it is none of a row. */
export function rowKey(address: Address): string | undefined {
  const at = address.indexOf('[');
  return at < 0 ? undefined : String(JSON.parse(address.slice(at + 1, -1)));
}

/** Returns true for the form of an address; its kind is not checked. */
export function isAddress(text: string): boolean {
  return /^[a-z_]+(\.[A-Za-z_][A-Za-z0-9_-]*)+(\["(?:[^"\\]|\\.)*"\])?$/.test(text);
}

/**
 * Returns true if a `--target` pattern names the address: the address itself, its row-less form, its kind or, with a
 * `*` at the end, however it begins.
 */
export function matchesAddress(pattern: string, address: Address): boolean {
  if (pattern.endsWith('*')) return address.startsWith(pattern.slice(0, -1));
  return (
    address === pattern || address.startsWith(`${pattern}.`) || address.startsWith(`${pattern}[`)
  );
}

export function matchesAny(patterns: readonly string[], address: Address): boolean {
  return patterns.some((pattern) => matchesAddress(pattern, address));
}

/** Returns true if `--target` and `--exclude` choose the address; without a target all are chosen. */
export function isChosen(
  address: Address,
  {
    target = [],
    exclude = [],
  }: {
    readonly target?: readonly string[] | undefined;
    readonly exclude?: readonly string[] | undefined;
  },
): boolean {
  const isTargeted = target.length === 0 || matchesAny(target, address);
  return isTargeted && !matchesAny(exclude, address);
}

/** Compares addresses as people count: `clinic["c2"]` before `clinic["c10"]`. For `sort`. */
export function byAddress(a: Address, b: Address): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  // Back to where the numbers begin that differ in a later digit.
  while (at > 0 && isDigit(a, at - 1)) at -= 1;
  const [one, other] = [numberAt(a, at), numberAt(b, at)];
  if (one !== undefined && other !== undefined && one !== other) return one - other;
  return compareTexts(a, b);
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function numberAt(text: string, from: number): number | undefined {
  let to = from;
  while (isDigit(text, to)) to += 1;
  return to === from ? undefined : Number(text.slice(from, to));
}
