/** Where to listen. */
export type ListenAddress = { readonly host: string; readonly port: number };

/** `127.0.0.1:9464`, `[::1]:9464`; undefined where a text is none. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, six, four, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = six ?? four;
  if (host === undefined || digits === undefined || port > 65_535) return undefined;
  return { host, port };
}

/** Whether only this machine reaches it. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
