import type { Action, Change, PlanDocument, Verdict } from '../../../core/plan-document.ts';
import { isObject, type Json, type JsonObject } from '../../../core/value.ts';
import { type Packed, unpack } from '../../pack.ts';

/** A change as the list shows it; the rest of it is unpacked when somebody opens it. */
export type Entry = {
  /** Where it stands in the document. */
  readonly index: number;
  readonly address: string;
  readonly name: string;
  readonly kind: string;
  /** The name of its organization, its id where it has none, empty for what belongs to the account. */
  readonly owner: string;
  readonly id: string | null;
  readonly action: Action;
  readonly verdict: Verdict;
  /** Whether it says of a secret where it goes. */
  readonly hasSecrets: boolean;
};

/** A plan in the browser. */
export type Plan = {
  /** What it comes to, in one line. */
  readonly title: string;
  /** Everything but the changes. */
  readonly head: PlanDocument;
  readonly entries: readonly Entry[];
  readonly changeOf: (entry: Entry) => Change;
  /** A change as it is packed, and the texts that its marks stand for. */
  readonly packedOf: (entry: Entry) => Json;
  readonly texts: readonly string[];
};

/** Changes that stay unpacked: as many as somebody goes to and fro between. */
const KEPT = 200;

/** Reads what `packDocument` wrote. Its shape was checked when it was made. */
export function readPlan({ title, texts, document }: Packed): Plan {
  const { changes, ...rest } = document as JsonObject;
  const packed = changes as readonly JsonObject[];
  const head = { ...(unpack(rest, texts) as JsonObject), changes: [] } as unknown as PlanDocument;
  const kept = new Map<number, Change>();
  const changeOf = ({ index }: Entry): Change => {
    const known = kept.get(index);
    if (known !== undefined) return known;
    const change = unpack(packed[index] ?? null, texts) as unknown as Change;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(index, change);
    return change;
  };
  const entries = packed.map((one, index) => entryOf(one, index, head, texts));
  return { title, head, entries, changeOf, packedOf: ({ index }) => packed[index] ?? null, texts };
}

function entryOf(
  packed: JsonObject,
  index: number,
  { organizations, purpose }: PlanDocument,
  texts: readonly string[],
): Entry {
  const { address, name, kind, organization_id: owner, id, action, verdict } = packed;
  const read = (value: Json | undefined) => unpack(value ?? null, texts);
  const organization = read(owner);
  return {
    index,
    address: String(read(address)),
    name: String(read(name)),
    kind: String(read(kind)),
    owner: typeof organization === 'string' ? (organizations[organization] ?? organization) : '',
    id: id === null ? null : String(read(id)),
    action: seenAs(action as Action, purpose),
    verdict: verdict as Verdict,
    hasSecrets: packed.secrets !== undefined,
  };
}

/** What is missing would be created again; as drift it is a resource that went. */
function seenAs(action: Action, purpose: PlanDocument['purpose']): Action {
  return purpose === 'drift' && action === 'create' ? 'delete' : action;
}

/** Whether something in a packed value passes a test: every text of it is asked once, in whatever place it stands. */
export function someText(value: Json, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((item: Json) => someText(item, test));
  if (!isObject(value)) return false;
  return Object.values(value).some((member) => someText(member, test));
}
