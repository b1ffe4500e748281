/** What a request was, for messages. The URL has no query and no credentials. */
export type RequestLine = { readonly method: string; readonly url: string };

/** A URL as messages show it: without credentials, and without the query, where a presigned one has its signature. */
export function plainUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
}

/** What to do where an answer is none of the platform's. */
export const NOT_THE_PLATFORM =
  'Check that base_url is the address of the Voice Agent Platform and not of a website or proxy before it.';
