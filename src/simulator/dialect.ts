import { type Option, oneOf, operationIds, wholeNumber, wholeNumberOrNone } from './option.ts';

/**
 * How the simulator behaves where the specification is silent. Each option is a reading that the text
 * allows; Callsheet must come to the same end under every one of them. The first of an option's values
 * is what the simulator does unless it is told otherwise, and what the OpenAPI document describes.
 */
export const DIALECT_OPTIONS = {
  merge: oneOf(
    ['deep', 'shallow'],
    '`deep`: an update of a nested object changes the members that it has. `shallow`: it replaces the object. Secrets that it does not mention survive both',
  ),
  nulls: oneOf(
    ['clears', 'rejected'],
    '`clears`: null empties a field. `rejected`: null is a 400, except where the specification names it as a value',
  ),
  emptyText: oneOf(
    ['kept', 'null', 'absent'],
    'how a text field that was emptied comes back: as an empty text, as null, or not at all',
  ),
  unset: oneOf(
    ['absent', 'null'],
    'whether an agent is returned without the fields that nobody set, or with null in them',
  ),
  nestedDefaults: oneOf(
    [false, true],
    'whether the platform fills in members of `voice_settings` and `config` that were not sent',
  ),
  newFields: oneOf(
    ['snake_case', 'as_sent', 'dropped'],
    'what becomes of a field of an agent that the specification does not show: it is returned in snake_case, under the name that it was sent under, or not at all',
  ),
  newAgentStatus: oneOf(
    ['active', 'inactive', 'pending'],
    'the status of an agent that is created without one',
  ),
  createAnswer: oneOf(
    ['record', 'id'],
    'what the creation of an agent or a retry policy answers: the whole record, or its id alone',
  ),
  updateAnswer: oneOf(
    ['record', 'success'],
    'what an update of an agent or a template, and a change of the payment tool, answer: the record, or `{ success: true }` alone',
  ),
  createdStatus: oneOf(
    [201, 200],
    'status of creations whose status is not given: agents, retry policies, e-mail templates, voices',
  ),
  deletedStatus: oneOf(
    [204, 200],
    'status of deletions whose status is not given; 200 brings `{ success: true }`',
  ),
  enqueuedStatus: oneOf([202, 200], 'status of an accepted request to ingest a document'),
  me: oneOf(
    ['bare', 'wrapped'],
    'whether `/v1/me` answers its members as they are or under `data`',
  ),
  meScope: oneOf(
    ['nested', 'flat'],
    'how `/v1/me` reports the scope of a key: `scope: { level, id }`, or `scope_level` and `scope_id`',
  ),
  readiness: oneOf(
    ['bare', 'wrapped'],
    'whether payment readiness answers its members as they are or under `data`',
  ),
  listOrder: oneOf(
    ['created', 'newest', 'name'],
    'the order of agents, templates, retry policies, sources and voices in lists',
  ),
  listFields: oneOf(
    ['some', 'fewest', 'all'],
    'which fields items of the agent list have: about ten, only `id`, `organization_id` and `name`, or all',
  ),
  listUpdatedAt: oneOf([true, false], 'whether items of the agent list carry `updated_at`'),
  listPages: oneOf(
    ['counted', 'bare', 'whole'],
    'lists whose answer is not shown (templates, retry policies): pages with `pagination`, pages with nothing but `data`, or everything at once under `data`',
  ),
  emptyListPages: oneOf([0, 1], '`totalPages` of a list that has nothing in it'),
  pageLimit: oneOf(['refused', 'clamped'], 'whether a `limit` above 100 is a 400 or taken as 100'),
  historyOrder: oneOf(['newest', 'oldest'], 'which history entry comes first'),
  historyCreatedAt: oneOf([true, false], 'whether history entries carry `created_at`'),
  historyLagMs: wholeNumber('milliseconds until a history entry can be seen and reverted to'),
  historyRetention: wholeNumberOrNone('how many entries an agent keeps; `null` keeps all'),
  emptyUpdates: oneOf(
    ['recorded', 'ignored'],
    'whether an update that changes nothing makes a history entry and a new `updated_at`',
  ),
  facetEntries: oneOf(
    [false, true],
    'whether the SIP flag and the payment tool make history entries',
  ),
  deletedPolicy: oneOf(
    ['emptied', 'unstamped', 'dangling'],
    "what becomes of an agent's `default_retry_policy_id` once that policy is gone: it is emptied, emptied while `updated_at` stays as it was, or kept; its calls are not retried either way",
  ),
  voiceIds: oneOf(['uuid', 'text'], 'what ids of cloned voices look like'),
  voiceLanguage: oneOf(
    ['stored', 'spoken'],
    "where a cloned voice's language is applied: written into `voice_settings.language` when the voice is chosen, or only on calls",
  ),
  pageNames: oneOf(['url', 'title', 'none'], '`name` of a source that is a page'),
  inventions: wholeNumberOrNone(
    'seed of what a platform must have and the specification does not show: the states of a source before it is ingested, and the members that `unknownFields` adds. `null` draws one for each start',
  ),
  ingestionReads: wholeNumber('how many lists of sources still show an ingestion as running'),
  duplicates: oneOf(
    ['announced', 'uploaded'],
    'whether a document counts as a duplicate once it was announced, or once its bytes came',
  ),
  reingestedFile: oneOf(
    ['added', 'replaced'],
    'whether a document that is forced beside its duplicate becomes a new source or takes the old one over',
  ),
  emptyEnqueue: oneOf(
    ['refused', 'failed'],
    'enqueueing a document whose bytes never came: a 400, or accepted and then a failed ingestion',
  ),
  sipLagMs: wholeNumber('milliseconds until a change of the SIP flag reaches the registrar'),
  sipForeign: oneOf(
    [403, 400, 409],
    'how the SIP flag of an agent on another provider is rejected',
  ),
  wrongCredentials: oneOf([401, 400, 403], 'status for an unknown client or a wrong secret'),
  emailErrors: oneOf(
    ['apart', 'bad-request'],
    'statuses of a locked e-mail template (403) and a taken name (409), or 400 for both',
  ),
  featureRows: oneOf(
    ['all', 'named'],
    'whether the feature list has every feature, or only those whose keys the specification names',
  ),
  callLogOrder: oneOf(['newest', 'oldest'], 'which call log comes first'),
  limitBody: oneOf(
    ['coded', 'empty', 'text'],
    'the body of a 429: a code and a sentence, nothing, or plain text',
  ),
  absent: operationIds('operations that this platform does not have'),
  absentAnswer: oneOf(
    ['coded', 'page', 'method'],
    "what those answer: a 404 with a code, a gateway's 404 page in HTML, or a 405",
  ),
  dates: oneOf([true, false], 'whether answers carry the header `Date`'),
  timestamps: oneOf(
    ['milliseconds', 'microseconds', 'seconds', 'offset'],
    'how instants are written: `…05.123Z`, `…05.123000Z`, `…05Z` or `…05.123+00:00`',
  ),
  unknownFields: oneOf([false, true], 'whether every answer has members that no schema knows'),
  keyOrder: oneOf(['stable', 'shuffled'], 'whether members of answers keep their order'),
  numbers: oneOf(['plain', 'decimal'], 'whether whole numbers are written `20` or `20.0`'),
} as const;

type Options = typeof DIALECT_OPTIONS;

/** One value for each of `DIALECT_OPTIONS`. May be changed while the simulator runs. */
export type Dialect = {
  -readonly [name in keyof Options]: Options[name] extends Option<infer Value> ? Value : never;
};

export const DEFAULT_DIALECT: Dialect = fallbacks(DIALECT_OPTIONS);

function fallbacks(options: Options): Dialect {
  const entries = Object.entries(options).map(([name, { fallback }]) => [name, fallback]);
  // Every option brings the fallback of its own type.
  return Object.fromEntries(entries) as Dialect;
}
