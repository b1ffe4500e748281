import { baseUrlFault, isConfidential } from '../core/base-url.ts';
import { CallsheetError } from '../core/errors.ts';

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
  const fault = baseUrlFault(text);
  if (fault !== undefined) throw new CallsheetError('config', fault.message, { hint: fault.hint });
  const url = new URL(text);
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
