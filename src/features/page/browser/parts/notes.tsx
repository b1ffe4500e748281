import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import {
  type Action,
  allowanceFlags,
  isStateless,
  type PlanDocument,
} from '../../../../core/plan-document.ts';
import { inSeconds } from '../../../../core/value.ts';
import type { Footer } from '../../../../render/footers.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import {
  BLOCKED,
  comparedCount,
  formatForecast,
  formatNumber,
  isBlocked,
  movedEndpointLines,
  namesRelyOn,
  newAssumptions,
  notesAsBefore,
  reliesOn,
  SYMBOLS,
} from '../../../../render/wording.ts';
import type { Entry } from '../model/plan.ts';
import { linkTo } from '../page.ts';
import { Message } from './message.tsx';

/** Items of a note that are shown at once. */
const MOST = 200;

type HeadProps = { readonly head: PlanDocument };

/** Says what follows an approval, where one is possible. */
export function WayOn({ head }: HeadProps) {
  const { purpose, summary, requests } = head;
  if (purpose !== 'apply' || (summary.refused === 0 && requests.writes === 0)) return null;
  return (
    <section class="next">
      <h2>What happens next</h2>
      <p>
        {isBlocked(head) ? (
          BLOCKED
        ) : (
          <>
            Apply writes exactly this, and checks that it took. If somebody edits one of them first,
            nothing is written. <code class="command">callsheet rollback</code> puts back what was
            there
            {summary.delete + summary.replace > 0
              ? '; what is deleted comes back with another id and without its history.'
              : '.'}
          </>
        )}
      </p>
    </section>
  );
}

/** Facts that a reviewer cannot act on. */
export function About({ head }: HeadProps) {
  return (
    <details class="about">
      <summary>About this {COMPARISONS.has(head.purpose) ? 'comparison' : 'plan'}</summary>
      <Pairs pairs={listFacts(head)} />
    </details>
  );
}

export function NoteBlock({
  note: { weight, title, items, advice, isWhole, ways = [] },
}: {
  readonly note: Footer;
}) {
  const most = isWhole === true ? items.length : MOST;
  const rest = items.length - most;
  return (
    <section class={`note ${weight}`}>
      <h2>{sanitiseLine(title)}</h2>
      {items.length === 0 ? null : (
        <ul>
          {items.slice(0, most).map(({ address, name, text }, at) => (
            <li key={at}>
              {name === undefined ? null : <span>{name} </span>}
              {address === null ? null : <code>{sanitiseLine(address)} </code>}
              <span class={address === null ? '' : 'said'}>
                <Message text={text} />
              </span>
            </li>
          ))}
          {rest > 0 ? <li>and {formatNumber(rest)} more</li> : null}
        </ul>
      )}
      {advice === null ? null : (
        <p class="do">
          <Message text={advice} />
        </p>
      )}
      {ways.map(({ does, command }) => (
        <div class="do" key={command}>
          <p>{does}:</p>
          <pre>{sanitiseLine(command)}</pre>
        </div>
      ))}
    </section>
  );
}

function listFacts(head: PlanDocument): readonly (readonly [string, string])[] {
  const { platform, environment, created_at: at, state, options } = head;
  return known([
    ['Made at', at],
    ['Platform', `${platform.base_url}, account ${platform.account_id}`],
    ['Environment', environment],
    ['Compared', `${formatNumber(comparedCount(head))} resources`],
    ['Requests', formatForecast(head)],
    ['Allowed', allowanceFlags(options).join(', ')],
    ['Moved', movedEndpointLines(head).join(' ')],
    ['Notes', notesAsBefore(head)],
    ['Assumptions', formatAssumed(head)],
    ['Digest', head.digest],
    ['Configuration', head.config_digest],
    [
      'State',
      isStateless(head)
        ? 'none: a first run, or another place than before'
        : `${state.lineage}, serial ${state.serial}`,
    ],
  ]);
}

/** Keeps the facts that have a value, without hidden characters. */
export function known(
  facts: readonly (readonly [name: string, value: string | null | undefined])[],
): PairsProps['pairs'] {
  return facts.flatMap(([name, value]) => (value ? [[name, sanitiseLine(value)] as const] : []));
}

/** The purposes of documents that carry nothing out. */
export const COMPARISONS: ReadonlySet<PlanDocument['purpose']> = new Set(['drift', 'comparison']);

/** Drift rests on them only for who made it. Commands stand without the marks that a terminal gives them. */
function formatAssumed(head: PlanDocument): string {
  const assumed = newAssumptions(head);
  const named = assumed.length === 0 ? '' : reliesOn(assumed);
  const names = head.purpose === 'drift' ? namesRelyOn(head) : named;
  return names?.replaceAll('`', '') ?? '';
}

/** A sign distinguishes an action by more than its colour; screen readers get its name. */
export const SIGNS: { readonly [action in Action]: string } = {
  ...SYMBOLS,
  delete: '−',
  forget: '×',
  no_op: '·',
};

/** The purpose of the document: in drift the changes were already made. */
export const Purpose = createContext<PlanDocument['purpose']>('apply');

const DONE: { readonly [action in Action]?: string } = {
  create: 'made',
  update: 'changed',
  replace: 'replaced',
  delete: 'gone',
};

/** Returns the word for an action in this document. */
export function useActionWords(): (action: Action) => string {
  const purpose = useContext(Purpose);
  return (action) =>
    (COMPARISONS.has(purpose) ? DONE[action] : undefined) ??
    (action === 'no_op' ? 'nothing to do' : action);
}

export function ActionSign({ action }: { readonly action: Action }) {
  const nameAction = useActionWords();
  return (
    <span class={`sign ${action}`}>
      <span aria-hidden="true">{SIGNS[action]}</span>
      <span class="unseen">{nameAction(action)}</span>
    </span>
  );
}

type LinkAttributes = Pick<
  JSX.IntrinsicElements['a'],
  'class' | 'tabIndex' | 'aria-current' | 'aria-label'
>;

type ChangeLinkProps = LinkAttributes & {
  readonly children: ComponentChildren;
  readonly entry: Entry;
  readonly onOpen: (entry: Entry) => void;
};

/** A link to a change: it opens in this page, and its address can be copied. */
export function ChangeLink({ entry, onOpen, children, ...attributes }: ChangeLinkProps) {
  return (
    <a
      {...attributes}
      href={linkTo(entry.address)}
      onClick={(event) => {
        event.preventDefault();
        onOpen(entry);
      }}
    >
      {children}
    </a>
  );
}

/** `2026-11-21 09:45:12 UTC`. */
export function instant(at: string): string {
  return sanitiseLine(inSeconds(at).replace('T', ' ').replace(/Z$/, ' UTC'));
}

type PairsProps = { readonly pairs: readonly (readonly [name: string, value: string])[] };

/** Names and values, one below the other. */
export function Pairs({ pairs, isCode = false }: PairsProps & { readonly isCode?: boolean }) {
  return (
    <dl class="pairs">
      {pairs.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{isCode ? <code>{value}</code> : value}</dd>
        </>
      ))}
    </dl>
  );
}
