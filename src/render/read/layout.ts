import type { JsonObject } from '../../core/value.ts';
import type { Tone } from '../terminal.ts';
import { textWidth } from '../width.ts';
import { type Form, formatFigure, NOTHING, valueAt } from './figures.ts';

/** One column of a table, and of the CSV with the same records. */
export type Field = {
  /** Where the value stands in a record, and its heading in CSV: `actor.id`. */
  readonly path: string;
  /** Heading for people. */
  readonly title: string;
  readonly form?: Form;
  /** Where lines are too narrow, columns with a high number are left out first; those without one stay. */
  readonly drop?: number;
  /** A text may be cut to so many columns; without it the text is never cut. */
  readonly least?: number;
  readonly tone?: (value: unknown) => Tone;
};

/** Which columns fit, and how wide each is. */
export type Layout = {
  readonly columns: readonly { readonly field: Field; readonly width: number }[];
  /** Columns that there was no room for. */
  readonly left: readonly Field[];
  readonly width: number;
};

/** Columns between two cells. */
export const GAP = 2;
/** What stays of a text that may be cut, on a line that is too narrow even for what must be there. */
const NARROWEST = 8;

/** Fits a table of all these records into a width. A column in which no record has a value is not shown. */
export function layOut(
  fields: readonly Field[],
  records: readonly JsonObject[],
  width: number,
): Layout {
  const measured = fields.map((field) => measure(field, records)).filter(({ isEmpty }) => !isEmpty);
  const byWorth = measured.toSorted((a, b) => (a.field.drop ?? 0) - (b.field.drop ?? 0));
  const kept: Measured[] = [];
  let spare = width + GAP;
  for (const column of byWorth) {
    const taken = column.least + GAP;
    if (taken > spare && column.field.drop !== undefined) continue;
    spare -= taken;
    kept.push(column);
  }
  const widths = new Map<Measured, number>();
  for (const column of kept) {
    const added = changeOf(column, spare);
    widths.set(column, column.least + added);
    spare -= added;
  }
  return {
    columns: measured.flatMap((column) => {
      const own = widths.get(column);
      return own === undefined ? [] : [{ field: column.field, width: own }];
    }),
    left: measured.filter((column) => !widths.has(column)).map(({ field }) => field),
    width,
  };
}

type Measured = {
  readonly field: Field;
  readonly natural: number;
  readonly least: number;
  readonly isEmpty: boolean;
};

/** By how much a column grows into spare room, or shrinks where there is less than none. */
function changeOf({ field, natural, least }: Measured, spare: number): number {
  if (field.least === undefined) return 0;
  return spare >= 0
    ? Math.min(spare, natural - least)
    : Math.max(spare, Math.min(0, NARROWEST - least));
}

function measure(field: Field, records: readonly JsonObject[]): Measured {
  let natural = textWidth(field.title);
  let isEmpty = records.length > 0;
  for (const record of records) {
    const text = formatFigure(valueAt(record, field.path), field.form);
    natural = Math.max(natural, textWidth(text));
    if (text !== NOTHING) isEmpty = false;
  }
  return { field, natural, least: Math.min(natural, field.least ?? natural), isEmpty };
}
