import type { Lifecycle } from '../core/desired.ts';
import { formatPath, parsePath } from '../core/path.ts';
import type { Kind } from '../kinds/kind.ts';
import { wrongPath } from './ignored-path.ts';
import {
  type Context,
  fail,
  isResolvedList,
  membersOf,
  type Resolved,
  rootField,
} from './resolved.ts';
import { memberOf, type Written } from './written.ts';

const DEFAULTS: Lifecycle = { protect: false, ignore: [] };

/** A resource's `lifecycle` block with its defaults. */
export function readLifecycle(value: Resolved | undefined): Lifecycle {
  if (value === undefined) return DEFAULTS;
  const { protect, ignore, adopt, heal } = membersOf(value);
  const paths = isResolvedList(ignore) ? ignore : [];
  return {
    protect: protect === true,
    ignore: paths.filter((path) => typeof path === 'string'),
    ...(typeof adopt === 'string' ? { adopt } : {}),
    // Absent and false are one, so that writing the default out changes no digest.
    ...(heal === true ? { heal } : {}),
  };
}

/** Reports paths of `lifecycle.ignore` that ignore nothing, as no document has what they name. */
export function checkIgnored(
  kind: Kind,
  paths: readonly string[],
  written: Written | undefined,
  context: Context,
): void {
  const list = memberOf(written, 'ignore')?.value;
  const field = { ...rootField(kind.schema), path: ['lifecycle', 'ignore'] };
  const seen = new Set<string>();
  for (const [index, text] of paths.entries()) {
    const place = (list?.type === 'list' ? list.items[index]?.place : undefined) ?? list?.place;
    if (place === undefined) continue;
    const path = parsePath(text);
    const wrong = wrongPath(kind, path);
    if (wrong !== undefined) {
      fail(context, field, place, {
        severity: wrong.isDoubt === true ? 'warning' : 'error',
        rule: 'lifecycle/path',
        message: `names ${JSON.stringify(text)}, which is ${wrong.message}`,
        hint: wrong.hint,
      });
    } else if (path !== undefined && seen.has(formatPath(path))) {
      fail(context, field, place, {
        severity: 'warning',
        rule: 'lifecycle/path',
        message: `names ${JSON.stringify(text)} twice`,
        hint: 'Remove one of them',
      });
    }
    if (path !== undefined) seen.add(formatPath(path));
  }
}
