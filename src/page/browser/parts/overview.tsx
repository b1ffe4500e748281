import { useState } from 'preact/hooks';
import { viewFields } from '../../../render/fields.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatFirst, kindTitle } from '../../../render/wording.ts';
import { type Alike, type Entry, findExample, groupsWith, type Plan } from '../model/plan.ts';
import { Fields } from './change.tsx';
import { useMore } from './list.tsx';
import { ActionSign, ChangeLink, NoteBlock, SIGNS } from './notes.tsx';

/** What the list is narrowed to from here. */
type ShowAlike = (alike: Alike | 'left') => void;

type OverviewProps = {
  readonly plan: Plan;
  readonly onOpen: (entry: Entry) => void;
  readonly onShow: ShowAlike;
};

/** Groups that are shown at once: each may hold two prompts to be compared. */
const MOST_GROUPS = 10;

/** What is read before the changes, in the order of all formats. */
export function OverviewBlock({ plan, onOpen, onShow }: OverviewProps) {
  const { above, groups, told } = plan.overview;
  const [most, more] = useMore(groups.length, MOST_GROUPS, 'more group');
  const left = plan.entries.length - told.size;
  return (
    <section class="overview" aria-label="Overview">
      {above.map((note, at) => (
        <NoteBlock key={at} note={note} />
      ))}
      <FirstLooks plan={plan} onOpen={onOpen} />
      {groups.slice(0, most).map((group, at) => (
        <AlikeBlock key={at} plan={plan} group={group} onOpen={onOpen} onShow={onShow} />
      ))}
      {more}
      {told.size === 0 ? null : (
        <p class="left">
          {left === 0 ? (
            'Nothing else changes.'
          ) : (
            <>
              {formatCount(left, 'change')} besides.{' '}
              <button type="button" onClick={() => onShow('left')}>
                Show what is left
              </button>
            </>
          )}
        </p>
      )}
    </section>
  );
}

/** The overview on paper, where notes are printed by themselves and nobody can open anything. */
export function OverviewOnPaper({ plan }: { readonly plan: Plan }) {
  return (
    <section class="overview">
      <FirstLooks plan={plan} onOpen={() => undefined} />
      {plan.overview.groups.map((group, at) => (
        <section class="alike" key={at}>
          <AlikeHead group={group} />
          <p class="which">
            {formatFirst(
              [...group.entries].map(({ address }) => sanitiseLine(address)),
              MOST_PRINTED,
            )}
          </p>
          <AlikeFields plan={plan} group={group} isWhole />
        </section>
      ))}
    </section>
  );
}

const MOST_PRINTED = 500;

/** What a mark stands for, for those who do not see it. */
const MEANINGS: { readonly [type in Plan['overview']['first'][number]['type']]: string } = {
  delete: 'deleted',
  replace: 'replaced',
  undone: 'edit that would be undone',
  prompt: 'text that changes',
};

function FirstLooks({ plan, onOpen }: Pick<OverviewProps, 'plan' | 'onOpen'>) {
  const { first } = plan.overview;
  if (first.length === 0) return null;
  return (
    <section class="first" aria-labelledby="first-title">
      <h2 id="first-title">Look at first</h2>
      <ul>
        {first.map(({ type, symbol, subject, text, entry }, at) => (
          <li key={at}>
            <span class={`sign ${type}`}>
              <span aria-hidden="true">{type === 'delete' ? SIGNS.delete : symbol}</span>
              <span class="unseen">{MEANINGS[type]}: </span>
            </span>
            <p>
              {entry === undefined ? (
                <span class="subject">{sanitiseLine(subject)}</span>
              ) : (
                <ChangeLink entry={entry} onOpen={onOpen} class="subject">
                  {sanitiseLine(subject)}
                </ChangeLink>
              )}
              {text === '' ? null : <span class="said"> {sanitiseLine(text)}</span>}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

type AlikeProps = OverviewProps & { readonly group: Alike };

/** What changes alike in many resources: once, with the file that says so and the addresses. */
function AlikeBlock({ plan, group, onOpen, onShow }: AlikeProps) {
  const [example] = group.entries;
  return (
    <section class="alike">
      <AlikeHead group={group} />
      {example === undefined ? null : (
        <p class="hint">
          Shown as in{' '}
          <ChangeLink entry={example} onOpen={onOpen}>
            <code>{sanitiseLine(example.address)}</code>
          </ChangeLink>
          .{' '}
          <button type="button" class="quiet" onClick={() => onShow(group)}>
            List these {kindTitle(sanitiseLine(group.kind))}
          </button>
        </p>
      )}
      <Which group={group} onOpen={onOpen} />
      <AlikeFields plan={plan} group={group} />
    </section>
  );
}

function AlikeHead({ group: { title, action, sources } }: { readonly group: Alike }) {
  return (
    <h2>
      <ActionSign action={action} />
      <span>{sanitiseLine(title)}</span>
      {sources.length === 0 ? null : (
        <code>{sanitiseLine(formatFirst(sources, MOST_SOURCES))}</code>
      )}
    </h2>
  );
}

const MOST_SOURCES = 3;

/** Links that are there at once. */
const MOST_LINKS = 300;

/** The resources of a group, once somebody asks. */
function Which({ group, onOpen }: Pick<AlikeProps, 'group' | 'onOpen'>) {
  const [isOpen, setOpen] = useState(false);
  const { kind, entries } = group;
  const [most, more] = useMore(entries.size, MOST_LINKS);
  const shown = isOpen ? [...entries].slice(0, most) : [];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Which {kindTitle(sanitiseLine(kind))}</summary>
      <ul class="addresses">
        {shown.map((entry) => (
          <li key={entry.index}>
            <ChangeLink entry={entry} onOpen={onOpen}>
              {sanitiseLine(entry.address)}
            </ChangeLink>
          </li>
        ))}
      </ul>
      {isOpen ? more : null}
    </details>
  );
}

type AlikeFieldsProps = Pick<AlikeProps, 'plan' | 'group'> & { readonly isWhole?: boolean };

function AlikeFields({ plan, group, isWhole = false }: AlikeFieldsProps) {
  const example = findExample(plan, group);
  if (example === undefined) return null;
  const { head } = plan;
  const views = viewFields(example, head, false);
  return <Fields views={views} purpose={head.purpose} isWhole={isWhole} />;
}

/** Fields of a change that are named as alike in others. */
const MOST_NAMED = 5;

/** Says of a change which of its fields are alike in others. Without `onShow` nothing leads there. */
export function AlikeNote({
  plan,
  entry,
  onShow,
}: Pick<OverviewProps, 'plan'> & { readonly entry: Entry; readonly onShow?: ShowAlike }) {
  const groups = groupsWith(plan, entry);
  if (groups.length === 0) return null;
  return (
    <ul class="shared" aria-label="Fields that are alike in others">
      {groups.map((group, at) => (
        <li key={at}>
          <span class="which">{sanitiseLine(formatFirst(group.paths, MOST_NAMED))}</span>{' '}
          {onShow === undefined ? (
            sanitiseLine(group.title).toLowerCase()
          ) : (
            <button type="button" class="quiet" onClick={() => onShow(group)}>
              {sanitiseLine(group.title).toLowerCase()}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
