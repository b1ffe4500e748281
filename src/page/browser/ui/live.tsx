import { useEffect, useState } from 'preact/hooks';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatNumber } from '../../../render/wording.ts';
import type { LiveEvent } from '../../live.ts';
import { follow, type RunNow, type Step } from '../model/live.ts';

type Live = {
  readonly connection: 'on' | 'off';
  readonly run: RunNow | undefined;
  /** How many runs ended while somebody looked: what is shown is asked for again then. */
  readonly ended: number;
};

/** Listens to what runs do. The browser connects again by itself when it was cut off. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ connection: 'off', run: undefined, ended: 0 });
  useEffect(() => {
    const source = new EventSource('events');
    source.onopen = () => setLive((now) => ({ ...now, connection: 'on' }));
    source.onerror = () => setLive((now) => ({ ...now, connection: 'off' }));
    source.onmessage = ({ data }) => {
      const event: LiveEvent = JSON.parse(data);
      setLive((now) => ({
        ...now,
        run: follow(now.run, event),
        ended: now.ended + (event.type === 'gone' ? 1 : 0),
      }));
    };
    return () => source.close();
  }, []);
  return live;
}

/** What a run is doing at this moment. */
export function LiveRun({ run }: { readonly run: RunNow }) {
  const { purpose, user, sent, answered, waiting, failures, latest, status } = run;
  return (
    <section class="now" aria-labelledby="now-title">
      <h2 id="now-title">
        {sanitiseLine(purpose)} <code>{sanitiseLine(run.run)}</code>
        {user === null ? '' : ` by ${sanitiseLine(user)}`}
      </h2>
      <p class="figures">
        <strong>{formatNumber(answered)}</strong> of {formatCount(sent, 'request')} answered,{' '}
        <strong>{formatNumber(waiting.size)}</strong> under way
        {failures.length === 0 ? null : (
          <span class="failed">, {formatCount(failures.length, 'failure')}</span>
        )}
        {status === undefined ? '' : `; ended: ${sanitiseLine(status)}`}
      </p>
      <div class="links">
        <Steps title="Under way" steps={[...waiting.values()]} />
        <Steps title="Done last" steps={latest} />
      </div>
      {failures.length === 0 ? null : (
        <ul class="failures">
          {failures.map(({ address, step, error }, at) => (
            <li key={at}>
              <code>{sanitiseLine(address)}</code> {sanitiseLine(step)}: {sanitiseLine(error)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const MOST = 8;

function Steps({ title, steps }: { readonly title: string; readonly steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {steps.slice(0, MOST).map(({ address, step }, at) => (
          <li key={at}>
            {sanitiseLine(address)} <span class="what">{sanitiseLine(step)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
