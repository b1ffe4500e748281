import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../../../render/failure.ts';
import { sanitise } from '../../../render/untrusted.ts';

/** A document of the server, on its way or here. */
type Fetched<T> =
  | { readonly state: 'waiting' }
  | { readonly state: 'here'; readonly document: T }
  | { readonly state: 'failed'; readonly message: string; readonly hint: string | null };

/** Asks for a document, again whenever `turn` changes; undefined asks for nothing yet. */
export function useDocument<T>(path: string | undefined, turn = 0): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T>>({ state: 'waiting' });
  useEffect(() => {
    if (path === undefined) return;
    const gone = new AbortController();
    ask<T>(path, gone.signal).then(
      (answer) => {
        if (!gone.signal.aborted) setFetched(answer);
      },
      () => {
        if (!gone.signal.aborted) setFetched(AWAY);
      },
    );
    return () => gone.abort();
  }, [path, turn]);
  return fetched;
}

const AWAY = {
  state: 'failed',
  message: 'callsheet ui does not answer',
  hint: 'It may have been stopped. Start it again and open the address that it prints.',
} as const;

async function ask<T>(path: string, signal: AbortSignal): Promise<Fetched<T>> {
  const answer = await fetch(path, { signal });
  const text = await answer.text();
  if (answer.ok) return { state: 'here', document: JSON.parse(text) };
  try {
    const { error } = JSON.parse(text) as { readonly error: Failure };
    const problems = error.diagnostics.map(({ message }) => message);
    const message = [error.message, ...problems].join('\n');
    return { state: 'failed', message, hint: error.hint };
  } catch {
    return { state: 'failed', message: text, hint: null };
  }
}

type FetchingProps<T> = {
  readonly fetched: Fetched<T>;
  /** What is on its way, for the meantime. */
  readonly waiting: string;
  readonly children: (document: T) => ComponentChildren;
};

/** Shows a document, or why there is none. */
export function Fetching<T>({ fetched, waiting, children }: FetchingProps<T>) {
  switch (fetched.state) {
    case 'waiting':
      return (
        <p class="hint" role="status">
          {waiting}
        </p>
      );
    case 'failed':
      return (
        <section class="note error" role="alert">
          <h3 class="lines">{sanitise(fetched.message)}</h3>
          {fetched.hint === null ? null : <p class="do">{sanitise(fetched.hint)}</p>}
        </section>
      );
    case 'here':
      return <>{children(fetched.document)}</>;
  }
}
