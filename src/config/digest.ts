import type { DesiredResource } from '../core/desired.ts';
import { digestOf } from '../core/digest.ts';
import { namesField } from '../core/schema.ts';
import type { ValueObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Moves } from './moves.ts';
import type { Settings } from './settings.ts';

/**
 * `sha256:…` over everything of a stack that decides what a plan does, and nothing else: comments, file
 * names of the YAML and the order of keys do not change it. Files enter by their content, secrets by
 * where they are read from. Freeze windows say when a plan may run, not what it does: they are asked when it
 * is applied, and one that is added later neither makes a plan stale nor lifts a hold.
 */
export function digestStack(
  { platform, organizations, guards }: Pick<Settings, 'platform' | 'organizations' | 'guards'>,
  resources: readonly DesiredResource[],
  moves: Moves,
): string {
  const { base_url, endpoints, assume } = platform;
  const { freeze: _, ...limits } = guards;
  return digestOf({
    platform: { base_url, endpoints, assume },
    organizations,
    guards: limits,
    ...(moves.moved.length > 0 ? { moved: moves.moved } : {}),
    ...(moves.forget.length > 0 ? { forget: moves.forget } : {}),
    resources: resources.map(({ address, kind, document, lifecycle }) => ({
      address,
      kind,
      ...apart(kind, document),
      lifecycle,
    })),
  });
}

/** Fields newer than the schema enter apart: a schema that comes to know one makes another digest. */
function apart(kind: string, document: ValueObject) {
  const { schema } = kindNamed(kind);
  const entries = Object.entries(document);
  const isNamed = ([field]: (typeof entries)[number]) => namesField(schema, field);
  if (entries.every(isNamed)) return { document, unchecked: {} };
  return {
    document: Object.fromEntries(entries.filter(isNamed)),
    unchecked: Object.fromEntries(entries.filter((entry) => !isNamed(entry))),
  };
}
