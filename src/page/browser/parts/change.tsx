import type { Change, PlanDocument } from '../../../core/plan-document.ts';
import { viewFields } from '../../../render/fields.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { Fields } from './fields.tsx';
import { ActionSign, actionWords } from './signs.tsx';

export type ChangeProps = { readonly change: Change; readonly head: PlanDocument };

/** Everything that a plan says of one resource. */
export function ChangeDetail({ change, head }: ChangeProps) {
  const views = viewFields(change, head.purpose, false);
  const { address, name, action, verdict, reason, source } = change;
  return (
    <article aria-labelledby="change-title">
      <header>
        <h2 id="change-title" tabIndex={-1}>
          <ActionSign action={action} />
          {sanitiseLine(address)}
        </h2>
        <p class="subtitle">{name === address ? '' : sanitiseLine(name)}</p>
        <p class="facts">
          <span class={`badge ${action}`}>{actionWords(action)}</span>
          {verdict === 'ok' ? null : <span class={`badge ${verdict}`}>{verdict}</span>}
          {source === null ? null : <code>{sanitiseLine(source)}</code>}
        </p>
        <p class={`reason ${verdict}`}>{sanitiseLine(reason)}</p>
      </header>
      <Fields views={views} purpose={head.purpose} />
    </article>
  );
}
