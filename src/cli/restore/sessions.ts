import type { Session } from '../session.ts';

/** One session after the other: what was read before a write is old after it. */
export type Sessions = {
  readonly current: () => Promise<Session>;
  /** The next one that is asked for is another. */
  readonly renew: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function openSessions(open: () => Promise<Session>): Sessions {
  let session: Session | undefined;
  async function renew(): Promise<void> {
    const old = session;
    session = undefined;
    await old?.close();
  }
  return {
    async current() {
      session ??= await open();
      return session;
    },
    renew,
    close: renew,
  };
}
