import { useState } from 'preact/hooks';
import type { Callout, Mark, ProseDiff } from '../../../render/prose/prose-diff.ts';
import { formatNumber } from '../../../render/wording.ts';

/** Callouts that are shown at once. */
const STEP = 6;

const NAMES: { readonly [mark in Mark]: string } = {
  token: 'Token',
  tool: 'Tool',
  phone: 'Phone number',
  number: 'Number',
  negation: 'Negation',
};

type CalloutsProps = {
  readonly diff: ProseDiff;
  /** What the ids of the rows begin with. */
  readonly id: string;
  /** Has the row of a block shown. */
  readonly onReach: (block: number) => void;
};

/** Changes that turn what a text does, named before it is read. */
export function Callouts({ diff: { blocks, callouts, moreCallouts }, id, onReach }: CalloutsProps) {
  const [most, setMost] = useState(STEP);
  if (callouts.length === 0) return null;
  const rest = callouts.length - most;
  const goTo = (block: number) => () => {
    onReach(block);
    requestAnimationFrame(() => {
      const row = document.getElementById(`${id}-${block}`);
      row?.scrollIntoView({ block: 'center' });
      row?.focus();
    });
  };
  return (
    <div class="callouts">
      <h4>Look at</h4>
      <ul>
        {callouts.slice(0, most).map((callout, at) => (
          <li key={at}>
            <button type="button" onClick={goTo(callout.block)}>
              <span class="mark">{NAMES[callout.mark]}</span>
              <Words callout={callout} />
              <span class="where">{placeWords(callout, blocks)}</span>
            </button>
          </li>
        ))}
        {rest > 0 ? (
          <li>
            <button type="button" class="quiet" onClick={() => setMost(callouts.length)}>
              {formatNumber(rest + moreCallouts)} more
            </button>
          </li>
        ) : null}
      </ul>
    </div>
  );
}

function Words({ callout: { before, after } }: { readonly callout: Callout }) {
  if (before === after) return <span class="turn">moved: {after}</span>;
  return (
    <span class="turn">
      {before === null ? null : <del>{before}</del>}
      {before !== null && after !== null ? <span aria-hidden="true">→</span> : null}
      {after === null ? null : <ins>{after}</ins>}
    </span>
  );
}

/** What is gone stands in the old text alone. */
function placeWords({ heading, line, times, block }: Callout, blocks: ProseDiff['blocks']): string {
  const which = blocks[block]?.type === 'removed' ? 'old line' : 'line';
  const often = times > 1 ? `, ${formatNumber(times)} times` : '';
  return `${heading === null ? '' : `${heading}, `}${which} ${formatNumber(line)}${often}`;
}
