import { fieldIn, isWithin, parsePaths, toPath } from '../core/path.ts';
import { type FieldSchema, isEchoed } from '../core/schema.ts';
import { getOwn } from '../core/value.ts';
import { schemasAlong, valueAt } from '../core/walk.ts';
import type { NotUndone, SnapshotTaken } from '../state/journal.ts';
import { type AppliedLeaf, concealedPaths, type ResourceState } from '../state/model.ts';

/** A run's effect on a resource that was there before. */
type Touched = {
  readonly snapshot: SnapshotTaken;
  /** Paths that it changed. */
  readonly changed: readonly string[];
  /** True if it took the whole resource away. */
  readonly isWhole: boolean;
  /** The state's record of it afterwards. */
  readonly recorded: ResourceState | null | undefined;
  /** Fields of files whose content comes back: a snapshot file may hold the bytes, no copy of a run does. */
  readonly filesBack?: readonly string[];
};

/** Paths of what cannot be put back because no snapshot holds it. */
type Unrecoverable = {
  /** Secrets, which the platform never returns, and sensitive values, which are not stored. */
  readonly secrets: readonly string[];
  /** Contents of files. */
  readonly files: readonly string[];
  /** Fields that are newer than the schema and not returned, of which the state has no more than a digest. */
  readonly unread: readonly string[];
};

export function unrecoverablePaths(root: FieldSchema, touched: Touched): Unrecoverable {
  const { snapshot, changed, isWhole, filesBack = [] } = touched;
  const paths = parsePaths(changed);
  const isTouched = (text: string) => isWhole || isWithin(toPath(text), paths);
  const along = (text: string) => schemasAlong(root, toPath(text));
  // A value that was kept encrypted, and opened, is there.
  const isThere = (text: string) =>
    snapshot.document !== null && (valueAt(root, snapshot.document, toPath(text)) ?? null) !== null;
  const files = changed.filter(
    (text) => along(text).some((schema) => schema['x-file']) && !filesBack.includes(text),
  );
  const introduced = new Set(secretsIntroduced(root, touched));
  const secrets = [
    ...[
      ...changed.filter((text) => isSecret(along(text), text, touched) && !introduced.has(text)),
      // Below an object that the run removed as well.
      ...concealedPaths(snapshot.resource?.leaves).filter(isTouched),
    ].filter((text) => !isThere(text)),
    ...snapshot.withheld.filter(isTouched),
  ];
  const written = isWhole ? Object.keys(snapshot.resource?.leaves ?? {}) : changed;
  const unread = written.filter((text) => isUnread(root, text, snapshot));
  return { secrets: [...new Set(secrets)].filter((text) => !unread.includes(text)), files, unread };
}

/** Secrets of an object that the run introduced with other members: emptied of those it goes, and they go with it. */
export function secretsIntroduced(root: FieldSchema, touched: Touched): readonly string[] {
  const { snapshot, changed, isWhole } = touched;
  const { document } = snapshot;
  if (document === null || isWhole) return [];
  const isOfSecret = (text: string) => isSecret(schemasAlong(root, toPath(text)), text, touched);
  const [secrets, others] = [changed.filter(isOfSecret), changed.filter((one) => !isOfSecret(one))];
  return secrets.filter((text) => {
    const owner = toPath(text).slice(0, -1);
    const isNew = owner.length > 0 && (valueAt(root, document, owner) ?? null) === null;
    return isNew && others.some((one) => isWithin(toPath(one), [owner]));
  });
}

function isUnread(root: FieldSchema, text: string, { document, resource }: SnapshotTaken): boolean {
  const field = fieldIn(text);
  const leaf = getOwn(resource?.leaves ?? {}, text);
  const isKept = leaf === undefined || 'value' in leaf;
  return !isKept && !isEchoed(root, field, document ?? {});
}

/** The reason for a value that the platform returns: it was there to be kept. */
const WITHHELD =
  'it is not restored, and is removed where the run removed it (with CALLSHEET_FINGERPRINT_KEY runs keep such values encrypted)';

/** The reason for a secret that went with its object. */
const REMOVED = 'the run removed it with what it is part of, which is restored without it';

/** Lists what cannot be put back, one entry a field. */
export function unrecoverableValues(root: FieldSchema, touched: Touched): readonly NotUndone[] {
  const { secrets, files, unread } = unrecoverablePaths(root, touched);
  const { address } = touched.snapshot;
  const withheld = new Set(touched.snapshot.withheld);
  const stays = touched.isWhole
    ? 'the resource is restored without it, until an apply writes it'
    : 'it stays as the run left it, until an apply writes it';
  const isWithheld = (path: string) => withheld.has(path) && !touched.isWhole;
  const isRemoved = (path: string) =>
    !touched.isWhole && !withheld.has(path) && !touched.changed.includes(path);
  return [
    ...secrets.map((path) => ({
      address,
      path,
      why: `is secret, so no snapshot holds it; ${isWithheld(path) ? WITHHELD : isRemoved(path) ? REMOVED : stays}`,
      advice:
        touched.isWhole || isRemoved(path)
          ? 'Apply writes it if it is configured.'
          : 'Set the secret to its previous value and apply.',
    })),
    ...unread.map((path) => ({
      address,
      path,
      why: `is not returned by the platform, and the state keeps no more than a digest of it; ${stays}`,
      advice: 'Apply writes it if it is configured.',
    })),
    ...files.map((path) => ({
      address,
      path,
      why: 'is a file, whose bytes no snapshot holds; it stays as the run left it',
      advice: 'Put the previous file back into the stack and apply.',
    })),
  ];
}

/**
 * Returns the state's new record of a resource that was put back: the former one, but for values that could not be
 * put back. Those are as the run left them or, if that is unknown, written again by the next apply.
 */
export function restoredState(root: FieldSchema, touched: Touched): ResourceState | null {
  const { resource } = touched.snapshot;
  if (resource === null) return null;
  const left = touched.isWhole ? {} : (touched.recorded?.leaves ?? {});
  const { secrets, files, unread } = unrecoverablePaths(root, touched);
  const leaves: Record<string, AppliedLeaf> = { ...resource.leaves };
  for (const text of [...secrets, ...files, ...unread]) {
    const along = schemasAlong(root, toPath(text));
    const isReturned = along.some((schema) => schema['x-sensitive'] === true);
    const known = getOwn(left, text);
    if (known !== undefined) leaves[text] = known;
    else if (isReturned) delete leaves[text];
    else if (Object.hasOwn(leaves, text)) leaves[text] = { unsettled: true };
  }
  return { ...resource, leaves };
}

/** By its schema, or because the state has a fingerprint of what the specification does not name. */
function isSecret(
  along: readonly FieldSchema[],
  text: string,
  { snapshot, recorded }: Touched,
): boolean {
  if (along.some((schema) => schema['x-secret'] === true)) return true;
  const isInside = along.some((schema) => schema['x-secrets-inside'] === true);
  const known = [snapshot.resource, recorded].flatMap((one) => concealedPaths(one?.leaves));
  return isInside && known.includes(text);
}
