import type { Address } from '../core/address.ts';
import {
  type Change,
  type ChangeGroup,
  type FieldChange,
  isEdited,
  type PlanDocument,
} from '../core/plan-document.ts';
import { viewFields } from './fields.ts';
import { type Footer, footersAbove, footersBelow } from './footers.ts';
import { countKind, formatFirst, formatNumber, kindTitle, SYMBOLS } from './wording.ts';

/**
 * A plan in the order in which it is read: what a reviewer looks at first, what changes alike in many resources, the
 * changes that are left, and what is to be known beside them. All formats lay out the same overview.
 */
export type Overview = {
  /** Refusals, and secrets that go somewhere new. */
  readonly above: readonly Footer[];
  readonly first: readonly FirstLook[];
  readonly groups: readonly AlikeGroup[];
  /** In the order of the plan. */
  readonly changes: readonly LeftChange[];
  readonly below: readonly Footer[];
};

/** One line of what is looked at first. Not sanitised. */
export type FirstLook = {
  readonly type: 'replace' | 'delete' | 'undone' | 'prompt';
  /** The change that it is of; null where it is of several. */
  readonly address: Address | null;
  readonly symbol: string;
  readonly subject: string;
  readonly text: string;
};

export type AlikeGroup = {
  /** `Alike in 60 agents`. */
  readonly title: string;
  readonly kind: string;
  readonly action: ChangeGroup['action'];
  readonly addresses: readonly Address[];
  /** The files that the fields come from, each once. Not sanitised. */
  readonly sources: readonly string[];
  /** One of the resources with these fields alone. */
  readonly example: Change;
};

/** A change without the fields that a group shows. */
export type LeftChange = {
  readonly change: Change;
  /** How many of its fields a group shows. */
  readonly shared: number;
  /** Whether what stands above the changes says why. */
  readonly isTold: boolean;
};

/** Fewer resources than this are no group. */
const FEWEST = 3;

/** `isWhole`: nothing is put together. */
export function buildOverview(plan: PlanDocument, isWhole = false): Overview {
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const shown = new Map<Address, { readonly paths: Set<string>; views: number }>();
  const groups = (isWhole ? [] : (plan.groups ?? [])).flatMap(
    ({ kind, action, addresses, fields }): AlikeGroup[] => {
      const there = addresses.flatMap((address) => byAddress.get(address) ?? []);
      const [first] = there;
      // What was refused since for a reason of its own is read by itself.
      const changes = there.filter(
        (change) =>
          change.action === action &&
          change.verdict === first?.verdict &&
          (change.verdict === 'ok' || change.reason === first.reason),
      );
      if (first === undefined || changes.length < FEWEST) return [];
      const paths = new Set(fields.map(({ path }) => path));
      // The group names the files of all.
      const own = first.fields.filter(({ path }) => paths.has(path));
      const example = { ...first, fields: own.map(({ source: _, ...field }) => field) };
      const views = viewFields(example, plan, false).length;
      for (const { address } of changes) {
        const known = shown.get(address) ?? { paths: new Set(), views: 0 };
        for (const path of paths) known.paths.add(path);
        known.views += views;
        shown.set(address, known);
      }
      return [
        {
          title: `${action === 'create' ? 'New in' : 'Alike in'} ${formatNumber(changes.length)} ${kindTitle(kind)}${first.verdict === 'ok' ? '' : `, ${first.verdict}`}`,
          kind,
          action,
          addresses: changes.map(({ address }) => address),
          sources: [
            ...new Set(fields.flatMap(({ path, source }) => source ?? textSources(changes, path))),
          ],
          example,
        },
      ];
    },
  );
  const changes = plan.changes.flatMap((change): LeftChange[] => {
    const own = shown.get(change.address);
    if (own === undefined) return [{ change, shared: 0, isTold: false }];
    const fields = change.fields.filter(({ path }) => !own.paths.has(path));
    const left = { ...change, fields };
    // A field that only a note speaks of is nothing to look at.
    const isTold = change.action === 'update' && viewFields(left, plan, false).length === 0;
    return isTold ? [] : [{ change: left, shared: own.views, isTold: false }];
  });
  const first = plan.purpose === 'apply' ? firstLook(plan, groups, changes) : [];
  const undone = new Map(
    first.map(({ address, type, text }) => [address, type === 'undone' && text]),
  );
  const isListed = plan.purpose === 'apply' && plan.summary.refused <= MOST_REFUSED;
  return {
    above: footersAbove(plan),
    first,
    groups,
    changes: changes.map((one) => ({
      ...one,
      isTold:
        undone.get(one.change.address) === `${one.change.reason}${UNDOES}` ||
        (isListed && isConflict(one.change)),
    })),
    below: footersBelow(plan, isWhole),
  };
}

/** Of more refusals some are only counted above the changes. */
const MOST_REFUSED = 20;

function isConflict({ verdict, lifted_by: lift }: Change): boolean {
  return verdict === 'refused' && lift === 'accept_conflicts';
}

/** Files of a group that are named where a reviewer looks first. */
const MOST_SOURCES = 3;

/** The files of their own that a field of several resources is read from. */
function textSources(changes: readonly Change[], wanted: string): readonly string[] {
  return changes.flatMap(({ fields }) =>
    fields.flatMap(({ path, source }) => (path === wanted && source !== undefined ? source : [])),
  );
}

/** As many groups and changes as are read without being told where to look. */
const SEEN_AT_A_GLANCE = 5;

/** More of one sort are counted. */
const MOST_OF_A_SORT = 5;

/** What becomes of somebody's edit, after who made it. */
const UNDOES = '; apply undoes that';

/** What a reviewer must not miss, a line each; nothing of a plan of one change, which is seen at a glance. */
function firstLook(
  plan: PlanDocument,
  groups: readonly AlikeGroup[],
  left: readonly LeftChange[],
): readonly FirstLook[] {
  if (plan.changes.length < 2) return [];
  const acting = (action: 'replace' | 'delete') =>
    plan.changes
      .filter((change) => change.action === action && change.verdict !== 'refused')
      .map(({ address, name }) => ({
        address,
        subject: address,
        text: name === address ? '' : name,
      }));
  const undone = plan.changes.flatMap((change) => {
    const fields = change.fields.filter(isEdited);
    // What is refused says so above.
    if (fields.length === 0 || change.action !== 'update' || change.verdict !== 'ok') return [];
    const paths = formatFirst(
      fields.map(({ path }) => path),
      2,
    );
    const { address, reason } = change;
    // The first part is about these fields, what follows it about the others.
    const text = fields.length < change.fields.length ? (reason.split('; ')[0] ?? '') : reason;
    return [{ address, subject: `${address}  ${paths}`, text: `${text}${UNDOES}` }];
  });
  const prompts = [
    ...groups.flatMap(({ addresses, kind, sources, example }) =>
      example.fields.filter(isProse).map(({ path }) => ({
        address: null,
        subject: `${path} of ${countKind(addresses.length, kind)}`,
        text: formatFirst(sources, MOST_SOURCES),
      })),
    ),
    ...left.flatMap(({ change: { address, action, fields, source } }) =>
      action !== 'update'
        ? []
        : fields
            .filter((field) => isProse(field) && !isEdited(field))
            .map(({ path, source: file = source ?? '' }) => ({
              address,
              subject: `${path} of ${address}`,
              text: file,
            })),
    ),
  ];
  return [
    ...counted('delete', SYMBOLS.delete, acting('delete')),
    ...counted('replace', SYMBOLS.replace, acting('replace')),
    ...counted('undone', '!', undone),
    // A few changes are read anyway.
    ...(groups.length + left.length > SEEN_AT_A_GLANCE
      ? counted('prompt', SYMBOLS.update, prompts)
      : []),
  ];
}

function counted(
  type: FirstLook['type'],
  symbol: string,
  items: readonly Pick<FirstLook, 'address' | 'subject' | 'text'>[],
): readonly FirstLook[] {
  const shown = items.slice(0, items.length > MOST_OF_A_SORT ? MOST_OF_A_SORT - 1 : undefined);
  const hidden = items.length - shown.length;
  const rest = {
    type,
    address: null,
    symbol,
    subject: `and ${hidden} more`,
    text: MORE[type],
  };
  return [...shown.map((item) => ({ type, symbol, ...item })), ...(hidden > 0 ? [rest] : [])];
}

const MORE: { readonly [type in FirstLook['type']]: string } = {
  delete: 'to delete',
  replace: 'to replace',
  undone: 'whose edits would be undone',
  prompt: 'texts that change',
};

/** Whether it is a text that an agent speaks or follows, rather than a setting. */
function isProse({ before, after, secret }: FieldChange): boolean {
  return [before, after].some(
    (value) => typeof value === 'string' && !secret && value.trimEnd().includes('\n'),
  );
}
