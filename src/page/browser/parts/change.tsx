import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Callout, Change, PlanDocument } from '../../../core/plan-document.ts';
import type { Json } from '../../../core/value.ts';
import { groupByAuthor } from '../../../render/attribution.ts';
import { type FieldView, viewFields } from '../../../render/fields.ts';
import { secretMessage } from '../../../render/footers.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import {
  areVersions,
  blockValue,
  formatExtent,
  inlineValue,
  standsForOther,
} from '../../../render/value-text.ts';
import {
  conflictAdvice,
  describeHow,
  formatCount,
  formatNumber,
  gone,
} from '../../../render/wording.ts';
import { useMore } from './list.tsx';
import { ActionSign, known, Pairs, useActionWords } from './notes.tsx';
import { TextChange } from './text.tsx';

type ChangeProps = {
  readonly change: Change;
  readonly head: PlanDocument;
  /** Whether nothing is folded: on paper nobody can open it. */
  readonly isWhole?: boolean;
  /** What stands between its head and its fields. */
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** Everything that a plan says of one resource. */
export function ChangeDetail({
  change: given,
  head,
  isWhole = false,
  note,
  children,
}: ChangeProps) {
  const change = head.purpose === 'drift' ? gone(given) : given;
  return (
    <article>
      <ChangeHead change={change} />
      {note}
      {head.purpose === 'drift' ? (
        <DriftFields change={given} isWhole={isWhole} />
      ) : (
        <PlanFields change={change} head={head} isWhole={isWhole} />
      )}
      {children}
      <Facts change={change} isOpen={isWhole} />
    </article>
  );
}

function ChangeHead({ change }: { readonly change: Change }) {
  const wordsOf = useActionWords();
  const { address, name, action, adopted, verdict, reason, source, secrets = [] } = change;
  return (
    <header>
      <h2 tabIndex={-1}>
        <ActionSign action={action} />
        {sanitiseLine(address)}
      </h2>
      {name === address ? null : <p class="subtitle">{sanitiseLine(name)}</p>}
      <p class="facts">
        <span class={`badge ${action}`}>{wordsOf(action)}</span>
        {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
        {adopted && action !== 'adopt' ? <span class="badge adopted">adopted</span> : null}
        {source === null ? null : <code>{sanitiseLine(source)}</code>}
      </p>
      <p class={`reason ${verdict}`}>{sanitiseLine(reason)}</p>
      {secrets.map((travel) => (
        <p class={travel.to === travel.before ? 'travel' : 'travel new'} key={travel.path}>
          {sanitiseLine(secretMessage(travel))}
        </p>
      ))}
    </header>
  );
}

type PartProps = { readonly change: Change; readonly isWhole: boolean };

function PlanFields({ change, head, isWhole }: PartProps & { readonly head: PlanDocument }) {
  const { purpose } = head;
  const views = viewFields(change, purpose, false);
  // What a delete takes away: all of it is live, and nobody wrote it here.
  const goes = change.action === 'delete' ? viewFields(change, purpose, true) : [];
  const advice = conflictAdvice(change, head, (command) => command);
  return (
    <>
      {views.length === 0 ? null : <Fields views={views} purpose={purpose} isWhole={isWhole} />}
      {goes.length === 0 ? null : (
        <section class="section">
          <h3>What goes with it</h3>
          <Fields views={goes} purpose="apply" isWhole={isWhole} />
        </section>
      )}
      {advice === undefined ? null : <p class="advice">{sanitiseLine(advice)}</p>}
    </>
  );
}

/** Fields that drifted, below who changed them. */
function DriftFields({ change, isWhole }: PartProps) {
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
            views={viewFields({ ...gone(change), fields }, 'drift', change.action === 'create')}
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

type Shown = { readonly sides: readonly [string, string]; readonly isWhole: boolean };

function Field({
  view: { path, sign, content, remark },
  sides,
  isWhole,
}: Shown & { readonly view: FieldView }) {
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
      <FieldContent content={content} sides={sides} sign={sign} isWhole={isWhole} />
    </li>
  );
}

function FieldContent({
  content,
  sign,
  ...shown
}: Shown & { readonly content: FieldView['content']; readonly sign: FieldView['sign'] }) {
  switch (content.type) {
    case 'element':
      return <ElementContent {...content} sign={sign} isWhole={shown.isWhole} />;
    case 'one':
      return <OneValue value={content.value} sign={sign} isWhole={shown.isWhole} />;
    case 'both':
      return <TwoValues {...content} {...shown} />;
    case 'conflict':
      return (
        <>
          {content.base === undefined ? null : (
            <p class="value">last written: {inlineValue(content.base)}</p>
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
      {summary === '' ? null : <p class="value">{summary}</p>}
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

function isShort(value: Json): boolean {
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
  readonly value: Json;
  readonly sign: FieldView['sign'];
  readonly isWhole: boolean;
}) {
  const [most, setMost] = useState(MOST_VALUE);
  if (isShort(value)) {
    const text = inlineValue(value);
    return (
      <p class="value">
        {sign === '+' ? <ins>{text}</ins> : sign === '-' ? <del>{text}</del> : text}
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
}: Shown & {
  readonly before: Json;
  readonly after: Json;
  readonly callouts: readonly Callout[];
}) {
  if (isShort(before) && isShort(after) && !areVersions(before, after)) {
    return (
      <p class="value pair">
        <span class="unseen">{shown.sides[0]}: </span>
        <del>{inlineValue(before)}</del>
        <span aria-hidden="true"> → </span>
        <span class="unseen">; {shown.sides[1]}: </span>
        <ins>{inlineValue(after)}</ins>
      </p>
    );
  }
  return (
    <TextChange
      before={blockValue(before)}
      after={blockValue(after)}
      callouts={callouts}
      isProse={typeof before === 'string' && typeof after === 'string'}
      {...shown}
    />
  );
}
