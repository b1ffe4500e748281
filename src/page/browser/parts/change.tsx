import type { ComponentChildren } from 'preact';
import type { Change, PlanDocument } from '../../../core/plan-document.ts';
import { groupByAuthor, whoTook } from '../../../render/attribution.ts';
import { howOf } from '../../../render/change-lines.ts';
import { gone } from '../../../render/drift.ts';
import { type FieldView, viewFields } from '../../../render/fields.ts';
import { travelWords } from '../../../render/footers.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { Fields } from './fields.tsx';
import { ActionSign, useActionWords } from './signs.tsx';

type ChangeProps = {
  readonly change: Change;
  readonly head: PlanDocument;
  /** Whether nothing is folded: on paper nobody can open it. */
  readonly isWhole?: boolean;
  readonly children?: ComponentChildren;
};

/** Everything that a plan says of one resource. */
export function ChangeDetail({ change: given, head, isWhole = false, children }: ChangeProps) {
  const change = head.purpose === 'drift' ? gone(given) : given;
  return (
    <article>
      <ChangeHead change={change} />
      {head.purpose === 'drift' ? (
        <DriftFields change={given} isWhole={isWhole} />
      ) : (
        <PlanFields change={change} head={head} isWhole={isWhole} />
      )}
      {children}
      <Facts change={change} isOpen={isWhole} />
    </article>
  );
}

function ChangeHead({ change }: { readonly change: Change }) {
  const wordsOf = useActionWords();
  const { address, name, action, adopted, verdict, reason, source, secrets = [] } = change;
  return (
    <header>
      <h2 tabIndex={-1}>
        <ActionSign action={action} />
        {sanitiseLine(address)}
      </h2>
      {name === address ? null : <p class="subtitle">{sanitiseLine(name)}</p>}
      <p class="facts">
        <span class={`badge ${action}`}>{wordsOf(action)}</span>
        {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
        {adopted && action !== 'adopt' ? <span class="badge adopted">adopted</span> : null}
        {source === null ? null : <code>{sanitiseLine(source)}</code>}
      </p>
      <p class={`reason ${verdict}`}>{sanitiseLine(reason)}</p>
      {secrets.map((travel) => (
        <p class={travel.to === travel.before ? 'travel' : 'travel new'} key={travel.path}>
          {sanitiseLine(travelWords(travel))}
        </p>
      ))}
    </header>
  );
}

type PartProps = { readonly change: Change; readonly isWhole: boolean };

function PlanFields({ change, head, isWhole }: PartProps & { readonly head: PlanDocument }) {
  const { purpose, options } = head;
  const views = viewFields(change, purpose, false);
  const hasConflict = views.some(({ sign }) => sign === '!');
  const where = change.source === null ? 'the configuration' : sanitiseLine(change.source);
  return (
    <>
      {views.length === 0 ? null : <Fields views={views} purpose={purpose} isWhole={isWhole} />}
      {change.action === 'delete' ? (
        <Goes views={viewFields(change, purpose, true)} isWhole={isWhole} />
      ) : null}
      {hasConflict ? (
        <p class="advice">
          {options.accept_conflicts
            ? 'What is live is overwritten, as --accept-conflicts allows.'
            : `To keep what is live, put it into ${where}. To overwrite it, plan with --accept-conflicts.`}
        </p>
      ) : null}
    </>
  );
}

/** What a delete takes away: all of it is live, and nobody wrote it here. */
function Goes({
  views,
  isWhole,
}: {
  readonly views: readonly FieldView[];
  readonly isWhole: boolean;
}) {
  if (views.length === 0) return null;
  return (
    <section class="section">
      <h3>What goes with it</h3>
      <Fields views={views} purpose="apply" isWhole={isWhole} />
    </section>
  );
}

/** Fields that drifted, below who changed them. */
function DriftFields({ change, isWhole }: PartProps) {
  const groups =
    change.action === 'create'
      ? [{ ...whoTook(change, false), fields: change.fields }]
      : groupByAuthor(change, false);
  return (
    <>
      {groups.map(({ who, edits, fields }, at) => (
        <section class="author" key={at}>
          {who === undefined ? null : <h3>{who}</h3>}
          <ul>
            {edits.map((edit) => (
              <li key={edit}>{edit}</li>
            ))}
          </ul>
          <Fields
            views={viewFields({ ...gone(change), fields }, 'drift', change.action === 'create')}
            purpose="drift"
            isWhole={isWhole}
          />
        </section>
      ))}
    </>
  );
}

/** What is asked about rarely. */
function Facts({ change, isOpen }: { readonly change: Change; readonly isOpen: boolean }) {
  const { id, organization_id: organization, operations, pin } = change;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['Id', id],
    ['Organization', organization],
    ['How', operations.length === 0 ? null : howOf(change)],
    ['Moved from', change.moved_from],
    ['Missing id', change.missing_id],
    ['Last updated', pin?.updated_at],
    ['Newest history entry', pin?.history_id?.toString()],
  ];
  const told = facts.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value] as const],
  );
  if (told.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>Ids and steps</summary>
      <dl class="pairs">
        {told.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <code>{sanitiseLine(value)}</code>
            </dd>
          </>
        ))}
      </dl>
    </details>
  );
}
