import { useMemo, useState } from 'preact/hooks';
import type { Log } from '../../../../core/documents.generated.ts';
import { clip } from '../../../../core/errors.ts';
import { inSeconds } from '../../../../core/value.ts';
import { viewSides } from '../../../../render/fields.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { formatCount, formatNumber } from '../../../../render/wording.ts';
import { createCalloutFinder } from '../../../review/callouts/callouts.ts';
import {
  type EditedText,
  listEditedTexts,
  type ParagraphEdit,
  type TextEdit,
  traceParagraphs,
} from '../model/heat.ts';
import { Fields } from '../parts/change.tsx';
import { moveFocus } from '../parts/map.tsx';
import { instant } from '../parts/notes.tsx';
import { FEWEST_DRAWN } from '../parts/timeline.tsx';
import { Fetching, useDocument } from './runs.tsx';

/** Edits that are drawn, the newest: as many as stand side by side on a phone. */
const MOST_DRAWN = 8;
/** Characters of two versions; more take long to compare. */
const MOST_COMPARED = 50_000;
/** Characters of a paragraph that name it. */
const MOST_NAMED = 60;

type ResourceProps = {
  readonly address: string;
  readonly turn: number;
  readonly onClose: () => void;
};

const focus = (button: HTMLButtonElement | null) => button?.focus();

/** A resource with the paragraphs of its texts against their edits. */
export function Resource({ address, turn, onClose }: ResourceProps) {
  const fetched = useDocument<Log.Document>(`log/${encodeURIComponent(address)}.json`, turn);
  return (
    <>
      <p class="more">
        <button type="button" ref={focus} onClick={onClose}>
          ← Fleet
        </button>
      </p>
      <h1>
        <code>{sanitiseLine(address)}</code>
      </h1>
      <Fetching fetched={fetched} waiting="Reading the runs and the platform’s history…">
        {(document) => <Texts document={document} />}
      </Fetching>
    </>
  );
}

function Texts({ document: { data, history, since } }: { readonly document: Log.Document }) {
  const texts = useMemo(() => listEditedTexts(data), [data]);
  const when = since === null ? '' : ` since ${sanitiseLine(since.slice(0, 10))}`;
  return (
    <>
      <p class="hint">
        {texts.length === 0 ? 'No text of several paragraphs was' : 'Which paragraphs were'} edited
        {when}. {sanitiseLine(history.missing ?? '')}
      </p>
      {texts.map((text) => (
        <section class="map heat" key={text.path}>
          <h2>
            <code>{sanitiseLine(text.path)}</code>
          </h2>
          <Heat text={text} />
        </section>
      ))}
    </>
  );
}

function describe({ at, by }: TextEdit): string {
  return `${at === null ? 'at an unknown time' : instant(at)}, by ${sanitiseLine(by ?? 'someone')}`;
}

function Heat({ text: { edits, lost } }: { readonly text: EditedText }) {
  const isLong = edits.some(({ before, after }) => before.length + after.length > MOST_COMPARED);
  const isDrawn = edits.length >= FEWEST_DRAWN && !isLong;
  const drawn = edits.slice(-MOST_DRAWN);
  const hints = [
    isDrawn ? '' : `Edited ${drawn.map(describe).join('; ')}.`,
    isLong ? 'The text is too long to compare its paragraphs.' : '',
    edits.length > MOST_DRAWN ? `Before: ${formatCount(edits.length - MOST_DRAWN, 'edit')}.` : '',
    lost > 0 ? `Of ${formatCount(lost, 'more edit')} a text is not kept.` : '',
  ].filter((sentence) => sentence !== '');
  return (
    <>
      {isDrawn ? <Picture edits={drawn} /> : null}
      {hints.length === 0 ? null : <p class="hint">{hints.join(' ')}</p>}
    </>
  );
}

function Picture({ edits }: { readonly edits: readonly TextEdit[] }) {
  const rows = useMemo(
    () =>
      traceParagraphs(edits).map((row) => ({ ...row, count: row.edits.filter(Boolean).length })),
    [edits],
  );
  const [open, setOpen] = useState<ParagraphEdit>();
  const all = rows.flatMap((row) => row.edits.flatMap((edit) => edit ?? []));
  const half = Math.ceil(Math.max(1, ...all.map(({ words }) => words)) / 2);
  const most = Math.max(0, ...rows.map(({ count }) => count));
  const worst = rows
    .filter(({ count }) => count === most)
    .map(({ text }) => clip(text, MOST_NAMED));
  return (
    <>
      <p class="worst">
        {most > 1 && worst.length === 1
          ? `Changed most often, in ${most} of ${edits.length} edits: “${worst.map(sanitiseLine)}”`
          : formatCount(edits.length, 'edit')}
      </p>
      <p class="hint">
        Words that each edit changed, the newest on the right; {formatNumber(half)} or more have the
        stronger shade.
      </p>
      <ul class="paragraphs">
        <li aria-hidden="true">
          <span />
          <span class="cells">
            {edits.map(({ at }, place) => (
              <span key={place}>{sanitiseLine(inSeconds(at ?? '').slice(5, 10))}</span>
            ))}
          </span>
        </li>
        {rows.map(({ text, isGone, count, edits: own }, place) => (
          <li key={place}>
            <span class={count === 0 ? 'never' : undefined}>
              {isGone ? <strong>No longer there: </strong> : null}
              <bdi>{sanitiseLine(text)}</bdi>
              {count === 0 ? null : <small> {formatCount(count, 'edit')}</small>}
            </span>
            {count === 0 ? null : (
              <span class="cells">
                {edits.map((about, at) => (
                  <Cell
                    key={at}
                    edit={own[at]}
                    about={about}
                    half={half}
                    isOpen={open !== undefined && own[at] === open}
                    isTabStop={own[at] === all[0]}
                    onOpen={setOpen}
                  />
                ))}
              </span>
            )}
            {edits.map((about, at) =>
              open !== undefined && own[at] === open ? <Edit {...open} about={about} /> : null,
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

type CellProps = {
  readonly edit: ParagraphEdit | undefined;
  readonly about: TextEdit;
  readonly half: number;
  readonly isOpen: boolean;
  readonly isTabStop: boolean;
  readonly onOpen: (edit: ParagraphEdit | undefined) => void;
};

/** The words that an edit changed, as a number, since a shade alone says nothing to some. */
function Cell({ edit, about, half, isOpen, isTabStop, onOpen }: CellProps) {
  if (edit === undefined) return <i aria-hidden="true" />;
  const { before, after, words } = edit;
  const what = before === null ? 'put in' : after === null ? 'taken out' : 'changed';
  const label = `${describe(about)}: ${formatCount(words, 'word')} ${what}`;
  return (
    <button
      type="button"
      class={words < half ? 'few' : 'many'}
      aria-label={label}
      aria-expanded={isOpen}
      title={label}
      tabIndex={isTabStop ? 0 : -1}
      onKeyDown={moveFocus}
      onClick={() => onOpen(isOpen ? undefined : edit)}
    >
      {formatNumber(words)}
    </button>
  );
}

/** A paragraph before and after an edit. */
function Edit({ before, after, about }: ParagraphEdit & { readonly about: TextEdit }) {
  const title = describe(about) + (about.run === null ? '' : `, run ${about.run}`);
  const view = { ...viewSides(title, before, after, createCalloutFinder()), remark: null };
  return <Fields views={[view]} purpose="comparison" />;
}
