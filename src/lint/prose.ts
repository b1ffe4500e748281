import type { DesiredResource } from '../core/desired.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { LintSubject } from './rule.ts';

/** Values of `x-prose`. */
export type Role = 'instructions' | 'speech' | 'message';

/** A text that a resource is given to say or to follow. */
export type Prose = {
  readonly resource: DesiredResource;
  readonly path: string;
  readonly role: Role;
  readonly text: string;
};

/** The prose of a stack in its order, of the roles that are wanted: the fields that schemas mark with `x-prose`. */
export function* proseOf(
  { resources, schemaOf }: Pick<LintSubject, 'resources' | 'schemaOf'>,
  roles: readonly Role[],
): Generator<Prose> {
  const byKind = new Map<string, readonly Field[]>();
  for (const resource of resources) {
    const fields = byKind.get(resource.kind) ?? fieldsOf(schemaOf(resource.kind), roles);
    byKind.set(resource.kind, fields);
    for (const { path, role } of fields) {
      const text = resource.document[path];
      if (typeof text === 'string') yield { resource, path, role, text };
    }
  }
}

type Field = Pick<Prose, 'path' | 'role'>;

function fieldsOf(schema: FieldSchema | undefined, roles: readonly Role[]): readonly Field[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([path, field]) => {
    const role = roles.find((one) => one === field['x-prose']);
    return role === undefined ? [] : [{ path, role }];
  });
}

/** Remembers what a function makes of a text: many resources share theirs. */
export function perText<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = read(text);
    known.set(text, made);
    return made;
  };
}
