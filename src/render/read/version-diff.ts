import { MASK } from '../../core/redact.ts';
import { isSameJson } from '../../core/same-json.ts';
import type { Json } from '../../core/value.ts';
import { fieldLines } from '../field-lines.ts';
import type { FieldView } from '../fields.ts';
import { paint, type RenderOptions, span, wrap } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { noteLines } from './note.ts';

/** A setting in which two versions of an agent differ, or may. */
export type VersionField = {
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
  /** Whether before and after are masked. */
  readonly secret: boolean;
  /** Null where that cannot be told. */
  readonly differs: true | null;
  /** Whether the value is known; a long one need not be. */
  readonly kept: { readonly before: boolean; readonly after: boolean };
};

/** A version that is compared, and where its settings are known from. */
type ComparedVersion = {
  readonly entry: number;
  readonly from: string;
  /** Whether only what a run configured is known. */
  readonly partial: boolean;
};

/** The field diff between two versions. */
export function renderVersionDiffText(
  label: string,
  [one, other]: readonly [ComparedVersion, ComparedVersion],
  fields: readonly VersionField[],
  options: RenderOptions,
): string {
  const { width } = options;
  const told = ({ entry, from, partial }: ComparedVersion) =>
    `${entry}  ${sanitiseLine(from)}${partial ? ', of which only what was configured is known' : ''}`;
  const count =
    fields.length === 0
      ? 'no setting differs'
      : `${formatCount(fields.length, 'setting')} ${fields.length === 1 ? 'differs' : 'differ'}`;
  const head = `${sanitiseLine(label)}, version ${one.entry} → ${other.entry}: ${count}`;
  const note =
    'The platform does not tell the settings of a version: these are known from the runs of the stack and from what is live. Settings that history does not record are not compared.';
  return paint(
    [
      ...noteLines(head, width),
      ...[one, other].flatMap((version) =>
        wrap([span(`  ${told(version)}`, 'dim')], width, `${version.entry}`.length + 4),
      ),
      ...(fields.length === 0 ? [] : [[], ...fieldLines(fields.map(viewOf), options)]),
      [span('')],
      ...noteLines(note, width, 'dim'),
    ],
    options.color,
  );
}

function viewOf({ path, before, after, differs, kept }: VersionField): FieldView {
  const view = { path: sanitiseLine(path), remark: null };
  const words = (text: string): FieldView => ({
    ...view,
    sign: '~',
    content: { type: 'element', summary: text, members: [] },
  });
  if (differs === null) return words('cannot be told: a run no longer configured it');
  if (!(kept.before && kept.after)) return words('differs; of the long text only a digest is kept');
  if (before === MASK && after === MASK) return words(MASK);
  if (isSameJson(before, after)) return words('differs in what is masked');
  if (before === null) return { ...view, sign: '+', content: { type: 'one', value: after } };
  if (after === null) return { ...view, sign: '-', content: { type: 'one', value: before } };
  return { ...view, sign: '~', content: { type: 'both', before, after } };
}
