import type { PlanDocument } from '../../../core/plan-document.ts';
import type { Json } from '../../../core/value.ts';
import type { Content, FieldView } from '../../../render/fields.ts';
import { sanitise } from '../../../render/untrusted.ts';
import { blockValue, extentOf, inlineValue, standsForOther } from '../../../render/value-text.ts';
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

export type FieldsProps = {
  readonly views: readonly FieldView[];
  readonly purpose: PlanDocument['purpose'];
};

/** The fields of a change, one below the other. */
export function Fields({ views, purpose }: FieldsProps) {
  return (
    <ul class="fields">
      {views.map((view) => (
        <Field key={view.path} view={view} sides={SIDES[purpose]} />
      ))}
    </ul>
  );
}

const WORDS: { readonly [sign in FieldView['sign']]: string } = {
  '+': 'set',
  '-': 'taken away',
  '~': 'changed',
  '!': 'conflict',
  ' ': '',
};

function Field({
  view: { path, sign, content, remark },
  sides,
}: {
  readonly view: FieldView;
  readonly sides: readonly [string, string];
}) {
  return (
    <li class={`field ${SIGN_CLASS[sign]}`}>
      <h4>
        <span class="sign" aria-hidden="true">
          {sign === '-' ? '−' : sign}
        </span>
        <code>{path}</code>
        {WORDS[sign] === '' ? null : <span class="unseen">, {WORDS[sign]}</span>}
        {remark === null ? null : <span class="remark">{remark}</span>}
      </h4>
      <FieldContent content={content} sides={sides} sign={sign} />
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
  sides,
  sign,
}: {
  readonly content: Content;
  readonly sides: readonly [string, string];
  readonly sign: FieldView['sign'];
}) {
  switch (content.type) {
    case 'words':
      return <p class="value">{content.words}</p>;
    case 'one':
      return <OneValue value={content.value} sign={sign} />;
    case 'both':
      return <TwoValues before={content.before} after={content.after} sides={sides} />;
    case 'conflict':
      return <TwoValues before={content.live} after={content.wanted} sides={sides} />;
  }
}

function isShort(value: Json): boolean {
  if (standsForOther(value)) return true;
  const text = inlineValue(value);
  return text.length <= INLINE && !(typeof value === 'string' && value.trim().includes('\n'));
}

function OneValue({ value, sign }: { readonly value: Json; readonly sign: FieldView['sign'] }) {
  if (isShort(value)) {
    const text = inlineValue(value);
    return (
      <p class="value">
        {sign === '+' ? <ins>{text}</ins> : sign === '-' ? <del>{text}</del> : text}
      </p>
    );
  }
  const text = blockValue(value);
  return (
    <div class="whole">
      {typeof value === 'string' ? <p class="extent">{extentOf(value)}</p> : null}
      <div class={typeof value === 'string' ? 'prose' : 'prose code'}>{sanitise(text)}</div>
    </div>
  );
}

function TwoValues({
  before,
  after,
  sides,
}: {
  readonly before: Json;
  readonly after: Json;
  readonly sides: readonly [string, string];
}) {
  if (isShort(before) && isShort(after)) {
    return (
      <p class="value pair">
        <span class="unseen">{sides[0]}: </span>
        <del>{inlineValue(before)}</del>
        <span aria-hidden="true"> → </span>
        <span class="unseen">; {sides[1]}: </span>
        <ins>{inlineValue(after)}</ins>
      </p>
    );
  }
  return <TextChange before={blockValue(before)} after={blockValue(after)} sides={sides} />;
}
