import { useId, useMemo, useState } from 'preact/hooks';
import { diffProse } from '../../../render/prose/diff-prose.ts';
import type { ProseDiff } from '../../../render/prose/prose-diff.ts';
import { formatCount, formatNumber } from '../../../render/wording.ts';
import { Callouts } from './callouts.tsx';
import { BlockRow } from './text-row.tsx';

type TextChangeProps = {
  readonly before: string;
  readonly after: string;
  /** What the columns are called. */
  readonly sides: readonly [string, string];
  readonly isWhole: boolean;
  /** Whether it is a text that people wrote, not a value laid out in lines. */
  readonly isProse: boolean;
};

/** Blocks that are shown at once. */
const STEP = 200;
/** Longer texts are compared when somebody asks: it takes a while. */
const MOST_UNASKED = 400_000;

/** Two texts side by side. They are compared when the change is opened, and not before. */
export function TextChange(props: TextChangeProps) {
  const { before, after } = props;
  const [isAsked, setAsked] = useState(before.length + after.length <= MOST_UNASKED);
  if (isAsked) return <Comparison {...props} />;
  return (
    <p class="value">
      {formatNumber(before.length)} → {formatNumber(after.length)} characters{' '}
      <button type="button" onClick={() => setAsked(true)}>
        Compare
      </button>
    </p>
  );
}

function Comparison({ before, after, sides, isWhole, isProse }: TextChangeProps) {
  const [most, setMost] = useState(STEP);
  const id = useId();
  const diff = useMemo(
    () => diffProse(before, after, isWhole ? { context: Number.POSITIVE_INFINITY } : {}),
    [before, after, isWhole],
  );
  const shown = isWhole ? diff.blocks.slice(0, 10 * STEP) : diff.blocks.slice(0, most);
  const rest = diff.blocks.length - shown.length;
  return (
    <div class={isProse ? 'text' : 'text code-text'}>
      {isProse ? <Summary diff={diff} /> : null}
      {isProse ? (
        <Callouts diff={diff} id={id} onReach={(at) => setMost(Math.max(most, at + STEP))} />
      ) : null}
      <table class="sides">
        <thead>
          <tr>
            <th scope="col">{sides[0]}</th>
            <th scope="col">{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((block, at) => (
            <BlockRow key={at} block={block} blocks={diff.blocks} id={`${id}-${at}`} />
          ))}
        </tbody>
      </table>
      {rest > 0 ? (
        <p class="rest">
          {isWhole ? (
            `${formatCount(rest, 'more paragraph')}, not printed`
          ) : (
            <button type="button" class="quiet" onClick={() => setMost(most + STEP)}>
              Show {formatCount(Math.min(STEP, rest), 'more paragraph')} of {formatNumber(rest)}
            </button>
          )}
        </p>
      ) : null}
    </div>
  );
}

/** How much of the text differs, so that a reader knows what to expect. */
function Summary({ diff }: { readonly diff: ProseDiff }) {
  const { words, paragraphs } = diff.counts;
  if (diff.whitespaceOnly) return <p class="sum">Only blanks and line breaks differ.</p>;
  const counts: readonly (readonly [number, string])[] = [
    [paragraphs.edited, 'edited'],
    [paragraphs.added, 'added'],
    [paragraphs.removed, 'removed'],
    [paragraphs.moved, 'moved'],
    [paragraphs.same, 'unchanged'],
  ];
  const told = counts.filter(([count]) => count > 0);
  return (
    <p class="sum">
      {words.removed + words.added === 0 ? null : (
        <span class="words">
          {words.removed === 0 ? null : <del>−{formatNumber(words.removed)}</del>}{' '}
          {words.added === 0 ? null : <ins>+{formatNumber(words.added)}</ins>} words
        </span>
      )}
      <span>
        Paragraphs: {told.map(([count, what]) => `${formatNumber(count)} ${what}`).join(', ')}
      </span>
      {diff.limited ? <span>So much differs that some paragraphs are shown as wholes.</span> : null}
    </p>
  );
}
