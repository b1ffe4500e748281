import { CallsheetError } from '../core/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The base address without a trailing slash. Throws where it is missing, malformed, or would send
 * credentials in clear over a network.
 */
export function checkBaseUrl(text: string | undefined): string {
  if (text === undefined || text === '') {
    throw new CallsheetError('config', 'no base address of the platform is given', {
      hint: 'Set platform.base_url in callsheet.yaml, or CALLSHEET_BASE_URL.',
    });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CallsheetError(
      'config',
      `base_url ${JSON.stringify(text)} is not an http(s) address`,
      {
        hint: 'It looks like https://api.example.com, without a path.',
      },
    );
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
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new CallsheetError(
      'config',
      `base_url ${url.origin} is plain http, which would send credentials in clear`,
      { hint: 'Use https. Plain http is allowed for loopback addresses only.' },
    );
  }
  return text.replace(/\/+$/, '');
}
