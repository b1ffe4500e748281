import type { Notification } from '../core/documents.generated.ts';
import { clip } from '../core/errors.ts';
import {
  type Attribution,
  type Change,
  type FieldChange,
  findEdit,
  isAbsent,
  listUnready,
  type PlanDocument,
  type UnreadyNote,
} from '../core/plan-document.ts';
import { formText, type Json } from '../core/value.ts';
import { masked } from './fields.ts';
import { sanitiseLine } from './untrusted.ts';
import { comparedCount, formatCount, headline } from './wording.ts';

/** The document that is posted when drift is looked for. */
export type DriftNotification = Notification.Document;

type Summary = DriftNotification['summary'];

type DriftedResource = Notification.Change;

type DriftedField = Notification.Field;

/** When it is sent, from where and by whom. */
type Sender = Pick<DriftNotification, 'id' | 'sent_at' | 'commit' | 'pipeline'> & {
  readonly user: string | null;
};

/** A drifted resource that is no longer put back: how often that was tried, and the last try. */
export type Contested = {
  readonly address: string;
  readonly times: number;
  /** The first of these tries, ISO 8601. */
  readonly since: string | null;
  readonly run: string | null;
  readonly at: string | null;
};

/** Characters of a value. */
const MAX_VALUE = 500;
/** Characters of all changes: receivers take a few hundred kilobytes. */
const MAX_CHANGES = 200_000;
/** Addresses that the text names. */
const MAX_NAMED = 10;

/** A drift document as a notification. */
export function buildNotification(
  drift: PlanDocument,
  sender: Sender,
  contested: readonly Contested[] = [],
): DriftNotification {
  const drifted = drift.changes.map((change) => buildResource(change, drift));
  const changes = fitting(drifted);
  return {
    format: 'callsheet-drift-notification',
    version: 1,
    id: sender.id,
    sent_at: sender.sent_at,
    is_drifted: drifted.length > 0,
    text: formatText(drift, drifted, sender, contested),
    platform: drift.platform,
    environment: drift.environment ?? null,
    commit: sender.commit,
    pipeline: sender.pipeline,
    digest: drift.digest,
    summary: summarise(drift, drifted),
    changes,
    omitted: drifted.length - changes.length,
    unready: listUnready(drift).map(buildUnready),
    contested: fitting(contested.map((fight) => buildContested(fight, drifted, sender))),
  };
}

/** Both sides of each setting: what Callsheet wrote last, and what was written over it. */
function buildContested(
  { address, times, since, run, at }: Contested,
  drifted: readonly DriftedResource[],
  { user }: Sender,
): Notification.Contested {
  const found = drifted.find((resource) => resource.address === address);
  const fields = (found?.fields ?? []).map((field) => {
    const { path, before, after, is_cut, secret, attribution } = field;
    const theirs = findEdit(found?.edits ?? [], attribution ?? undefined);
    return {
      path,
      is_cut,
      secret,
      ours: { value: before, actor: user, source: run, at },
      theirs: {
        value: after,
        actor: theirs?.actor ?? null,
        source: theirs?.source ?? null,
        at: theirs?.at ?? null,
      },
    };
  });
  return { address, times, since, fields };
}

function buildUnready({ address, unready, message }: UnreadyNote): Notification.Unready {
  return { address, ...unready, message };
}

function buildResource(change: Change, { organizations }: PlanDocument): DriftedResource {
  const { address, kind, name, organization_id: owner, source } = change;
  return {
    address,
    kind,
    name,
    organization: owner === null ? null : (organizations[owner] ?? owner),
    id: change.id ?? change.missing_id,
    is_gone: isAbsent(change),
    source,
    fields: change.fields.map(buildField),
    attribution: change.attribution ?? null,
    edits: change.edits ?? [],
  };
}

function buildField(field: FieldChange): DriftedField {
  const { path, secret, cause, attribution } = field;
  const whole = [masked(field, field.before), masked(field, field.after)] as const;
  const [before, after] = [cut(whole[0]), cut(whole[1])];
  const isCut = before !== whole[0] || after !== whole[1];
  const conflict = cause === 'conflict';
  return { path, before, after, is_cut: isCut, secret, conflict, attribution: attribution ?? null };
}

/** A value that is not too long, or the beginning of it as a text. */
function cut(value: Json): Json {
  const text = formText(value);
  return text.length <= MAX_VALUE ? value : clip(text, MAX_VALUE);
}

/** The first of the changes, as many as there is room for. */
function fitting<Item>(changes: readonly Item[]): readonly Item[] {
  let room = MAX_CHANGES;
  const first = changes.findIndex((change) => {
    room -= JSON.stringify(change).length;
    return room < 0;
  });
  return first < 0 ? changes : changes.slice(0, first);
}

function summarise(drift: PlanDocument, drifted: readonly DriftedResource[]): Summary {
  const fields = drifted.flatMap((resource) => resource.fields);
  const count = (certainty: Attribution['certainty']) =>
    fields.filter(({ attribution }) => attribution?.certainty === certainty).length;
  return {
    compared: comparedCount(drift),
    drifted: drifted.length,
    gone: drifted.filter(({ is_gone: isGone }) => isGone).length,
    unready: listUnready(drift).length,
    fields: {
      entry: count('entry'),
      actor: count('actor'),
      one_of: count('one_of'),
      unknown: count('unknown'),
    },
  };
}

/** Addresses stand in the configuration; names, actors and values were written by anybody. */
function formatText(
  drift: PlanDocument,
  drifted: readonly DriftedResource[],
  { pipeline }: Sender,
  contested: readonly Contested[],
): string {
  const fought = new Set(contested.map(({ address }) => address));
  const first = drifted.toSorted(
    (one, other) => Number(fought.has(other.address)) - Number(fought.has(one.address)),
  );
  const named = first.slice(0, MAX_NAMED).map(({ address, fields, is_gone: isGone }) => {
    const what = isGone ? 'gone' : formatCount(fields.length, 'setting');
    return `${plain(address)}: ${what}${fought.has(address) ? ', contested' : ''}`;
  });
  const unready = listUnready(drift);
  const waiting = unready
    .slice(0, MAX_NAMED)
    .map(({ address, unready: { phase } }) => `${plain(address)}: not ready (${phase})`);
  const rest = drifted.length - named.length + unready.length - waiting.length;
  return [
    ...(fought.size === 0
      ? []
      : [`Contested: ${formatCount(fought.size, 'resource')} no longer put back`]),
    plain(headline(drift)),
    ...named,
    ...waiting,
    ...(rest > 0 ? [`and ${formatCount(rest, 'more resource')}`] : []),
    ...(pipeline === null ? [] : [pipeline]),
  ].join('\n');
}

/** Chats take `<!channel>`, `<@name>` and `@all` for calls to everybody. */
function plain(text: string): string {
  return sanitiseLine(text).replace(/[<>&@]/g, '');
}
