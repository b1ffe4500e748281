import { randomInt } from 'node:crypto';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { type Chance, seedChance } from './ids.ts';

/** The forms in which a platform may store a value instead of the one that was sent. */
const STORED_FORMS = ['trim', 'lines', 'compose', 'lower', 'slash', 'null'] as const;
export type StoredForm = (typeof STORED_FORMS)[number];

/**
 * How the simulator behaves where the specification is silent. Each option is a reading that the text
 * allows; Callsheet must come to the same end under every one of them. The first of an option's values
 * is the simulator's default, and what the OpenAPI document describes.
 */
export const DIALECT_OPTIONS = {
  merge: chooseOne(
    ['deep', 'shallow'],
    '`deep`: an update of a nested object changes the members that it has. `shallow`: it replaces the object. Secrets that it does not mention survive both',
  ),
  nulls: chooseOne(
    ['clears', 'rejected'],
    '`clears`: null empties a field. `rejected`: null is a 400, except where the specification names it as a value',
  ),
  emptyText: chooseOne(
    ['kept', 'null', 'absent'],
    'how a text field that was emptied comes back: as an empty text, as null, or not at all',
  ),
  unset: chooseOne(
    ['absent', 'null'],
    'whether an agent is returned without the fields that nobody set, or with null in them',
  ),
  nestedDefaults: chooseOne(
    [false, true],
    'whether the platform fills in members of `voice_settings` and `config` that were not sent',
  ),
  newFields: chooseOne(
    ['snake_case', 'as_sent', 'dropped'],
    'what becomes of a field of an agent that the specification does not show: it is returned in snake_case, under the name that it was sent under, or not at all',
  ),
  values: chooseOne(
    ['documented', 'any'],
    'whether a value, a form of an address or sender, or a number below the usual that the specification does not name is a 400, or taken',
  ),
  translatorNull: chooseOne(
    ['kept', 'cleared'],
    'whether a translator keeps its settings when null is sent for them, or loses them as other agents do',
  ),
  characters: chooseOne(
    ['code_points', 'utf16'],
    'whether the characters of a text are counted as code points, or as UTF-16 has them: an emoji as two',
  ),
  megabyte: chooseOne(
    ['binary', 'decimal'],
    'whether a megabyte of a document or a clip has 1,048,576 bytes or 1,000,000',
  ),
  sipData: chooseOne(
    ['camelCase', 'snake_case'],
    'how the members of `sip_registration_data` are spelled: as the endpoint of the registration answers them, or as an agent has its fields',
  ),
  newAgentStatus: chooseOne(
    ['active', 'inactive', 'pending'],
    'the status of an agent that is created without one',
  ),
  createAnswer: chooseOne(
    ['record', 'id'],
    'what the creation of an agent or a retry policy answers: the whole record, or its id alone',
  ),
  updateAnswer: chooseOne(
    ['record', 'success'],
    'what an update of an agent or a template, and a change of the payment tool, answer: the record, or `{ success: true }` alone',
  ),
  createdStatus: chooseOne(
    [201, 200],
    'status of creations whose status is not given: agents, retry policies, e-mail templates, voices',
  ),
  deletedStatus: chooseOne(
    [204, 200],
    'status of deletions whose status is not given; 200 brings `{ success: true }`',
  ),
  enqueuedStatus: chooseOne([202, 200], 'status of an accepted request to ingest a document'),
  me: chooseOne(
    ['bare', 'wrapped'],
    'whether `/v1/me` answers its members as they are or under `data`',
  ),
  meScope: chooseOne(
    ['nested', 'flat'],
    'how `/v1/me` reports the scope of a key: `scope: { level, id }`, or `scope_level` and `scope_id`',
  ),
  readiness: chooseOne(
    ['bare', 'wrapped'],
    'whether payment readiness answers its members as they are or under `data`',
  ),
  listOrder: chooseOne(
    ['created', 'newest', 'name'],
    'the order of agents, templates, retry policies, sources and voices in lists',
  ),
  listFields: chooseOne(
    ['some', 'fewest', 'all'],
    'which fields items of the agent list have: about ten, only `id` and `name`, or all',
  ),
  listUpdatedAt: chooseOne([true, false], 'whether items of the agent list carry `updated_at`'),
  listPages: chooseOne(
    ['counted', 'bare', 'whole'],
    'lists whose answer is not shown (templates, retry policies): pages with `pagination`, pages with nothing but `data`, or everything at once under `data`',
  ),
  emptyListPages: chooseOne([0, 1], '`totalPages` of a list that has nothing in it'),
  pageLimit: chooseOne(
    ['refused', 'clamped'],
    'whether a `limit` above 100 is a 400 or taken as 100',
  ),
  historyOrder: chooseOne(['newest', 'oldest'], 'which history entry comes first'),
  historyCreatedAt: chooseOne([true, false], 'whether history entries carry `created_at`'),
  historyLagMs: wholeNumber('milliseconds until a history entry can be seen and reverted to'),
  historyRetention: wholeNumberOrNone('how many entries an agent keeps; `null` keeps all'),
  emptyUpdates: chooseOne(
    ['recorded', 'ignored'],
    'whether an update that changes nothing makes a history entry and a new `updated_at`',
  ),
  facetEntries: chooseOne(
    [false, true],
    'whether the SIP flag and the payment tool make history entries',
  ),
  deletedPolicy: chooseOne(
    ['emptied', 'unstamped', 'dangling'],
    "what becomes of an agent's `default_retry_policy_id` once that policy is gone: it is emptied, emptied while `updated_at` stays as it was, or kept; its calls are not retried either way",
  ),
  voiceIds: chooseOne(['uuid', 'text'], 'what ids of cloned voices look like'),
  voiceLanguage: chooseOne(
    ['stored', 'spoken', 'imposed'],
    "where a cloned voice's language is applied: written into `voice_settings.language` when the voice is chosen, unless the same write names one (`stored`) or whatever it names (`imposed`), or only on calls",
  ),
  stores: chooseSome(
    STORED_FORMS,
    'what becomes of values that are stored otherwise than they were sent: texts without white space at both ends (`trim`), with line feeds (`lines`), with composed letters (`compose`); e-mail addresses and hosts in small letters (`lower`); addresses with a slash at the end (`slash`); null for an empty text (`null`), where null empties a field. `drawn` is some of them, by the seed of `inventions`',
  ),
  counters: chooseOne(
    ['still', 'moving'],
    'whether an agent has a number that its calls move, and `updated_at` with it: what is read half a minute after a change was called meanwhile',
  ),
  limitsOff: chooseOne(
    ['kept', 'forgotten'],
    'what becomes of the limits of the payment tool while it is switched off; no answer tells them then',
  ),
  pageNames: chooseOne(['url', 'title', 'none'], '`name` of a source that is a page'),
  inventions: wholeNumberOrNone(
    'seed of what a platform must have and the specification does not show: the states of a source before it is ingested, the members that `unknownFields` adds, and the forms of `stores=drawn`. `null` draws one for each start',
  ),
  ingestionReads: wholeNumber('how many lists of sources still show an ingestion as running'),
  duplicates: chooseOne(
    ['announced', 'uploaded'],
    'whether a document counts as a duplicate once it was announced, or once its bytes came',
  ),
  reingestedFile: chooseOne(
    ['added', 'replaced'],
    'whether a document that is forced beside its duplicate becomes a new source or takes the old one over',
  ),
  emptyEnqueue: chooseOne(
    ['refused', 'failed'],
    'enqueueing a document whose bytes never came: a 400, or accepted and then a failed ingestion',
  ),
  sipLagMs: wholeNumber('milliseconds until a change of the SIP flag reaches the registrar'),
  sipForeign: chooseOne(
    [403, 400, 409],
    'how the SIP flag of an agent on another provider is rejected',
  ),
  wrongCredentials: chooseOne([401, 400, 403], 'status for an unknown client or a wrong secret'),
  emailErrors: chooseOne(
    ['apart', 'bad-request'],
    'statuses of a locked e-mail template (403) and a taken name (409), or 400 for both',
  ),
  featureRows: chooseOne(
    ['all', 'named'],
    'whether the feature list has every feature, or only those whose keys the specification names',
  ),
  callLogOrder: chooseOne(['newest', 'oldest'], 'which call log comes first'),
  metrics: chooseOne(
    ['complete', 'late', 'partial'],
    'whether metrics know all calls that are over, only those that ended 6 hours ago, or list only two thirds of the agents, the busiest, while totals count all. `absent=getMetrics` is a platform without them',
  ),
  limitBody: chooseOne(
    ['coded', 'empty', 'text'],
    'the body of a 429: a code and a sentence, nothing, or plain text',
  ),
  absent: operationIds('operations that this platform does not have'),
  absentAnswer: chooseOne(
    ['coded', 'page', 'method'],
    "what those answer: a 404 with a code, a gateway's 404 page in HTML, or a 405",
  ),
  dates: chooseOne([true, false], 'whether answers carry the header `Date`'),
  timestamps: chooseOne(
    ['milliseconds', 'microseconds', 'seconds', 'offset'],
    'how instants are written: `…05.123Z`, `…05.123000Z`, `…05Z` or `…05.123+00:00`',
  ),
  unknownFields: chooseOne([false, true], 'whether every answer has members that no schema knows'),
  keyOrder: chooseOne(['stable', 'shuffled'], 'whether members of answers keep their order'),
  numbers: chooseOne(['plain', 'decimal'], 'whether whole numbers are written `20` or `20.0`'),
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

type Option<Value> = {
  readonly fallback: Value;
  /** All of them, where they are few. */
  readonly values: readonly Value[];
  /** For messages: `deep or shallow`. */
  readonly accepts: string;
  readonly meaning: string;
  readonly isValue: (value: unknown) => value is Value;
};

/** One of some values; the first is the fallback. */
function chooseOne<const Value extends string | number | boolean>(
  values: readonly [Value, ...Value[]],
  meaning: string,
): Option<Value> {
  return {
    fallback: values[0],
    values,
    accepts: values.join(' or '),
    meaning,
    isValue: (value): value is Value => values.some((one) => one === value),
  };
}

/** Some of these values, or `drawn`; none is the fallback. */
function chooseSome<const Value extends string>(
  values: readonly Value[],
  meaning: string,
): Option<readonly (Value | 'drawn')[]> {
  const all: readonly unknown[] = [...values, 'drawn'];
  return {
    fallback: [],
    values: [],
    accepts: `some of ${all.join(', ')}`,
    meaning,
    isValue: (value): value is readonly (Value | 'drawn')[] =>
      Array.isArray(value) && value.every((one) => all.includes(one)),
  };
}

/** A whole number from 0, the fallback. */
function wholeNumber(meaning: string): Option<number> {
  return { fallback: 0, values: [], accepts: 'a whole number', meaning, isValue: isWhole };
}

/** A whole number above 0, or null, the fallback. */
function wholeNumberOrNone(meaning: string): Option<number | null> {
  return {
    fallback: null,
    values: [],
    accepts: 'a whole number above 0 or null',
    meaning,
    isValue: (value): value is number | null => value === null || (isWhole(value) && value > 0),
  };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Names of operations; none is the fallback. */
function operationIds(meaning: string): Option<readonly OperationId[]> {
  return {
    fallback: [],
    values: [],
    accepts: 'names of operations',
    meaning,
    isValue: (value): value is readonly OperationId[] =>
      Array.isArray(value) && value.every((name) => Object.hasOwn(operations, String(name))),
  };
}

/** A dialect as far as it is good, and a sentence for everything that is not. */
type DialectReading = {
  readonly dialect: Partial<Dialect>;
  readonly problems: readonly string[];
};

/** Reads a part of a dialect from anything, such as a parsed file. */
export function readDialect(part: unknown): DialectReading {
  if (typeof part !== 'object' || part === null || Array.isArray(part))
    return { dialect: {}, problems: ['the dialect must be an object'] };
  const problems: string[] = [];
  const good: { [name: string]: unknown } = {};
  for (const [name, given] of Object.entries(part)) {
    const option = findOption(name);
    // In YAML the value `null` of `unset` is a null.
    const value = given === null && option?.isValue('null') ? 'null' : given;
    if (option === undefined) problems.push(`there is no option ${name}`);
    else if (option.isValue(value)) good[name] = value;
    else problems.push(`${name} must be ${option.accepts}, not ${JSON.stringify(given)}`);
  }
  return { dialect: good as Partial<Dialect>, problems };
}

/** Options that take names with commas between. */
const LISTS: ReadonlySet<string> = new Set(['absent', 'stores']);

/** Reads `name=value` pairs, as a command line has them. */
export function readDialectFlags(pairs: readonly string[]): DialectReading {
  const split = pairs.map((pair) => /^([^=]+)=(.*)$/s.exec(pair) ?? [pair, pair, undefined]);
  const malformed = split.flatMap(([pair, , text]) =>
    text === undefined ? [`${pair} must be name=value`] : [],
  );
  const given = split.flatMap(([, name = '', text]) =>
    text === undefined ? [] : [[name, LISTS.has(name) ? names(text) : scalar(text)] as const],
  );
  const { dialect, problems } = readDialect(Object.fromEntries(given));
  return { dialect, problems: [...malformed, ...problems] };
}

function names(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}

function scalar(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

function findOption(name: string): Option<unknown> | undefined {
  return Object.hasOwn(DIALECT_OPTIONS, name)
    ? (DIALECT_OPTIONS as { readonly [name: string]: Option<unknown> })[name]
    : undefined;
}

/**
 * Facts that a platform must have and the specification does not show. They are drawn for each start, so that no code
 * can come to rely on the choices of this simulator. The specification shows that a source can be `active`, not when:
 * it may be that before it is ingested, too.
 */
export type Inventions = {
  /** `status` of a source before its ingestion, during it, and after it failed. */
  readonly states: { readonly waiting: string; readonly working: string; readonly failed: string };
  /** How a source that was never ingested tells so. */
  readonly nothing: JsonObject;
  /** Members that no schema knows, where answers have such (`unknownFields`). */
  readonly unknown: JsonObject;
  /** How a transcript says that the webhook `{name}` failed. */
  readonly failure: string;
  /** The forms of `stores` where those are drawn; at least one. */
  readonly stored: readonly StoredForm[];
};

const STATES: Readonly<Record<keyof Inventions['states'], readonly string[]>> = {
  waiting: [
    'active',
    'awaiting_upload',
    'created',
    'draft',
    'new',
    'pending',
    'ready',
    'uploading',
  ],
  working: [
    'active',
    'crawling',
    'embedding',
    'in_progress',
    'indexing',
    'ingesting',
    'pending',
    'processing',
    'queued',
    'syncing',
  ],
  failed: ['active', 'broken', 'done', 'error', 'failed', 'inactive', 'ingestion_failed'],
};

const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => word.replaceAll('_', '-'),
  (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  (word) => `source_${word}`,
];

const NOTHING: readonly JsonObject[] = [
  { chunk_count: 0, last_synced_at: null },
  { chunk_count: 0 },
  { last_synced_at: null },
  {},
];

const MEMBERS: readonly (readonly [string, Json])[] = [
  ['_links', { self: null }],
  ['failure', null],
  ['experiments', ['b']],
  ['ingested', true],
  ['job', { id: 'job-1', state: 'finished' }],
  ['progress', 100],
  ['tenant_shard', 7],
];

/** One of the words `error` and `failed` is in all of them: people have to know what to look for. */
const FAILURES: readonly string[] = [
  'Webhook {name} failed: no answer within 10 s',
  'Error in webhook {name}: HTTP 502',
  'ERROR: the webhook {name} could not be reached',
  'Tool call {name} failed after 3 attempts',
  'An error occurred while {name} was executed',
  'Webhook {name} Failed (connection refused)',
];

const drawn = new Map<number | null, Inventions>();

/** The inventions of a seed; the same seed draws the same. */
export function drawInventions(seed: number | null): Inventions {
  const known = drawn.get(seed);
  if (known !== undefined) return known;
  const inventions = draw(seedChance(seed ?? 0));
  drawn.set(seed, inventions);
  return inventions;
}

/** A seed for a start that names none. */
export function drawSeed(): number {
  return randomInt(1, 2 ** 31);
}

function draw(chance: Chance): Inventions {
  const spell = chance.pick(SPELLINGS);
  // Spelled in another way, `active` would be another word.
  const named = (words: readonly string[]) => {
    const word = chance.pick(words);
    return word === 'active' ? word : spell(word);
  };
  const members = MEMBERS.filter(() => chance.isLikely(0.5));
  const drawnForms = STORED_FORMS.filter(() => chance.isLikely(0.5));
  return {
    states: {
      waiting: named(STATES.waiting),
      working: named(STATES.working),
      failed: named(STATES.failed),
    },
    nothing: chance.pick(NOTHING),
    unknown: { [`x_${chance.between(0, 9999)}`]: true, ...Object.fromEntries(members) },
    failure: chance.pick(FAILURES),
    stored: [...new Set([...drawnForms, chance.pick(STORED_FORMS)])],
  };
}
