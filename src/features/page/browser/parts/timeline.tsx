import { inSeconds } from '../../../../core/value.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { formatCount, formatFirst } from '../../../../render/wording.ts';
import type { Edit, Entry } from '../model/plan.ts';
import { useMore } from './list.tsx';
import { ChangeLink } from './notes.tsx';

/** With fewer edits a time line shows nothing that the changes do not. */
export const FEWEST_DRAWN = 3;

/** Edits that are listed at once. */
const STEP = 200;
const NAMED = 6;

type TimelineProps = {
  readonly edits: readonly Edit[];
  readonly onOpen: (entry: Entry) => void;
};

/** Who changed what outside Callsheet, and when. */
export function Timeline({ edits, onOpen }: TimelineProps) {
  const [most, more] = useMore(edits.length, STEP);
  const days = [...Map.groupBy(edits.slice(0, most), formatDay)];
  return (
    <div class="page">
      <h2>Who changed what, and when</h2>
      <p class="hint">
        {formatCount(edits.length, 'edit')} on the platform since Callsheet last wrote there, times
        in UTC.
      </p>
      {days.map(([day, own]) => (
        <section class="day" key={day}>
          <h3>{day}</h3>
          <ol class="edits">
            {own.map((edit) => (
              <EditItem key={`${edit.entry.index} ${edit.id}`} edit={edit} onOpen={onOpen} />
            ))}
          </ol>
        </section>
      ))}
      {more}
    </div>
  );
}

function EditItem({
  edit,
  onOpen,
}: {
  readonly edit: Edit;
  readonly onOpen: (entry: Entry) => void;
}) {
  const { entry, id, at, actor, source, revertedFrom } = edit;
  const via = source === null ? '' : ` via ${sanitiseLine(source)}`;
  return (
    <li>
      {at === null ? (
        <span>–</span>
      ) : (
        <time dateTime={sanitiseLine(at)}>{sanitiseLine(formatTime(at))}</time>
      )}
      <div>
        <p>
          <strong>{sanitiseLine(actor)}</strong>
          {via}
          {revertedFrom === null ? ' changed ' : ` restored entry ${revertedFrom} of `}
          <ChangeLink entry={entry} onOpen={onOpen}>
            <code>{sanitiseLine(entry.address)}</code>
          </ChangeLink>
        </p>
        <p class="what">
          {fieldsText(edit)}
          {`history entry ${id}`}
        </p>
      </div>
    </li>
  );
}

function fieldsText({ changed, maybe }: Edit): string {
  const list = (paths: readonly string[]) => formatFirst(paths.map(sanitiseLine), NAMED);
  return [
    ...(changed.length === 0 ? [] : [list(changed)]),
    ...(maybe.length === 0 ? [] : [`perhaps ${list(maybe)}`]),
  ]
    .map((words) => `${words}; `)
    .join('');
}

/** The day of an edit. */
function formatDay({ at }: Pick<Edit, 'at'>): string {
  return at === null ? 'At an unknown time' : inSeconds(at).slice(0, 10);
}

/** `10:12:03` */
function formatTime(at: string): string {
  return inSeconds(at).slice(11, 19);
}
