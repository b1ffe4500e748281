import { digestOf } from '../../core/digest.ts';
import type { Attribution } from '../../core/history.ts';
import type { Change, PlanDocument } from '../../core/plan-document.ts';
import type { Author } from './events.ts';

/** One field that drifted, or a resource that is gone. */
type Finding = {
  readonly address: string;
  /** Null: the resource itself is gone. */
  readonly field: string | null;
  readonly author: Author;
  /** Of what is live: another value is another edit. */
  readonly digest: string;
};

/** Findings by their place; all that is remembered of a pass. */
export type Findings = ReadonlyMap<string, Finding>;

/** What drifted, field by field. */
export function findingsOf({ changes }: PlanDocument): Findings {
  return new Map(
    changes.flatMap((change) => {
      const found = change.fields.map(({ path, after, attribution }) =>
        findingOf(change, path, digestOf(after), attribution),
      );
      const all = found.length > 0 ? found : [findingOf(change, null, '', change.attribution)];
      return all.map((one) => [JSON.stringify([one.address, one.field]), one] as const);
    }),
  );
}

function findingOf(
  change: Change,
  field: string | null,
  digest: string,
  attribution: Attribution | undefined,
): Finding {
  return { address: change.address, field, author: authorOf(change, attribution), digest };
}

const NOBODY = { actor: null, source: null, at: null } as const;

function authorOf({ edits = [] }: Change, attribution: Attribution | undefined): Author {
  if (attribution === undefined) return { certainty: null, because: null, ...NOBODY };
  const { certainty, because, entries } = attribution;
  const edit = edits.find(({ id }) => entries.includes(id));
  // None of the edits beside something unknown need be the one.
  if (certainty === 'unknown' || edit === undefined) return { certainty, because, ...NOBODY };
  const { actor, source, at } = edit;
  return { certainty, because, actor, source, at };
}

/** What is new since the pass before, and what is over. */
export function compareFindings(
  before: Findings,
  now: Findings,
): { readonly found: readonly Finding[]; readonly ended: readonly Finding[] } {
  return {
    found: [...now].flatMap(([place, one]) =>
      before.get(place)?.digest === one.digest ? [] : [one],
    ),
    ended: [...before].flatMap(([place, one]) => (now.has(place) ? [] : [one])),
  };
}
