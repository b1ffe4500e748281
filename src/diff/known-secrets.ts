import { parsePath } from '../core/path.ts';
import { contextAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { Secret, type ValueObject } from '../core/value.ts';
import { type AppliedLeaf, isConcealed } from '../state/model.ts';
import { leafTexts } from './leaves.ts';

/**
 * Paths of values that are secret although no schema says so, as the specification does not name every secret
 * that an integration may have (DESIGN §10): the configuration gives a `$secret` there, or the state has a
 * fingerprint of what was written there once, whatever the configuration says today.
 */
export function knownSecrets(
  root: FieldSchema,
  wanted: ValueObject = {},
  applied: Readonly<Record<string, AppliedLeaf>> = {},
): ReadonlySet<string> {
  const given = leafTexts(root, wanted, (value) => value instanceof Secret);
  const written = Object.entries(applied)
    .filter(([, leaf]) => isConcealed(leaf))
    // Elsewhere it is a credential within a value that has a fingerprint, and is found there again.
    .filter(([text]) => contextAt(root, parsePath(text) ?? [text]).secrecy.hidden !== 'no')
    .map(([text]) => text);
  return new Set([...given, ...written]);
}
