import { useState } from 'preact/hooks';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import type { UiStart } from '../../live.ts';
import type { Packed } from '../../pack.ts';
import { readPlan } from '../model/plan.ts';
import { Review } from '../parts/review.tsx';
import { ThemeSwitch } from '../parts/top.tsx';
import { Fleet } from './fleet.tsx';
import { Fetching, LiveRun, Runs, useDocument, useLive } from './runs.tsx';

const VIEWS = ['fleet', 'runs', 'drift', 'plan'] as const;
type View = (typeof VIEWS)[number];

const TITLES: { readonly [view in View]: string } = {
  fleet: 'Fleet',
  runs: 'Runs',
  drift: 'Drift',
  plan: 'Plan',
};

/** The pages of `callsheet ui`: the recorded stack, the runs, the drift, and a plan. */
export function Shell({ start }: { readonly start: UiStart }) {
  const [view, setView] = useState<View>(start.hasPlan ? 'plan' : 'fleet');
  const live = useLive();
  return (
    <div class="shell">
      <header class="bar">
        <p class="brand">
          <strong>Callsheet</strong> <code>{sanitiseLine(start.dir)}</code>
        </p>
        <nav aria-label="Parts">
          {VIEWS.filter((one) => one !== 'plan' || start.hasPlan).map((one) => (
            <button
              type="button"
              key={one}
              aria-current={one === view ? 'page' : undefined}
              onClick={() => setView(one)}
            >
              {TITLES[one]}
            </button>
          ))}
        </nav>
        <p class="live" role="status">
          <span class={`dot ${live.connection}`} aria-hidden="true" />
          {live.run === undefined
            ? live.connection === 'on'
              ? 'No run at work'
              : 'Connecting…'
            : `${live.run.purpose} at work`}
        </p>
        {view === 'plan' || view === 'drift' ? null : <ThemeSwitch />}
      </header>
      {view === 'fleet' || view === 'runs' ? (
        <main class="page">
          {live.run === undefined ? null : <LiveRun run={live.run} />}
          {view === 'fleet' ? (
            <Fleet turn={live.ended} hasPlan={start.hasPlan} />
          ) : (
            <Runs turn={live.ended} />
          )}
        </main>
      ) : null}
      {view === 'drift' ? <Drift /> : null}
      {view === 'plan' ? (
        <Reviewed path="plan.json" title="Plan" waiting="Reading the plan…" />
      ) : null}
    </div>
  );
}

/** Drift is only looked for when somebody asks: it reads the platform. */
function Drift() {
  const [isAsked, setAsked] = useState(false);
  if (isAsked) return <Reviewed path="drift.json" title="Drift" waiting="Reading the platform…" />;
  return (
    <main class="page">
      <h1>Drift</h1>
      <p class="hint">
        What changed on the platform since Callsheet last wrote there. Looking for it reads every
        resource of the stack, as <code>callsheet drift</code> does; nothing is written.
      </p>
      <button type="button" onClick={() => setAsked(true)}>
        Look for drift
      </button>
    </main>
  );
}

/** A plan or drift, as the report shows it. */
type ReviewedProps = {
  readonly path: string;
  readonly title: string;
  readonly waiting: string;
};

function Reviewed({ path, title, waiting }: ReviewedProps) {
  const fetched = useDocument<Packed>(path);
  if (fetched.state === 'here') return <PackedReview packed={fetched.document} />;
  return (
    <main class="page">
      <h1>{title}</h1>
      <Fetching fetched={fetched} waiting={waiting}>
        {() => null}
      </Fetching>
    </main>
  );
}

function PackedReview({ packed }: { readonly packed: Packed }) {
  const [plan] = useState(() => readPlan(packed));
  return (
    <div class="within">
      <Review plan={plan} />
    </div>
  );
}
