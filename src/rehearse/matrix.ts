import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { SeedDocument } from '../simulator/index.ts';
import type { AnswerRecord } from '../snapshot/format.ts';

/** What may be used and by whom it is locked, as the platform's answers tell. */
type Matrix = Pick<
  SeedDocument,
  'features' | 'llm_models' | 'stt_providers' | 'feature_administration_enabled' | 'locks'
> & {
  readonly locksOfReseller: (id: string) => readonly string[];
  readonly locksOfOrganization: (id: string, reseller: string | null) => readonly string[];
};

/** A row with a text under `member`. */
type Row<M extends string> = JsonObject & { readonly [member in M]: string };

/**
 * Carries features, locks and catalogues over. A lock is placed where it was placed; one that is inherited from
 * a level which the key may not ask about is placed on the organization, where it weighs as much.
 */
export function matrixOf(answers: readonly AnswerRecord[]): Matrix {
  const rows = answers.filter(({ operation }) => operation === 'listFeatures');
  const account = rows.find((one) => one.organization_id === null && one.reseller_id === null);
  const ofAccount = new Set(lockedIn(account).map(({ key }) => key));
  const ofReseller = new Map(
    rows.flatMap((one) =>
      one.reseller_id === null ? [] : [[one.reseller_id, here(one)] as const],
    ),
  );
  const ofOrganization = new Map(rows.map((one) => [one.organization_id, lockedIn(one)]));
  const above = (reseller: string | null) =>
    new Set([...ofAccount, ...(ofReseller.get(reseller ?? '') ?? [])]);
  const models = entriesOf(answers, 'listLlmModels');
  const features = distinct(
    rows.flatMap((one) => rowsOf(one.answer, 'key')),
    'key',
  );
  const speech = entriesOf(answers, 'listSttProviders');
  return {
    ...(features.length === 0 ? {} : { features: features.map(described) }),
    ...(models.length === 0 ? {} : { llm_models: withLocked(models, features) }),
    ...(speech.length === 0 ? {} : { stt_providers: speech }),
    feature_administration_enabled: rows.every(({ answer }) => isGoverned(answer)),
    locks: [...ofAccount],
    locksOfReseller: (id) => ofReseller.get(id) ?? [],
    locksOfOrganization: (id, reseller) => {
      const known = above(reseller);
      return (ofOrganization.get(id) ?? [])
        .filter(({ key, locked_scope: scope }) => scope === 'here' || !known.has(key))
        .map(({ key }) => key);
    },
  };
}

/** While the matrix does not govern, resellers have no say and older settings lock (Features, notes). */
function isGoverned(answer: Json): boolean {
  return !isObject(answer) || answer.feature_administration_enabled !== false;
}

function lockedIn(one: AnswerRecord | undefined): readonly Row<'key'>[] {
  return rowsOf(one?.answer ?? null, 'key').filter(({ state }) => state === 'locked');
}

function here(one: AnswerRecord): readonly string[] {
  return lockedIn(one)
    .filter(({ locked_scope: scope }) => scope === 'here')
    .map(({ key }) => key);
}

function rowsOf<M extends string>(answer: Json, member: M): readonly Row<M>[] {
  const rows = isObject(answer) && isList(answer.data) ? answer.data : [];
  return rows.filter((row): row is Row<M> => isObject(row) && typeof row[member] === 'string');
}

function distinct<M extends string>(rows: readonly Row<M>[], member: M): readonly Row<M>[] {
  return [...new Map(rows.map((row) => [row[member], row])).values()];
}

function entriesOf(answers: readonly AnswerRecord[], operation: string): readonly Row<'id'>[] {
  const told = answers.filter((one) => one.operation === operation);
  return distinct(
    told.flatMap(({ answer }) => rowsOf(answer, 'id')),
    'id',
  );
}

function described({ key, name, description, category }: Row<'key'>) {
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  return { key, name: text(name), description: text(description), category: text(category) };
}

/** A model that is locked for everybody who was asked about is in no list of models, and is there all the same. */
function withLocked(
  models: readonly Row<'id'>[],
  features: readonly Row<'key'>[],
): readonly Row<'id'>[] {
  const known = new Set(models.map(({ id }) => id));
  const others = features
    .filter(({ key }) => key.startsWith('llm.'))
    .map(({ key }) => key.slice('llm.'.length))
    .filter((id) => !known.has(id));
  return [...models, ...others.map((id) => ({ id, name: id }))];
}
