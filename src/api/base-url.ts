import { CallsheetError } from '../core/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The base address in its normal form, without a trailing slash: plans are bound to it, and tokens are
 * minted for it. Throws where it is missing, malformed, or would send credentials in clear over a network.
 */
export function checkBaseUrl(text: string | undefined): string {
  if (text === undefined || text.trim() === '') {
    throw new CallsheetError('config', 'no base address of the platform is given', {
      hint: 'Set platform.base_url in callsheet.yaml, or CALLSHEET_BASE_URL.',
    });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // Without a scheme, `key:secret@host` is malformed and must not be repeated.
    const shown = text.includes('@') ? 'as given' : JSON.stringify(text);
    throw new CallsheetError('config', `base_url ${shown} is not an http(s) address`, {
      hint: 'It looks like https://api.example.com, and begins with https://.',
    });
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new CallsheetError(
      'config',
      'base_url must not hold credentials, a query or a fragment',
      {
        hint: 'Credentials belong into CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.',
      },
    );
  }
  if (!isConfidential(url)) {
    throw new CallsheetError(
      'config',
      `base_url ${url.origin} is plain http, which would send credentials in clear`,
      { hint: 'Use https. Plain http is allowed for loopback addresses only.' },
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Throws where a presigned address cannot be used, without repeating what it is signed with. */
export function checkUploadUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && isConfidential(url)) return;
  const what = url === undefined ? 'is not an address' : `leads to ${url.protocol}//${url.host}`;
  throw new CallsheetError('api', `the address that the platform gave for an upload ${what}`, {
    hint: 'Files are only sent over https. Nothing was sent.',
  });
}

/** Whether nobody on the way can read what is sent there. */
function isConfidential(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url);
}

/** Whether an address is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
