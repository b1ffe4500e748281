import { type FreezeWindow, type Guards, WEEKDAYS } from '../core/guards.ts';
import { readDates, readHours } from './freeze-words.ts';
import { isResolvedList, membersOf, type Resolved } from './resolved.ts';
import { type Place, positionOf } from './source.ts';
import { memberOf, type Written } from './written.ts';

/** The `guards:` of a stack. What is wrong was reported by its schema, and is left out here. */
export function readGuards(value: Resolved | undefined, written: Written | undefined): Guards {
  const { max_delete, max_change_percent, min_resources, freeze } = membersOf(value);
  const limits = Object.entries({ max_delete, max_change_percent, min_resources });
  const list = memberOf(written, 'freeze')?.value;
  const nodes = list?.type === 'list' ? list.items : [];
  const windows = isResolvedList(freeze) ? freeze : [];
  const frozen = windows.flatMap((one, index) => {
    const place = nodes[index]?.place ?? list?.place;
    return place === undefined ? [] : (readWindow(one, place) ?? []);
  });
  return {
    ...Object.fromEntries(limits.filter(([, limit]) => typeof limit === 'number')),
    ...(frozen.length === 0 ? {} : { freeze: frozen }),
  };
}

function readWindow(value: Resolved, place: Place): FreezeWindow | undefined {
  const { zone, weekdays, hours, dates, reason } = membersOf(value);
  if (typeof zone !== 'string') return undefined;
  const times = typeof hours === 'string' ? readHours(hours) : undefined;
  const spans = textsIn(dates).map(readDates);
  const days = textsIn(weekdays);
  const { file, line } = positionOf(place);
  return {
    zone,
    ...(weekdays === undefined ? {} : { weekdays: WEEKDAYS.filter((day) => days.includes(day)) }),
    ...(times && 'value' in times ? { hours: times.value } : {}),
    ...(dates === undefined
      ? {}
      : { dates: spans.flatMap((span) => ('value' in span ? [span.value] : [])) }),
    ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
    source: `${file}:${line}`,
  };
}

/** The texts of a list, or the one that stands in its place. */
function textsIn(value: Resolved | undefined): readonly string[] {
  const all = isResolvedList(value) ? value : [value];
  return all.filter((one) => typeof one === 'string');
}
