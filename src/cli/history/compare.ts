import { digestOf } from '../../core/digest.ts';
import { CallsheetError } from '../../core/errors.ts';
import { parsePath } from '../../core/path.ts';
import { contextAt, maskAt, sensitivity } from '../../core/redact.ts';
import type { Json } from '../../core/value.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import type { VersionField } from '../../render/read/version-diff.ts';
import { type Setting, type Version, valuesByDigest } from './versions.ts';

/** The recorded settings in which two known versions differ, masked. */
export function compareVersions(
  kind: Kind,
  one: Version,
  other: Version,
  known: Iterable<Version>,
): readonly VersionField[] {
  const values = valuesByDigest(known);
  const whole = (setting: Setting | undefined): Setting => {
    if (setting === undefined) return { value: null };
    const value = 'digest' in setting ? values.get(setting.digest) : undefined;
    return value === undefined ? setting : { value };
  };
  const paths = [...new Set([...one.settings.keys(), ...other.settings.keys()])]
    .filter((path) => [one, other].every((of) => !of.isPartial || of.settings.has(path)))
    .sort();
  return paths.flatMap((path) => {
    const [before, after] = [whole(one.settings.get(path)), whole(other.settings.get(path))];
    return isSame(before, after) ? [] : [fieldOf(kind, path, before, after)];
  });
}

function isSame(before: Setting, after: Setting): boolean {
  const digests = [before, after].map((setting) =>
    'value' in setting ? digestOf(setting.value) : 'digest' in setting ? setting.digest : undefined,
  );
  return digests[0] !== undefined && digests[0] === digests[1];
}

function fieldOf(kind: Kind, path: string, before: Setting, after: Setting): VersionField {
  const at = parsePath(path) ?? [path];
  const field = contextAt(kind.schema, at);
  const shown = (setting: Setting): Json =>
    'value' in setting ? maskAt(kind.schema, at, setting.value) : null;
  const secret = [before, after].some(
    (setting) => 'value' in setting && sensitivity(field, setting.value) === 'whole',
  );
  const isUnknown = 'unknown' in before || 'unknown' in after;
  return {
    path,
    before: shown(before),
    after: shown(after),
    secret,
    differs: isUnknown ? null : true,
    kept: { before: 'value' in before, after: 'value' in after },
  };
}

/** The version that somebody means. Throws where nothing is known of its settings, with what is known. */
export function versionCalled(
  id: number,
  label: string,
  entries: readonly HistoryEntry[],
  known: ReadonlyMap<number, Version>,
): Version {
  const found = known.get(id);
  if (found !== undefined) return found;
  const isThere = entries.some((entry) => entry.id === id);
  const message = isThere
    ? `the platform does not tell the settings of a version, and Callsheet has no copy of version ${id} of ${label}`
    : `${label} has no version ${id} in its history`;
  throw new CallsheetError('usage', message, { hint: knownWords(known) });
}

function knownWords(known: ReadonlyMap<number, Version>): string {
  if (known.size < 2) {
    return 'Copies come from the runs of the stack (callsheet runs), and of this agent they left none that could be compared.';
  }
  const lines = [...known.values()]
    .sort((a, b) => b.entry - a.entry)
    .map(({ entry, from }) => `  ${entry}  ${from}`);
  return ['These can be compared, by their id:', ...lines].join('\n');
}
