import type { Draft } from './draft-blocks.ts';
import type { Block } from './prose-diff.ts';

type Same = {
  readonly block: Block & { readonly type: 'same' };
  readonly title: string | undefined;
};

/** Folds what is unchanged but for `context` paragraphs next to a change and the heading above one. */
export function foldBlocks(drafts: readonly Draft[], context: number): readonly Draft[] {
  const folded: Draft[] = [];
  let run: Same[] = [];
  const flush = (isBelow: boolean) => {
    const head = folded.length > 0 ? context : 0;
    const blocks = foldRun(run, head, isBelow ? context : 0, isBelow);
    folded.push(...blocks.map((block): Draft => ({ block, found: [], title: undefined })));
    run = [];
  };
  for (const draft of drafts) {
    const { block, title } = draft;
    if (block.type === 'same') run.push({ block, title });
    else {
      flush(true);
      folded.push(draft);
    }
  }
  flush(false);
  return folded;
}

function foldRun(
  run: readonly Same[],
  head: number,
  tail: number,
  isBelow: boolean,
): readonly Block[] {
  const blocksOf = (some: readonly Same[]) => some.map(({ block }) => block);
  if (run.length <= head + tail) return blocksOf(run);
  const middle = run.slice(head, run.length - tail);
  const end = run.slice(run.length - tail);
  const isHeading = ({ title }: Same) => title !== undefined;
  // The heading that says where the change below stands.
  const at = isBelow && !end.some(isHeading) ? middle.findLastIndex(isHeading) : -1;
  return [
    ...blocksOf(run.slice(0, head)),
    ...foldOf(middle.slice(0, Math.max(at, 0))),
    ...(at < 0 ? [] : blocksOf(middle.slice(at, at + 1))),
    ...foldOf(middle.slice(at + 1)),
    ...blocksOf(end),
  ];
}

/** A single paragraph of a line takes no more room than a fold would. */
const SHORT = 80;

function foldOf(run: readonly Same[]): readonly Block[] {
  const first = run[0]?.block;
  if (first === undefined || (run.length === 1 && first.text.length <= SHORT)) {
    return first === undefined ? [] : [first];
  }
  const text = run.map(({ block }) => block.text).join('');
  const was = run.map(({ block }) => block.was ?? block.text).join('');
  return [
    {
      type: 'fold',
      heading: first.heading,
      line: first.line,
      text,
      ...(was === text ? {} : { was }),
      paragraphs: run.length,
      headings: run.flatMap(({ title }) => title ?? []),
    },
  ];
}
