import type { Lifecycle } from '../core/desired.ts';
import { parsePath } from '../core/path.ts';
import { type FieldSchema, memberSchema } from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';
import { nearest } from './nearest.ts';
import {
  type Context,
  fail,
  isResolvedList,
  membersOf,
  type Resolved,
  rootField,
} from './resolved.ts';
import { memberOf, type Written } from './written.ts';

/** A resource's `lifecycle` block with its defaults. */
export function readLifecycle(value: Resolved | undefined): Lifecycle {
  const { protect, ignore, adopt } = membersOf(value);
  const paths = isResolvedList(ignore) ? ignore : [];
  return {
    protect: protect === true,
    ignore: paths.filter((path) => typeof path === 'string'),
    ...(typeof adopt === 'string' ? { adopt } : {}),
  };
}

/** The first step of a path that the kind does not have, with what it has there. */
function wrongStep(kind: Kind, text: string) {
  const path = parsePath(text);
  if (path === undefined) return { step: text, known: [] };
  let schema: FieldSchema = kind.schema;
  for (const step of path) {
    // What stands below a list's element is not looked at: the element may not exist yet.
    if (step.startsWith('[')) return undefined;
    const known = Object.keys(schema.properties ?? {});
    if (schema.additionalProperties === false && !known.includes(step)) return { step, known };
    schema = memberSchema(kind.schema, schema, step);
  }
  return undefined;
}

/** Reports paths of `lifecycle.ignore` that lead to no field: they would silently ignore nothing. */
export function checkIgnored(
  kind: Kind,
  paths: readonly string[],
  written: Written | undefined,
  context: Context,
): void {
  const list = memberOf(written, 'ignore')?.value;
  const field = { ...rootField(kind.schema), path: ['lifecycle', 'ignore'] };
  for (const [index, text] of paths.entries()) {
    const wrong = wrongStep(kind, text);
    const place = (list?.type === 'list' ? list.items[index]?.place : undefined) ?? list?.place;
    if (wrong === undefined || place === undefined) continue;
    const close = nearest(wrong.step, wrong.known);
    fail(context, field, place, {
      rule: 'lifecycle/path',
      message: `names ${JSON.stringify(text)}, which is no field of ${kind.name}`,
      hint: close === undefined ? undefined : `Did you mean ${close}?`,
    });
  }
}
