import { useState } from 'preact/hooks';
import type { PlanDocument } from '../../../core/plan-document.ts';
import type { Json } from '../../../core/value.ts';
import type { Content, FieldView } from '../../../render/fields.ts';
import { blockValue, extentOf, inlineValue, standsForOther } from '../../../render/value-text.ts';
import { formatCount, formatNumber } from '../../../render/wording.ts';
import { TextChange } from './text.tsx';

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
const STEP = 100;
const MOST_PRINTED = 1000;

/** The fields of a change, one below the other. */
export function Fields({ views, purpose, isWhole }: FieldsProps) {
  const [most, setMost] = useState(STEP);
  const shown = isWhole ? views.slice(0, MOST_PRINTED) : views.slice(0, most);
  const rest = views.length - shown.length;
  return (
    <>
      <ul class="fields">
        {shown.map((view, at) => (
          <Field key={at} view={view} sides={SIDES[purpose]} isWhole={isWhole} />
        ))}
      </ul>
      {rest > 0 ? (
        <p class="more">
          {isWhole ? (
            `${formatCount(rest, 'more field')}, not printed`
          ) : (
            <button type="button" onClick={() => setMost(most + STEP)}>
              Show {formatNumber(Math.min(STEP, rest))} of {formatCount(rest, 'more field')}
            </button>
          )}
        </p>
      ) : null}
    </>
  );
}

const WORDS: { readonly [sign in FieldView['sign']]: string } = {
  '+': 'set',
  '-': 'taken away',
  '~': 'changed',
  '!': 'conflict',
  ' ': '',
};

type Shown = { readonly sides: readonly [string, string]; readonly isWhole: boolean };

function Field({
  view: { path, sign, content, remark },
  sides,
  isWhole,
}: Shown & { readonly view: FieldView }) {
  return (
    <li class={`field ${SIGN_CLASS[sign]}`}>
      <h3>
        <span class="sign" aria-hidden="true">
          {sign === '-' ? '−' : sign}
        </span>
        <code>{path}</code>
        {WORDS[sign] === '' ? null : <span class="unseen">, {WORDS[sign]}</span>}
        {remark === null ? null : <span class="remark">{remark}</span>}
      </h3>
      <FieldContent content={content} sides={sides} sign={sign} isWhole={isWhole} />
    </li>
  );
}

const SIGN_CLASS: { readonly [sign in FieldView['sign']]: string } = {
  '+': 'added',
  '-': 'removed',
  '~': 'changed',
  '!': 'conflict',
  ' ': 'plain',
};

function FieldContent({
  content,
  sign,
  ...shown
}: Shown & { readonly content: Content; readonly sign: FieldView['sign'] }) {
  switch (content.type) {
    case 'element':
      return <ElementContent {...content} sign={sign} isWhole={shown.isWhole} />;
    case 'one':
      return <OneValue value={content.value} sign={sign} isWhole={shown.isWhole} />;
    case 'both':
      return <TwoValues before={content.before} after={content.after} {...shown} />;
    case 'conflict':
      return <TwoValues before={content.live} after={content.wanted} {...shown} />;
  }
}

function ElementContent({
  summary,
  members,
  ...shown
}: Omit<Content & { readonly type: 'element' }, 'type'> & {
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
const MOST_TEXT = 20_000;

function OneValue({
  value,
  sign,
  isWhole,
}: {
  readonly value: Json;
  readonly sign: FieldView['sign'];
  readonly isWhole: boolean;
}) {
  const [most, setMost] = useState(MOST_TEXT);
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
  const shown = isWhole ? text.slice(0, 10 * MOST_TEXT) : text.slice(0, most);
  return (
    <div class="whole">
      {isText ? <p class="extent">{extentOf(value)}</p> : null}
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
  ...shown
}: Shown & { readonly before: Json; readonly after: Json }) {
  if (isShort(before) && isShort(after)) {
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
      isProse={typeof before === 'string' && typeof after === 'string'}
      {...shown}
    />
  );
}
