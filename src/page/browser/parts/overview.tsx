import { useEffect, useState } from 'preact/hooks';
import { addressText, factorAddresses } from '../../../render/addresses.ts';
import { viewFields } from '../../../render/fields.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatFirst, kindTitle, varyingMessage } from '../../../render/wording.ts';
import {
  type Alike,
  type Entry,
  findExample,
  groupsWith,
  groupTitle,
  leftOf,
  type Plan,
} from '../model/plan.ts';
import { ChangeDetail, Fields } from './change.tsx';
import { ActionSign, ChangeLink, NoteBlock } from './notes.tsx';

/** What the list is narrowed to from here. */
type ShowAlike = (alike: Alike | 'left') => void;

type OverviewProps = {
  readonly plan: Plan;
  readonly onOpen: (entry: Entry) => void;
  readonly onShow: ShowAlike;
};

/** Changes that are there at once; the others follow while the page is read. */
const FIRST = 20;
const STEP = 20;

/** A plan as it is read: what stands alone one by one, then each group once. Nothing has to be opened. */
export function OverviewBlock({ plan, onOpen, onShow }: OverviewProps) {
  const { above, alone, groups } = plan.overview;
  const most = useGrowing(alone.size);
  const isMixed = alone.size > 0 && groups.length > 0;
  return (
    <section class="overview" aria-label="Overview">
      {above.map((note, at) => (
        <NoteBlock key={at} note={note} />
      ))}
      {isMixed ? <p class="part">Read one by one</p> : null}
      {[...alone].slice(0, most).map((entry) => (
        <ChangeDetail
          key={entry.index}
          change={leftOf(plan, entry)}
          head={plan.head}
          isBrief
          note={<AlikeNote plan={plan} entry={entry} onShow={onShow} />}
        />
      ))}
      {isMixed ? <p class="part">Read once</p> : null}
      {groups.map((group, at) => (
        <AlikeBlock key={at} plan={plan} group={group} onOpen={onOpen} onShow={onShow} />
      ))}
      <Already plan={plan} onOpen={onOpen} />
    </section>
  );
}

/** What the base has already: by name, and each leads to its change. */
function Already({ plan, onOpen }: Pick<OverviewProps, 'plan'> & Partial<OverviewProps>) {
  const { already, alreadyTitle } = plan.overview;
  if (already.length === 0) return null;
  return (
    <section class="alike">
      <h2>{sanitiseLine(alreadyTitle)}</h2>
      <ul>
        {already.map((entry) => {
          const name = (
            <>
              <ActionSign action={entry.action} /> <code>{sanitiseLine(entry.address)}</code>
            </>
          );
          return (
            <li key={entry.index}>
              {onOpen === undefined ? (
                name
              ) : (
                <ChangeLink entry={entry} onOpen={onOpen}>
                  {name}
                </ChangeLink>
              )}{' '}
              {entry.verdict === 'ok' ? null : entry.verdict}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** How many of some things are there: more of them whenever the browser has nothing else to do. */
function useGrowing(all: number): number {
  const [most, setMost] = useState(FIRST);
  useEffect(() => {
    if (most >= all) return undefined;
    const timer = setTimeout(() => setMost(most + STEP));
    return () => clearTimeout(timer);
  }, [most, all]);
  return Math.min(most, all);
}

/** The overview on paper, where notes are printed by themselves and nobody can open anything. */
export function OverviewOnPaper({ plan }: { readonly plan: Plan }) {
  const { alone, groups } = plan.overview;
  const rest = alone.size - MOST_PRINTED;
  return (
    <section class="overview">
      {[...alone].slice(0, MOST_PRINTED).map((entry) => (
        <ChangeDetail
          key={entry.index}
          change={leftOf(plan, entry)}
          head={plan.head}
          note={<AlikeNote plan={plan} entry={entry} />}
          isWhole
        />
      ))}
      {rest > 0 ? (
        <p>
          {formatCount(rest, 'more change')} not printed. Narrow the list by search or filter, and
          print again.
        </p>
      ) : null}
      {groups.map((group, at) => (
        <section class="alike" key={at}>
          <AlikeHead group={group} />
          <Which group={group} />
          <AlikeFields plan={plan} group={group} isWhole />
        </section>
      ))}
      <Already plan={plan} />
    </section>
  );
}

/** Changes that are printed; a browser takes minutes for thousands of pages, and nobody reads them. */
export const MOST_PRINTED = 500;

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
      <Which group={group} />
      <AlikeFields plan={plan} group={group} />
    </section>
  );
}

function AlikeHead({ group }: { readonly group: Alike }) {
  const { action, sources, reasons, varying } = group;
  const told = varyingMessage(varying);
  return (
    <>
      <h2>
        <ActionSign action={action} />
        <span>{groupTitle(group)}</span>
        {sources.length === 0 ? null : (
          <code>{sanitiseLine(formatFirst(sources, MOST_SOURCES))}</code>
        )}
      </h2>
      {reasons.map((reason) => (
        <p class="reason" key={reason}>
          {sanitiseLine(reason)}
        </p>
      ))}
      {told === undefined ? null : <p class="hint">{sanitiseLine(told)}</p>}
    </>
  );
}

const MOST_SOURCES = 3;

/** All resources of a group. */
function Which({ group: { entries } }: { readonly group: Alike }) {
  const lists = factorAddresses([...entries].map(({ address }) => address));
  return (
    <div class="which">
      {lists.map((list, at) => (
        <p key={at}>
          <code>{sanitiseLine(addressText(list))}</code>
        </p>
      ))}
    </div>
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
          <span class="which">
            {sanitiseLine(
              formatFirst(
                group.fields.map(({ path }) => path),
                MOST_NAMED,
              ),
            )}
          </span>{' '}
          {onShow === undefined ? (
            groupTitle(group)
          ) : (
            <button type="button" class="quiet" onClick={() => onShow(group)}>
              {groupTitle(group)}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
