import type { Json, JsonObject } from '../../core/value.ts';

/** Characters that a terminal acts on or that cannot be seen, and that JSON would let through. */
const UNSEEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A value as JSON over several lines; what a terminal would act on is escaped, which changes no value. */
export function jsonText(value: Json): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN, escapeUnits);
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

/** A document whose `data` is a list that is written as it arrives, in pieces that end in line breaks. */
export function jsonFrame(head: JsonObject): {
  readonly open: string;
  readonly item: (item: JsonObject, isLast: boolean) => string;
  readonly close: string;
} {
  const whole = jsonText({ ...head, data: [] });
  return {
    open: `${whole.slice(0, -']\n}'.length)}\n`,
    item: (item, isLast) => `${jsonText(item).replace(/^/gm, '    ')}${isLast ? '' : ','}\n`,
    close: '  ]\n}\n',
  };
}
