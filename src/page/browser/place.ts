/** The address of a change in the page, so that it can be bookmarked and sent to somebody. */
export function linkTo(address: string): string {
  return `#${encodeURIComponent(address)}`;
}

/** The change that the address of the page names; empty where it names none. */
export function placeNow(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** Shows a change in the address of the page without adding to its history at every key. */
export function goTo(address: string): void {
  history.replaceState(null, '', linkTo(address));
}
