import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import {
  type Callout,
  type Change,
  isSecretMoved,
  type PlanDocument,
} from '../../../core/plan-document.ts';
import { groupByAuthor } from '../../../render/attribution.ts';
import {
  conflictPlaces,
  type FieldView,
  listUnseenOf,
  viewFields,
} from '../../../render/fields.ts';
import { secretMessage } from '../../../render/footers.ts';
import type { Shown } from '../../../render/names.ts';
import type { Piece } from '../../../render/prose/blocks.ts';
import { type ConflictPlace, versionLabels } from '../../../render/prose/view.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import {
  areVersions,
  blockValue,
  comparedText,
  formatExtent,
  inlineSides,
  inlineValue,
  standsForOther,
} from '../../../render/value-text.ts';
import {
  describeHow,
  describeOrigin,
  formatCalls,
  formatCount,
  formatNumber,
  gone,
  UNSEEN_SIGN,
} from '../../../render/wording.ts';
import { useMore } from './list.tsx';
import { Message } from './message.tsx';
import { ActionSign, known, Pairs, useActionWords } from './notes.tsx';
import { TextChange } from './text.tsx';

type ChangeProps = {
  readonly change: Change;
  readonly head: PlanDocument;
  /** Whether nothing is folded: on paper nobody can open it. */
  readonly isWhole?: boolean;
  /** Whether it is one of many on the page: what is asked about rarely is left out. */
  readonly isBrief?: boolean;
  /** What stands between its head and its fields. */
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** Everything that a plan says of one resource. */
export function ChangeDetail({
  change: given,
  head,
  isWhole = false,
  isBrief = false,
  note,
  children,
}: ChangeProps) {
  const change = head.purpose === 'drift' ? gone(given) : given;
  return (
    <article>
      <ChangeHead change={change} head={head} />
      {note}
      {head.purpose === 'drift' ? (
        <DriftFields change={given} head={head} isWhole={isWhole} />
      ) : (
        <PlanFields change={change} head={head} isWhole={isWhole} />
      )}
      {children}
      {isBrief ? null : <Facts change={change} isOpen={isWhole} />}
    </article>
  );
}

function ChangeHead({ change, head }: Pick<ChangeProps, 'change' | 'head'>) {
  const wordsOf = useActionWords();
  const { address, name, action, adopted, verdict, reason, source, secrets = [] } = change;
  const calls = formatCalls(change);
  const origin = describeOrigin(change, head);
  return (
    <header>
      <h2 tabIndex={-1}>
        <ActionSign action={action} />
        {sanitiseLine(address)}
      </h2>
      {name === address ? null : <p class="subtitle">{sanitiseLine(name)}</p>}
      <p class="facts">
        {calls === undefined ? null : <span>{calls}</span>}
        <span class={`badge ${action}`}>{wordsOf(action)}</span>
        {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
        {adopted && action !== 'adopt' ? <span class="badge adopted">adopted</span> : null}
        {source === null ? null : <code>{sanitiseLine(source)}</code>}
      </p>
      <p class={`reason ${verdict}`}>
        <Message text={reason} />
      </p>
      {origin === undefined ? null : <p class="hint">{sanitiseLine(origin)}</p>}
      {secrets.map((travel) => (
        <p class={isSecretMoved(travel) ? 'travel new' : 'travel'} key={travel.path}>
          {sanitiseLine(secretMessage(travel))}
        </p>
      ))}
    </header>
  );
}

type PartProps = { readonly change: Change; readonly isWhole: boolean };

function PlanFields({ change, head, isWhole }: PartProps & { readonly head: PlanDocument }) {
  const { purpose } = head;
  const views = viewFields(change, head, false);
  // What a delete takes away: all of it is live, and nobody wrote it here.
  const goes = change.action === 'delete' ? viewFields(change, head, true) : [];
  return (
    <>
      {views.length === 0 ? null : <Fields views={views} purpose={purpose} isWhole={isWhole} />}
      {goes.length === 0 ? null : (
        <section class="section">
          <h3>What goes with it</h3>
          <Fields views={goes} purpose="apply" isWhole={isWhole} />
        </section>
      )}
    </>
  );
}

/** Fields that drifted, below who changed them. */
function DriftFields({ change, head, isWhole }: PartProps & { readonly head: PlanDocument }) {
  return (
    <>
      {groupByAuthor(change, false).map(({ who, edits, fields }, at) => (
        <section class="author" key={at}>
          {who === undefined ? null : <h3>{who}</h3>}
          <ul>
            {edits.map((edit) => (
              <li key={edit}>{edit}</li>
            ))}
          </ul>
          <Fields
            views={viewFields({ ...gone(change), fields }, head, change.action === 'create')}
            purpose="drift"
            isWhole={isWhole}
          />
        </section>
      ))}
    </>
  );
}

/** What is asked about rarely. */
function Facts({ change, isOpen }: { readonly change: Change; readonly isOpen: boolean }) {
  const { id, organization_id: organization, operations, pin } = change;
  const told = known([
    ['Id', id],
    ['Organization', organization],
    ['How', operations.length === 0 ? null : describeHow(change)],
    ['Moved from', change.moved_from],
    ['Missing id', change.missing_id],
    ['Last updated', pin?.updated_at],
    ['Newest history entry', pin?.history_id?.toString()],
  ]);
  if (told.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>Ids and steps</summary>
      <Pairs pairs={told} isCode />
    </details>
  );
}

/** A value that is longer, or has lines, is compared as a text. */
const INLINE = 72;

/** What the two sides are called. */
const SIDES: { readonly [purpose in PlanDocument['purpose']]: readonly [string, string] } = {
  apply: ['Live now', 'Configured'],
  rollback: ['Live now', 'Rolled back'],
  restore: ['Live now', 'Restored'],
  drift: ['As applied', 'Live now'],
  comparison: ['Earlier', 'Later'],
};

type FieldsProps = {
  readonly views: readonly FieldView[];
  readonly purpose: PlanDocument['purpose'];
  /** Whether nothing is folded or kept back. */
  readonly isWhole: boolean;
};

/** Fields that are shown at once. */
const MOST_FIELDS = 100;
const MOST_PRINTED = 1000;

/** The fields of a change, one below the other. */
export function Fields({ views, purpose, isWhole }: FieldsProps) {
  const [most, more] = useMore(views.length, MOST_FIELDS, 'more field');
  const shown = views.slice(0, isWhole ? MOST_PRINTED : most);
  const rest = views.length - shown.length;
  return (
    <>
      <ul class="fields">
        {shown.map((view, at) => (
          <Field key={at} view={view} sides={SIDES[purpose]} isWhole={isWhole} />
        ))}
      </ul>
      {isWhole ? null : more}
      {isWhole && rest > 0 ? (
        <p class="more">{formatCount(rest, 'more field')}, not printed</p>
      ) : null}
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

type Layout = { readonly sides: readonly [string, string]; readonly isWhole: boolean };

function Field({ view, sides, isWhole }: Layout & { readonly view: FieldView }) {
  const { path, sign, content, remark } = view;
  const { word, class: name } = LOOKS[sign];
  return (
    <li class={`field ${name}`}>
      <h3>
        <span class="sign" aria-hidden="true">
          {sign === '-' ? '−' : sign}
        </span>
        <code>{path}</code>
        {word === '' ? null : <span class="unseen">, {word}</span>}
        {remark === null ? null : <span class="remark">{remark}</span>}
      </h3>
      <UnseenNotes view={view} />
      <FieldContent content={content} sides={sides} sign={sign} isWhole={isWhole} />
    </li>
  );
}

/** Lists the differences of a field that a reader cannot see. A long text is searched once, as that takes a while. */
function UnseenNotes({ view }: { readonly view: FieldView }) {
  const notes = useMemo(() => listUnseenOf(view), Object.values(view.content));
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

function FieldContent({
  content,
  sign,
  ...shown
}: Layout & { readonly content: FieldView['content']; readonly sign: FieldView['sign'] }) {
  switch (content.type) {
    case 'element':
      return <ElementContent {...content} sign={sign} isWhole={shown.isWhole} />;
    case 'one':
      return <OneValue value={content.value} sign={sign} isWhole={shown.isWhole} />;
    case 'both':
      return <TwoValues {...content} {...shown} />;
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
            {...shown}
          />
        </>
      );
    }
  }
}

function wordsOf({ text, change }: Piece, key: number) {
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
              {place === null ? null : <bdi>{place}</bdi>} <span class="tag">{title}</span>
            </th>
            {columns.map((label) => {
              const side = sides.find((one) => one.label === label);
              return (
                <td data-label={label} key={label} class={side === undefined ? 'quiet' : ''}>
                  {side === undefined ? 'as applied' : side.pieces?.map(wordsOf)}
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
  ...shown
}: Omit<FieldView['content'] & { readonly type: 'element' }, 'type'> & {
  readonly sign: FieldView['sign'];
  readonly isWhole: boolean;
}) {
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
                <OneValue value={value} {...shown} />
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

function OneValue({
  value,
  sign,
  isWhole,
}: {
  readonly value: Shown;
  readonly sign: FieldView['sign'];
  readonly isWhole: boolean;
}) {
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
  const shown = isWhole ? text.slice(0, 10 * MOST_VALUE) : text.slice(0, most);
  return (
    <div class="whole">
      {isText ? <p class="extent">{formatExtent(value)}</p> : null}
      <div class={isText ? 'prose' : 'prose code'}>
        {shown}
        {shown.length < text.length ? '…' : ''}
      </div>
      {shown.length < text.length && !isWhole ? (
        <button type="button" class="more" onClick={() => setMost(most * 10)}>
          Show more of {formatNumber(text.length)} characters
        </button>
      ) : null}
    </div>
  );
}

function TwoValues({
  before,
  after,
  callouts,
  ...shown
}: Layout & {
  readonly before: Shown;
  readonly after: Shown;
  readonly callouts: readonly Callout[];
}) {
  if (isShort(before) && isShort(after) && !areVersions(before, after)) {
    const sides = inlineSides(before, after);
    return (
      <p class="value pair">
        <span class="unseen">{shown.sides[0]}: </span>
        <del>{sides.before}</del>
        <span aria-hidden="true"> → </span>
        <span class="unseen">; {shown.sides[1]}: </span>
        <ins>{sides.after}</ins>
        {sides.ids === null ? null : <span class="what"> {sides.ids}</span>}
      </p>
    );
  }
  return (
    <TextChange
      before={comparedText(before)}
      after={comparedText(after)}
      callouts={callouts}
      isProse={typeof before === 'string' && typeof after === 'string'}
      {...shown}
    />
  );
}
