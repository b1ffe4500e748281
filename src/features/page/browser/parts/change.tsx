import type { ComponentChildren } from 'preact';
import { useContext, useMemo, useState } from 'preact/hooks';
import {
  type Callout,
  type Change,
  isEdited,
  isSecretMoved,
  type PlanDocument,
} from '../../../../core/plan-document.ts';
import { groupByAuthor } from '../../../../render/attribution.ts';
import {
  conflictPlaces,
  type FieldView,
  listUnseenInField,
  viewFields,
} from '../../../../render/fields.ts';
import type { Shown } from '../../../../render/names.ts';
import type { Piece } from '../../../../render/prose/blocks.ts';
import { type ConflictPlace, versionLabels } from '../../../../render/prose/view.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import {
  areVersions,
  blockValue,
  comparedText,
  formatExtent,
  inlineSides,
  inlineValue,
  standsForOther,
} from '../../../../render/value-text.ts';
import {
  describeHow,
  describeLoss,
  describeOrigin,
  formatCalls,
  formatCount,
  formatNumber,
  gone,
  UNSEEN_SIGN,
} from '../../../../render/wording.ts';
import { Looked } from '../page.ts';
import { useMore } from './list.tsx';
import { Message } from './message.tsx';
import { ActionSign, known, Pairs, useActionWords } from './notes.tsx';
import { type Sides, TextChange } from './text.tsx';

type CardProps = {
  readonly change: Change;
  readonly head: PlanDocument;
  /** True if its fields say why it changes. */
  readonly isExplained?: boolean;
  /** Content between the head and the fields of the card. */
  readonly note?: ComponentChildren;
  /** The name under which it is kept that somebody looked at it; undefined where that is not asked. */
  readonly seen?: string;
};

/** Everything that a plan says of one resource. */
export function ChangeCard({ change: given, head, isExplained = false, note, seen }: CardProps) {
  const change = head.purpose === 'drift' ? gone(given) : given;
  const { address, name, action, verdict, adopted, reason, source } = change;
  const nameAction = useActionWords();
  const calls = formatCalls(change);
  const origin = describeOrigin(change, head);
  const loss = describeLoss(change, head);
  return (
    <article class={`card ${getWeight(change)}`} id={address}>
      <header>
        <h3 tabIndex={-1}>
          <ActionSign action={action} /> {sanitiseLine(name)}
        </h3>
        {name === address ? null : <code>{sanitiseLine(address)}</code>}
        {action === 'update' ? null : <span class={`badge ${action}`}>{nameAction(action)}</span>}
        <VerdictBadge verdict={verdict} />
        {adopted && action !== 'adopt' ? <span class="badge adopted">adopted</span> : null}
        {calls === undefined ? null : <span class="calls">{calls}</span>}
      </header>
      <div class="body">
        {isExplained ? null : (
          <p class="reason">
            <Message text={reason} />
          </p>
        )}
        {origin === undefined ? null : <p class="hint">{sanitiseLine(origin)}</p>}
        {loss === undefined ? null : <p class="reason">{loss}</p>}
        {note}
        {head.purpose === 'drift' ? (
          <DriftFields change={given} head={head} />
        ) : (
          <PlanFields change={change} head={head} />
        )}
        {source === null ? null : (
          <p class="hint">
            <code>{sanitiseLine(source)}</code>
          </p>
        )}
      </div>
      {seen === undefined ? (
        <Facts change={change} />
      ) : (
        <SeenBox name={name} card={seen}>
          <Facts change={change} />
        </SeenBox>
      )}
    </article>
  );
}

/** The warnings that the edge of a card gives. */
function getWeight({ action, verdict, fields, secrets = [], callouts = [] }: Change): string {
  if (action === 'delete' || action === 'replace') return 'gone';
  const isMoved = secrets.some((travel) => isSecretMoved(travel) && travel.before !== null);
  const isReversed = callouts.some(({ sort }) => sort === 'reversed');
  return verdict !== 'ok' || isMoved || isReversed || fields.some(isEdited) ? 'care' : '';
}

export function VerdictBadge({ verdict }: Pick<Change, 'verdict'>) {
  return verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>;
}

type SeenProps = {
  readonly name: string;
  readonly card: string;
  readonly children?: ComponentChildren;
};

/** Lets a reader mark a card as read. */
export function SeenBox({ name, card, children }: SeenProps) {
  const { looked, look } = useContext(Looked);
  return (
    <div class="seen">
      <label>
        <input
          type="checkbox"
          checked={looked.has(card)}
          onChange={({ currentTarget }) => look(card, currentTarget.checked)}
        />
        I have looked at this<span class="unseen">: {sanitiseLine(name)}</span>
      </label>
      {children}
    </div>
  );
}

type PartProps = { readonly change: Change; readonly head: PlanDocument };

function PlanFields({ change, head }: PartProps) {
  const { purpose } = head;
  const views = viewFields(change, head, false);
  return (
    <>
      {views.length === 0 ? null : <Fields views={views} purpose={purpose} />}
      {change.action !== 'delete' ? null : <Lost change={change} head={head} />}
    </>
  );
}

/** The live values that a delete takes away, laid out once somebody asks. */
function Lost({ change, head }: PartProps) {
  const [isOpen, setOpen] = useState(false);
  const views = useMemo(() => viewFields(change, head, true), [change, head]);
  if (views.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What goes with it: {formatCount(views.length, 'field')}</summary>
      {isOpen ? <Fields views={views} purpose="apply" /> : null}
    </details>
  );
}

/** Fields that drifted, below who changed them. */
function DriftFields({ change, head }: PartProps) {
  return (
    <>
      {groupByAuthor(change, false).map(({ who, edits, fields }, at) => (
        <section class="author" key={at}>
          {who === undefined ? null : <h4>{who}</h4>}
          <ul>
            {edits.map((edit) => (
              <li key={edit}>{edit}</li>
            ))}
          </ul>
          <Fields
            views={viewFields({ ...gone(change), fields }, head, change.action === 'create')}
            purpose="drift"
          />
        </section>
      ))}
    </>
  );
}

/** Details that are rarely needed. */
function Facts({ change }: Pick<PartProps, 'change'>) {
  const { id, organization_id: organization, operations, pin } = change;
  const pairs = known([
    ['Id', id],
    ['Organization', organization],
    ['How', operations.length === 0 ? null : describeHow(change)],
    ['Moved from', change.moved_from],
    ['Missing id', change.missing_id],
    ['Last updated', pin?.updated_at],
    ['Newest history entry', pin?.history_id?.toString()],
  ]);
  if (pairs.length === 0) return null;
  return (
    <details class="ids">
      <summary>Ids and steps</summary>
      <Pairs pairs={pairs} isCode />
    </details>
  );
}

/** A value that is longer, or has lines, is compared as a text. */
const INLINE = 72;

const SIDES = ['was', 'now'] as const;
const DRIFT_SIDES = ['was', 'live'] as const;
const CONFLICT_SIDES = ['live', 'this plan'] as const;

type FieldsProps = {
  readonly views: readonly FieldView[];
  readonly purpose: PlanDocument['purpose'];
};

/** Fields that are shown at once. */
const MOST_FIELDS = 100;

export function Fields({ views, purpose }: FieldsProps) {
  const [most, more] = useMore(views.length, MOST_FIELDS, 'more field');
  const sides = purpose === 'drift' ? DRIFT_SIDES : SIDES;
  return (
    <>
      <ul class="fields">
        {views.slice(0, most).map((view, at) => (
          <Field key={at} view={view} sides={sides} />
        ))}
      </ul>
      {more}
    </>
  );
}

const LOOKS: {
  readonly [sign in FieldView['sign']]: { readonly word: string; readonly class: string };
} = {
  '+': { word: 'set', class: 'added' },
  '-': { word: 'taken away', class: 'removed' },
  '~': { word: 'changed', class: 'changed' },
  '!': { word: 'conflict', class: 'conflict' },
  ' ': { word: '', class: 'plain' },
};

type FieldProps = { readonly view: FieldView; readonly sides: Sides };

function Field({ view, sides }: FieldProps) {
  const { path, sign, content, remark } = view;
  const { word, class: name } = LOOKS[sign];
  return (
    <li class={`field ${name}`}>
      <p class="path">
        <span class="sign" aria-hidden="true">
          {sign === '-' ? '−' : sign}
        </span>
        <code>{path}</code>
        {word === '' ? null : <span class="unseen">, {word}</span>}
        {remark === null ? null : <span class="remark">{remark}</span>}
      </p>
      <UnseenNotes view={view} />
      <FieldContent content={content} sides={sides} sign={sign} />
    </li>
  );
}

/** Lists the differences of a field that a reader cannot see. A long text is searched once, as that takes a while. */
function UnseenNotes({ view }: { readonly view: FieldView }) {
  const notes = useMemo(() => listUnseenInField(view), Object.values(view.content));
  if (notes.length === 0) return null;
  return (
    <ul class="unseen-notes">
      {notes.map((text) => (
        <li key={text}>
          <span aria-hidden="true">{UNSEEN_SIGN} </span>
          <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  );
}

type ContentProps = Pick<FieldView, 'content' | 'sign'> & Pick<FieldProps, 'sides'>;

function FieldContent({ content, sign, sides }: ContentProps) {
  switch (content.type) {
    case 'element':
      return <ElementContent {...content} sign={sign} />;
    case 'one':
      return <OneValue value={content.value} sign={sign} />;
    case 'both':
      return <TwoValues {...content} sides={sides} />;
    case 'conflict': {
      const places = conflictPlaces(content, 'whole');
      if (places !== undefined) return <ConflictTable places={places} purpose={content.purpose} />;
      return (
        <>
          {content.base === undefined ? null : (
            <p class="value">
              {versionLabels(content.purpose).base}: <bdi>{inlineValue(content.base)}</bdi>
            </p>
          )}
          <TwoValues
            before={content.live}
            after={content.wanted}
            callouts={content.callouts}
            sides={CONFLICT_SIDES}
          />
        </>
      );
    }
  }
}

function drawPiece({ text, change }: Piece, key: number) {
  if (change === 'same') return text;
  return change === 'removed' ? <del key={key}>{text}</del> : <ins key={key}>{text}</ins>;
}

/** The places that two sides changed, with a column for each version of them. */
function ConflictTable({
  places,
  purpose,
}: {
  readonly places: readonly ConflictPlace[];
  readonly purpose: PlanDocument['purpose'];
}) {
  const { base, live, own } = versionLabels(purpose);
  const columns = [base, live, own];
  return (
    <table class="three">
      <thead>
        <tr>
          <th scope="col">Where</th>
          {columns.map((label) => (
            <th scope="col" key={label}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {places.map(({ changedBy, title, place, sides }, at) => (
          <tr class={changedBy} key={at}>
            <th scope="row">
              <span class="tag">{title}</span>
              {place === null ? null : <bdi>{place}</bdi>}
            </th>
            {columns.map((label) => {
              const side = sides.find((one) => one.label === label);
              return (
                <td data-label={label} key={label} class={side === undefined ? 'quiet' : ''}>
                  {side === undefined ? 'as applied' : side.pieces?.map(drawPiece)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ElementContent({
  summary,
  members,
  sign,
}: Omit<FieldView['content'] & { readonly type: 'element' }, 'type'> & Pick<FieldView, 'sign'>) {
  return (
    <>
      {summary === '' ? null : (
        <p class="value">
          <bdi>{summary}</bdi>
        </p>
      )}
      {members.length === 0 ? null : (
        <dl class="members">
          {members.map(({ key, value }, at) => (
            <div key={at}>
              <dt>{key === '' ? null : <code>{key}</code>}</dt>
              <dd>
                <OneValue value={value} sign={sign} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function isShort(value: Shown): boolean {
  if (standsForOther(value)) return true;
  const text = inlineValue(value);
  return text.length <= INLINE && !(typeof value === 'string' && value.trim().includes('\n'));
}

/** Characters of a long text that are shown at once. */
const MOST_VALUE = 20_000;

function OneValue({ value, sign }: Pick<FieldView, 'sign'> & { readonly value: Shown }) {
  const [most, setMost] = useState(MOST_VALUE);
  if (isShort(value)) {
    const text = inlineValue(value);
    return (
      <p class="value">
        {sign === '+' ? <ins>{text}</ins> : sign === '-' ? <del>{text}</del> : <bdi>{text}</bdi>}
      </p>
    );
  }
  const text = blockValue(value);
  const isText = typeof value === 'string';
  const shown = text.slice(0, most);
  return (
    <div class="whole">
      {isText ? <p class="extent">{formatExtent(value)}</p> : null}
      <div class={isText ? 'prose' : 'prose code'}>
        {shown}
        {shown.length < text.length ? '…' : ''}
      </div>
      {shown.length < text.length ? (
        <button type="button" class="more" onClick={() => setMost(most * 10)}>
          Show more of {formatNumber(text.length)} characters
        </button>
      ) : null}
    </div>
  );
}

type TwoProps = Pick<FieldProps, 'sides'> & {
  readonly before: Shown;
  readonly after: Shown;
  readonly callouts: readonly Callout[];
};

function TwoValues({ before, after, callouts, sides }: TwoProps) {
  if (isShort(before) && isShort(after) && !areVersions(before, after)) {
    const inline = inlineSides(before, after);
    const [old, fresh] = splitSides(inline.before, inline.after);
    return (
      <>
        <dl class="pair code">
          <dt class="removed">{sides[0]}</dt>
          <dd class="removed">
            {old.start}
            {old.own === '' ? null : <del>{old.own}</del>}
            {old.end}
          </dd>
          <dt class="added">{sides[1]}</dt>
          <dd class="added">
            {fresh.start}
            {fresh.own === '' ? null : <ins>{fresh.own}</ins>}
            {fresh.end}
          </dd>
        </dl>
        {inline.ids === null ? null : <p class="hint">{inline.ids}</p>}
      </>
    );
  }
  return (
    <TextChange
      before={comparedText(before)}
      after={comparedText(after)}
      callouts={callouts}
      isProse={typeof before === 'string' && typeof after === 'string'}
      sides={sides}
    />
  );
}

type SplitSide = { readonly start: string; readonly own: string; readonly end: string };

/** Between words, and between the parts of an address, so that a host or a number is marked whole. */
const JOINT = /(?<=[\s/"=?&,;])|(?=[\s/"=?&,;])/;

/** Splits two values where they begin to differ, and where they are the same again. */
function splitSides(before: string, after: string): readonly [SplitSide, SplitSide] {
  const [old, fresh] = [before.split(JOINT), after.split(JOINT)];
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const split = (parts: readonly string[]) => ({
    start: parts.slice(0, start).join(''),
    own: parts.slice(start, parts.length - end).join(''),
    end: parts.slice(parts.length - end).join(''),
  });
  return [split(old), split(fresh)];
}
