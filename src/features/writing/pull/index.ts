import { type Address, getKind } from '../../../core/address.ts';
import type { DesiredResource } from '../../../core/desired.ts';
import { isError } from '../../../core/diagnostics.ts';
import type { PullDocument } from '../../../core/documents.ts';
import { CallsheetError } from '../../../core/errors.ts';
import { formatPath, startsWith, toPath } from '../../../core/path.ts';
import {
  type Change,
  type FieldChange,
  isGone,
  type PlanDocument,
} from '../../../core/plan-document.ts';
import type { FieldSchema } from '../../../core/schema.ts';
import { isSameJson, type Json, type ValueObject } from '../../../core/value.ts';
import { placeValue } from '../../../core/walk.ts';
import { isSpecial, listLeaves, normalise, resolveRefs, Unknown } from '../../../diff/leaves.ts';
import { kindNamed } from '../../../kinds/index.ts';
import type { Planned } from '../../../plan/make.ts';
import type { Loaded, Stack } from '../../../stack/index.ts';
import { followPath } from '../../../stack/resolved.ts';
import type { ResolvedResource } from '../../../stack/resource.ts';
import { type Source, type SourceRange, toPosition } from '../../../stack/source.ts';
import { Uneditable } from '../edit/nodes.ts';
import {
  type Choice,
  type Follower,
  type Group,
  groupLiveEdits,
  type SharedPlace,
  unwritableWords,
} from './group.ts';
import { plainPath, writtenPath } from './home.ts';
import { type Left, type LiveEdit, listLiveEdits, type Typed } from './live-edit.ts';
import { unifiedDiff } from './render.ts';
import { buildEdit, type FileEdit, textAfter } from './texts.ts';

/**
 * `pull/` brings what is live into the configuration: for each leaf that the platform moved it finds where
 * the value is written, changes it there, and shows by reading everything again that nothing else changed.
 * It computes texts; the command line writes them.
 *
 * ```
 * changes of a plan → wanted values → places to write in → edits → new texts → read again and compared
 * ```
 */
type PullInput = {
  readonly typed: Typed;
  readonly stack: Stack;
  readonly planned: Planned;
  /** True if live values are taken even if the configuration changed, too. */
  readonly theirs: boolean;
  /** True if texts that both sides changed get the edits of both. */
  readonly merge: boolean;
  /** Decides on a place that others share, and want otherwise; undefined: it is refused. */
  readonly choose: (key: string) => Choice | undefined;
  /** The text of a file of the stack, as it was read. */
  readonly textOf: (file: string) => string;
  /** Loads the stack with other texts in the place of what some files hold. */
  readonly reload: (texts: ReadonlyMap<string, string>) => Promise<Loaded>;
};

/** A leaf whose live value is written. */
type PulledLeaf = PullDocument['pulled'][number];

export type { Choice, SharedPlace };

export type Pulled = {
  readonly pulled: readonly PulledLeaf[];
  readonly kept: readonly Left[];
  readonly refused: readonly Left[];
  /** Changed on both sides: the configuration keeps its own until somebody decides. */
  readonly undecided: readonly Left[];
  /** The refusals that a person can decide on. */
  readonly questions: readonly SharedPlace[];
  /** By path in the stack folder. */
  readonly files: ReadonlyMap<string, { readonly before: string; readonly after: string }>;
};

/** Works out what is to be written where. Nothing is written. */
export async function pullLive(input: PullInput): Promise<Pulled> {
  const { stack, planned } = input;
  const { liveEdits, kept, refused, undecided } = collect(input);
  const written = stack.written();
  const byAddress = new Map(written.resources.map((one) => [one.address, one]));
  const { variables } = written;
  const grouped = groupLiveEdits(liveEdits, { ...input, byAddress, variables });
  refused.push(...grouped.refused);
  const idOf = (address: Address) => planned.ids.get(address);
  let ready: readonly Ready[] = grouped.groups.flatMap((group) => {
    const edit = buildEdit(group, { byAddress, variables, idOf });
    if (!('reason' in edit)) return [{ group, edit }];
    refused.push(...group.liveEdits.map((liveEdit) => unwritableWords(liveEdit, edit.reason)));
    return [];
  });
  let { followers } = grouped;
  for (;;) {
    const made = editTexts(ready, input);
    if ('failed' in made) {
      refused.push(...made.words);
      ready = ready.filter((one) => !made.failed.includes(one));
      continue;
    }
    const outcome = await check(made.texts, ready, followers, input);
    if ('resources' in outcome) {
      const questions = withValues(grouped.questions, planned.plan);
      const pulled = listPulled(ready, followers, outcome.resources);
      return { kept, refused, undecided, questions, files: made.files, pulled };
    }
    refused.push(...outcome.words);
    ready = ready.filter((one) => !outcome.failed.includes(one));
    followers = followers.filter((one) => !outcome.lost.includes(one));
  }
}

/** Live values that pull does not write without more, each with the choices that have it written; none: it is refused. */
export type Unwritten = readonly {
  readonly address: Address;
  readonly path: string;
  readonly choices: readonly Choice[];
}[];

const CHOICES: readonly Choice[] = ['own', 'shared'];

/** Lists what pull would refuse, as far as that is known without trying to write it. */
export function listUnwritten(input: Pick<PullInput, 'stack' | 'planned' | 'theirs'>): Unwritten {
  // The advice on it is not shown here.
  const asked = { ...input, merge: false, typed: (command: string) => command };
  const { liveEdits, refused } = collect(asked);
  const { resources, variables } = input.stack.written();
  const byAddress = new Map(resources.map((one) => [one.address, one]));
  const refusedWith = (choice: Choice | undefined) => {
    const grouped = groupLiveEdits(liveEdits, {
      ...asked,
      byAddress,
      variables,
      choose: () => choice,
    });
    return [...grouped.refused, ...grouped.followers.map(({ refusal }) => refusal)];
  };
  const chosen = CHOICES.map((choice) => ({ choice, left: refusedWith(choice) }));
  const plain = refusedWith(undefined).map(({ address, path }) => ({
    address,
    path,
    choices: chosen.flatMap(({ choice, left }) =>
      left.some((one) => one.address === address && one.path === path) ? [] : choice,
    ),
  }));
  return [...refused.map(({ address, path }) => ({ address, path, choices: [] })), ...plain];
}

/** Adds the values, so that the person who decides sees what would replace what. */
function withValues(
  questions: readonly SharedPlace[],
  { changes }: Pick<PlanDocument, 'changes'>,
): readonly SharedPlace[] {
  const fields = new Map(
    changes.flatMap(({ address, fields }) =>
      fields.map((field) => [`${address} ${field.path}`, field] as const),
    ),
  );
  return questions.map((question) => ({
    ...question,
    liveEdits: question.liveEdits.map(({ address, text }) => {
      const field = fields.get(`${address} ${text}`);
      // The plan would write the configured value over the live one.
      const values = field && { before: field.after, after: field.before };
      return { address, text, ...(values === undefined ? {} : { values }) };
    }),
  }));
}

function collect({
  planned,
  theirs,
  merge,
  typed,
}: Pick<PullInput, 'planned' | 'theirs' | 'merge' | 'typed'>) {
  const holders = new Map<string, Address>();
  for (const [address, id] of planned.ids) {
    holders.set(`${getKind(address)} ${id}`, address);
  }
  const addressOf = (kind: string, id: string) => holders.get(`${kind} ${id}`);
  const liveEdits: LiveEdit[] = [];
  const kept: Left[] = [];
  const refused: Left[] = [];
  const undecided: Left[] = [];
  for (const change of planned.plan.changes) {
    const gone = goneWords(change);
    if (gone !== undefined) refused.push(gone);
    const leaves = planned.found.get(change.address);
    if (leaves === undefined || change.verdict === 'unsupported') continue;
    const found = listLiveEdits(change, leaves, { addressOf, theirs, merge, typed });
    liveEdits.push(...found.liveEdits);
    kept.push(...found.kept);
    refused.push(...found.refused);
    undecided.push(...found.undecided);
  }
  return { liveEdits, kept, refused, undecided };
}

/** A resource that somebody deleted: that is for a person to repeat. */
function goneWords(change: Change) {
  if (!isGone(change)) return undefined;
  const { address, missing_id: id, source } = change;
  const where = source === null ? '' : ` (${source})`;
  return {
    address,
    path: '',
    reason: `it is no longer on the platform (id ${id})`,
    advice: `run \`callsheet apply\` to create it again; to keep it deleted, remove its block${where}`,
  };
}

type Texts = Pick<Pulled, 'files'> & { readonly texts: ReadonlyMap<string, string> };

/** The new text of every file, or what cannot be written. */
function editTexts(ready: readonly Ready[], { textOf }: PullInput): Texts | Failure {
  const files = new Map<string, { before: string; after: string }>();
  const texts = new Map<string, string>();
  for (const [file, own] of Map.groupBy(ready, ({ edit }) => plainPath(edit.file))) {
    const source: Source = { file, text: sourceText(file, own, textOf) };
    const after = attempt(source, own);
    if (typeof after !== 'string') {
      const alone = own.filter((one) => typeof attempt(source, [one]) !== 'string');
      const failed = alone.length > 0 ? alone : own;
      return { failed, words: refuseAll(failed, after.reason) };
    }
    files.set(file, { before: source.text, after });
    texts.set(file, after);
  }
  return { files, texts };
}

/** A file that is edited in places is the one that the places are of. */
function sourceText(file: string, ready: readonly Ready[], textOf: PullInput['textOf']): string {
  const within = ready.find(({ edit }) => edit.type !== 'text');
  if (within !== undefined) return within.edit.range.source.text;
  const text = textOf(file);
  // Planning takes its time, and somebody may have gone on writing.
  if (ready.some(({ edit }) => edit.type === 'text' && edit.now !== text)) throw moved(file);
  return text;
}

/** Somebody else wrote a file meanwhile. */
export function moved(file: string): CallsheetError {
  return new CallsheetError('stale', `${file} was changed while pull was running`, {
    hint: 'Nothing was written. Run it again.',
  });
}

function attempt(source: Source, ready: readonly Ready[]): string | { readonly reason: string } {
  try {
    return textAfter(
      source,
      ready.map(({ edit }) => edit),
    );
  } catch (error) {
    if (error instanceof Uneditable) return { reason: error.message };
    throw error;
  }
}

function listPulled(
  ready: readonly Ready[],
  followers: readonly Follower[],
  resources: readonly ResolvedResource[],
): readonly PulledLeaf[] {
  const byAddress = new Map(resources.map((one) => [one.address, one]));
  const named = ({ address, text }: LiveEdit) => ({ address, path: text });
  return [
    ...ready.flatMap(({ group, edit }) =>
      group.liveEdits.map((liveEdit) => ({
        ...named(liveEdit),
        file: plainPath(edit.file),
        line:
          edit.type === 'text' ? null : lineNow(liveEdit, edit, byAddress.get(liveEdit.address)),
        ...(group.along === undefined ? {} : { others: group.along.length }),
      })),
    ),
    ...followers.map(({ liveEdit }) => ({
      ...named(liveEdit),
      file: 'follows from another value',
      line: null,
    })),
  ];
}

/**
 * Finds the line of a wanted value in the new text, which other edits and the format may have moved;
 * of a value that is gone, the line of what held it.
 */
function lineNow(
  liveEdit: LiveEdit,
  { file, range }: FileEdit,
  resource: ResolvedResource | undefined,
): number {
  const isHere = (range: SourceRange | undefined) => range?.source.file === file;
  const path = writtenPath(liveEdit);
  for (let length = path.length; resource !== undefined && length > 0; length -= 1) {
    const node = followPath(resource.located, path.slice(0, length))?.written;
    const found = [node?.origin, node?.range].find(isHere);
    if (found !== undefined) return toPosition(found).line;
  }
  const body = resource?.layers.find((layer) => isHere(layer.body.range))?.body;
  return toPosition(body?.range ?? range).line;
}

/** A group with the edit that fulfils it. */
type Ready = { readonly group: Group; readonly edit: FileEdit };

/** Edits that are not to be made, and why. */
type Failure = { readonly failed: readonly Ready[]; readonly words: readonly Left[] };

/** The resources as the new texts say them, or what is wrong with those. */
type Verdict =
  | { readonly resources: readonly ResolvedResource[] }
  | (Failure & { readonly lost: readonly Follower[] });

/** Reads the stack with the new texts, and finds whom to blame for what is not as it should be. */
async function check(
  texts: ReadonlyMap<string, string>,
  ready: readonly Ready[],
  followers: readonly Follower[],
  { stack, planned, reload }: PullInput,
): Promise<Verdict> {
  if (ready.length === 0) {
    return followers.length === 0 ? { resources: [] } : withoutFollowers(followers);
  }
  const { stack: read, diagnostics } = await reload(texts);
  if (read === undefined) return blameErrors(ready, diagnostics);
  const readyEdits = ready.flatMap(({ group }) => [...group.liveEdits, ...(group.along ?? [])]);
  const all = [...readyEdits, ...followers.map(({ liveEdit }) => liveEdit)];
  const wrong = mismatches(stack.resources, read.resources, all, (one) => planned.ids.get(one));
  if (wrong.length > 0) return blameMismatches(ready, followers, wrong);
  return { resources: read.written().resources };
}

function withoutFollowers(lost: readonly Follower[]): Verdict {
  return { failed: [], lost, words: lost.map(({ refusal }) => refusal) };
}

/** The texts cannot be loaded: what is live breaks a rule that the configuration has to keep. */
function blameErrors(ready: readonly Ready[], diagnostics: Loaded['diagnostics']): Verdict {
  const errors = diagnostics.filter(isError);
  const first = errors[0]?.message ?? 'the configuration would have errors';
  const addresses = new Set(errors.map(({ address }) => address));
  const files = new Set(errors.map(({ position }) => position?.file));
  const named = ready.filter(
    ({ group, edit }) =>
      files.has(edit.file) || group.liveEdits.some(({ address }) => addresses.has(address)),
  );
  const failed = narrowed(named, errors) ?? (named.length > 0 ? named : ready);
  return { failed, lost: [], words: refuseAll(failed, `the live value is not valid: ${first}`) };
}

/** Something reads otherwise than it should: first those that only follow, then what is written there or nearby. */
function blameMismatches(
  ready: readonly Ready[],
  followers: readonly Follower[],
  wrong: readonly Mismatch[],
): Verdict {
  const byAddress = Map.groupBy(wrong, ({ address }) => address);
  const isMeant = (liveEdit: LiveEdit) =>
    (byAddress.get(liveEdit.address) ?? []).some(({ path }) => isAbout(liveEdit, path));
  const lost = followers.filter(({ liveEdit }) => isMeant(liveEdit));
  if (lost.length > 0) return withoutFollowers(lost);
  const about = ready.filter(({ group }) =>
    [...group.liveEdits, ...(group.along ?? [])].some(isMeant),
  );
  const near = ready.filter(({ group }) =>
    group.liveEdits.some((liveEdit) => byAddress.has(liveEdit.address)),
  );
  const failed = about.length > 0 ? about : near.length > 0 ? near : ready;
  const [{ address, path } = { address: '', path: '' }] = wrong;
  const what = path === '' ? address : `${address} ${path}`;
  const reason =
    about.length > 0
      ? 'the configuration would not have the live value, because another layer overrides it'
      : `writing it would change ${what} as well`;
  return { failed, lost: [], words: refuseAll(failed, reason) };
}

/** Those of the groups that an error names by address and field. */
function narrowed(
  ready: readonly Ready[],
  errors: Loaded['diagnostics'],
): readonly Ready[] | undefined {
  const exact = ready.filter(({ group }) =>
    group.liveEdits.some((liveEdit) =>
      errors.some(
        ({ address, path }) =>
          address === liveEdit.address &&
          path !== undefined &&
          (isAbout(liveEdit, path) || liveEdit.text.startsWith(path)),
      ),
    ),
  );
  return exact.length > 0 ? exact : undefined;
}

function refuseAll(ready: readonly Ready[], reason: string): readonly Left[] {
  return ready.flatMap(({ group }) =>
    group.liveEdits.map((liveEdit) => unwritableWords(liveEdit, reason)),
  );
}

/** A leaf that does not say what it should after the edits. */
type Mismatch = { readonly address: Address; readonly path: string };

/**
 * Finds differences between the resources as they should be, those of before with the wanted values, and as they are
 * after the edits. That is how a change that was not asked for is noticed.
 */
function mismatches(
  before: readonly DesiredResource[],
  after: readonly DesiredResource[],
  liveEdits: readonly LiveEdit[],
  idOf: (address: Address) => string | undefined,
): readonly Mismatch[] {
  const now = new Map(after.map((resource) => [resource.address, resource]));
  const wanted = Map.groupBy(liveEdits, ({ address }) => address);
  const known = new Set(before.map(({ address }) => address));
  const lost = after.flatMap(({ address }) => (known.has(address) ? [] : [{ address, path: '' }]));
  return before
    .flatMap((resource): readonly Mismatch[] => {
      const { address } = resource;
      const read = now.get(address);
      if (read === undefined) return [{ address, path: '' }];
      const { schema } = kindNamed(resource.kind);
      const document = (wanted.get(address) ?? []).reduce<ValueObject>(
        (given, { path, next }) => placeValue(schema, given, path, next, { adds: true }),
        resource.document,
      );
      return differing(
        indexForm(schema, document, idOf),
        indexForm(schema, read.document, idOf),
      ).map((path) => ({ address, path }));
    })
    .concat(lost);
}

function differing(a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>) {
  const all = new Set([...a.keys(), ...b.keys()]);
  // An edit keeps the order that the members of an object have in the file.
  return [...all].filter((path) => !isSameJson(a.get(path), b.get(path)));
}

/** The leaves of a document in the form in which a plan compares them. */
function indexForm(
  schema: FieldSchema,
  document: ValueObject,
  idOf: (address: Address) => string | undefined,
): ReadonlyMap<string, Json> {
  const form = new Map<string, Json>();
  for (const { text, value, schema: own } of listLeaves(schema, document).leaves.values()) {
    const resolved = resolveRefs(value, { findId: idOf });
    const known = resolved instanceof Unknown ? value : resolved;
    const plain = isSpecial(known) ? JSON.stringify(known) : normalise(own, known);
    if (plain !== null) form.set(text, plain);
  }
  return form;
}

/** True if a leaf is the wanted one, or lies in it. */
function isAbout({ path, text }: LiveEdit, leaf: string): boolean {
  return leaf === text || leaf.startsWith(`${formatPath(path)}.`) || leaf.startsWith(`${text}[`);
}

/** Describes the outcome of a pull, for people and for `--format json`. */
export function pullDocument(
  { pulled, kept, refused, undecided, files }: Pulled,
  status: PullDocument['status'],
  stack: Stack,
): PullDocument {
  return {
    format: 'callsheet-pull',
    version: 1,
    status,
    pulled: status === 'refused' ? [] : [...pulled],
    kept,
    refused,
    ...(undecided.length > 0 && { undecided }),
    files:
      status === 'refused'
        ? []
        : [...files].map(([path, { before, after }]) => ({
            path,
            created: false,
            ...(status === 'dry_run' && {
              diff: unifiedDiff({ file: path, before, after, isHidden: hiddenLines(stack, path) }),
            }),
          })),
  };
}

const SHORTEST = 4;

/**
 * Finds lines of a file that hold sensitive values in clear: no diff shows them. A line that is new holds one
 * where it has the words of one, as when something beside it changed.
 */
function hiddenLines(stack: Stack, file: string): (line: string) => boolean {
  const lines = new Set<string>();
  const words = new Set<string>();
  const { resources, masked } = stack.written();
  // A stack that was kept is read again for its resources, which says where its secrets stand.
  if (resources.length === 0) return () => false;
  for (const { source, start, end } of masked(file)) {
    const from = source.text.lastIndexOf('\n', start - 1) + 1;
    const to = source.text.indexOf('\n', end - 1);
    const text = source.text.slice(from, to < 0 ? undefined : to);
    for (const line of text.split(/\r?\n/)) lines.add(line);
    for (const line of source.text.slice(start, end).split(/\r?\n/)) words.add(line.trim());
  }
  // Shorter ones stand in other lines by chance.
  for (const word of words) if (word.length < SHORTEST) words.delete(word);
  return (line) => lines.has(line) || [...words].some((one) => line.includes(one));
}

/** Drift that says of each value what pull needs to write it. */
export function withPullFlags(drift: PlanDocument, planned: Planned, stack: Stack): PlanDocument {
  if (drift.changes.length === 0) return drift;
  // Live values of a conflict are taken by naming the resources: of others --theirs would take back what changed
  // here.
  const isConflict = ({ cause }: FieldChange) => cause === 'conflict';
  const both = planned.plan.changes.filter(({ fields }) => fields.some(isConflict));
  const conflicting = { ...planned, plan: { ...planned.plan, changes: both } };
  const byAddress = (unwritten: Unwritten) => Map.groupBy(unwritten, ({ address }) => address);
  const drifted = byAddress(listUnwritten({ stack, planned, theirs: false }));
  const conflicts = byAddress(listUnwritten({ stack, planned: conflicting, theirs: true }));
  const changes = drift.changes.map((change) => {
    const fields = change.fields.map((field) => {
      const own = (isConflict(field) ? conflicts : drifted).get(change.address) ?? [];
      const found = own.find(({ path }) => startsWith(toPath(field.path), toPath(path)));
      if (found === undefined) return field;
      return { ...field, pull_flags: found.choices.map((choice) => PULL_FLAGS[choice]) };
    });
    return { ...change, fields };
  });
  return { ...drift, changes };
}

const PULL_FLAGS = { own: '--override', shared: '--change-shared' } as const;
