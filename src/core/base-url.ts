const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why an address cannot be that of the platform, and what to do. */
type BaseUrlFault = { readonly message: string; readonly hint: string };

/**
 * What is wrong with a base address: credentials would be sent in clear over a network, or stand in a
 * file that is committed. Never repeats a secret.
 */
export function baseUrlFault(text: string): BaseUrlFault | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // Without a scheme, `key:secret@host` is malformed and must not be repeated.
    const shown = text.includes('@') ? 'as given' : JSON.stringify(text);
    return {
      message: `base_url ${shown} is not an http(s) address`,
      hint: 'It looks like https://api.example.com, and begins with https://.',
    };
  }
  if (hasMore(url)) {
    return {
      message: 'base_url must not hold credentials, a query or a fragment',
      hint: 'Credentials belong into CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.',
    };
  }
  if (isConfidential(url)) return undefined;
  return {
    message: `base_url ${url.origin} is plain http, which would send credentials in clear`,
    hint: 'Use https. Plain http is allowed for loopback addresses only.',
  };
}

/** Whether an address holds what may be a secret. */
function hasMore({ username, password, search, hash }: URL): boolean {
  return username !== '' || password !== '' || search !== '' || hash !== '';
}

/** Whether nobody on the way can read what is sent there. */
export function isConfidential(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url);
}

const LINK_LOCAL = /^(169\.254(\.\d{1,3}){2}|\[fe80:[\da-f:]+\]|\[fd00:ec2::[\da-f]+\])$/;

/** Whether an address never leaves the machine's own link: a cloud answers there what runs in it, and no proxy leads there. */
export function isLinkLocal({ hostname }: URL): boolean {
  return LINK_LOCAL.test(hostname);
}

/** Whether an address is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
