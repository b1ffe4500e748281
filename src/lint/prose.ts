import { hash } from 'node:crypto';
import type { DesiredResource } from '../core/desired.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { LintSubject } from './rule.ts';

/** Values of `x-prose`. */
type Role = 'instructions' | 'speech' | 'message';

/** A text that a resource is given to say or to follow. */
export type Prose = {
  readonly resource: DesiredResource;
  readonly path: string;
  readonly role: Role;
  /** Read from the resource at each look: all prompts of a fleet together fill the memory. */
  readonly text: string;
  /** Counted from 0; the same number for the same text. */
  readonly textId: number;
};

const known = new WeakMap<LintSubject, readonly Prose[]>();

/** The prose of a stack in its order, of the roles that are wanted: the fields that schemas mark with `x-prose`. */
export function proseOf(subject: LintSubject, roles: readonly Role[]): readonly Prose[] {
  const all = known.get(subject) ?? allProse(subject);
  known.set(subject, all);
  return all.filter(({ role }) => roles.includes(role));
}

function allProse({ resources, schemaOf }: LintSubject): readonly Prose[] {
  const byKind = new Map<string, readonly Field[]>();
  const ids = new Map<string, number>();
  const all: Prose[] = [];
  for (const resource of resources) {
    const fields = byKind.get(resource.kind) ?? fieldsOf(schemaOf(resource.kind));
    byKind.set(resource.kind, fields);
    for (const { path, role } of fields) {
      const text = resource.document[path];
      if (typeof text !== 'string') continue;
      const key = textKey(text);
      const textId = ids.get(key) ?? ids.size;
      ids.set(key, textId);
      all.push(new FieldProse(resource, path, role, textId));
    }
  }
  return all;
}

class FieldProse implements Prose {
  readonly resource: DesiredResource;
  readonly path: string;
  readonly role: Role;
  readonly textId: number;

  constructor(resource: DesiredResource, path: string, role: Role, textId: number) {
    this.resource = resource;
    this.path = path;
    this.role = role;
    this.textId = textId;
  }

  get text(): string {
    // Only texts have become prose.
    return this.resource.document[this.path] as string;
  }
}

/** A digest takes as long as five lines of text, and little memory. */
const LONG = 200;

/** The same for the same text: the text itself, or its digest where that is shorter. */
export function textKey(text: string): string {
  return text.length > LONG ? `sha256:${hash('sha256', text)}` : text;
}

type Field = Pick<Prose, 'path' | 'role'>;

const ROLES: readonly Role[] = ['instructions', 'speech', 'message'];

function fieldsOf(schema: FieldSchema | undefined): readonly Field[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([path, field]) => {
    const role = ROLES.find((one) => one === field['x-prose']);
    return role === undefined ? [] : [{ path, role }];
  });
}

/** Remembers what a function makes of a text: many resources share theirs. */
export function perText<T>(read: (text: string) => T): (prose: Prose) => T {
  const made: T[] = [];
  return (prose) => {
    const { textId } = prose;
    if (!(textId in made)) made[textId] = read(prose.text);
    // It was put there.
    return made[textId] as T;
  };
}
