import { clip } from '../../../core/errors.ts';
import { inSeconds } from '../../../core/value.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatFirst, formatNumber } from '../../../render/wording.ts';
import type { Edit, Entry } from '../model/plan.ts';
import { ScrollRegion, useMore } from './list.tsx';
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
      <Lanes edits={edits} onOpen={onOpen} />
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

const LANE = { height: 34, label: 200, width: 1098, head: 26, most: 8 } as const;

/** One line an actor, one dot an edit, from the first to the last. */
function Lanes({ edits, onOpen }: TimelineProps) {
  const dated = edits.flatMap((edit) => {
    const time = Date.parse(edit.at ?? '');
    return Number.isNaN(time) ? [] : [{ edit, time }];
  });
  const first = Math.min(...dated.map(({ time }) => time));
  const last = Math.max(...dated.map(({ time }) => time));
  if (dated.length < FEWEST_DRAWN || last === first) return null;
  const lanes = [...Map.groupBy(dated, ({ edit }) => edit.actor)]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, LANE.most);
  const room = LANE.width - LANE.label - 40;
  const xOf = (time: number) => LANE.label + ((time - first) / (last - first)) * room;
  const height = LANE.head + lanes.length * LANE.height + 8;
  const short = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');
  return (
    <ScrollRegion class="lanes" label="Edits by author and time; listed below">
      <svg width={LANE.width} height={height}>
        <title>Edits by author and time</title>
        <text class="tick" x={LANE.label} y="17">
          {short(first)}
        </text>
        <text class="tick" x={LANE.label + room} y="17" text-anchor="end">
          {short(last)}
        </text>
        {lanes.map(([actor, own], at) => {
          const y = LANE.head + at * LANE.height + LANE.height / 2;
          return (
            <g key={actor}>
              <text x="16" y={y + 4}>
                {clip(sanitiseLine(actor), 21)} ({formatNumber(own.length)})
              </text>
              <line x1={LANE.label} x2={LANE.label + room} y1={y} y2={y} />
              {own.slice(0, STEP).map(({ edit, time }) => (
                <ChangeLink
                  key={`${edit.entry.index} ${edit.id}`}
                  entry={edit.entry}
                  onOpen={onOpen}
                  tabIndex={-1}
                  aria-label={`${short(time)} ${sanitiseLine(edit.entry.address)}`}
                >
                  <title>{`${short(time)} ${sanitiseLine(edit.entry.address)}`}</title>
                  <circle cx={xOf(time)} cy={y} r="7" />
                </ChangeLink>
              ))}
            </g>
          );
        })}
      </svg>
    </ScrollRegion>
  );
}

/** The day of an edit. */
function formatDay({ at }: Pick<Edit, 'at'>): string {
  return at === null ? 'At an unknown time' : inSeconds(at).slice(0, 10);
}

/** `10:12:03` */
function formatTime(at: string): string {
  return inSeconds(at).slice(11, 19);
}
