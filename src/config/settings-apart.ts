import { memberSchema } from '../core/schema.ts';
import { layOver } from './lay-over.ts';
import { resolve } from './resolve.ts';
import { below, type Context, type Resolved, type ResolvedObject, rootField } from './resolved.ts';
import { namedField } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';
import { unreadableVariables } from './variables.ts';
import { type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/** Members that are read by themselves: variables come from there, or another environment has them. */
export const APART: readonly string[] = ['variables', 'environments', 'rules'];

/** Resolves the declarations of variables and what environments say, with nothing filled in. */
export function resolveApart(root: WrittenMap, context: Context): ResolvedObject {
  const unfilled: Context = {
    ...context,
    variables: unreadableVariables,
    organization: () => 'unreadable',
  };
  const members = ['variables', 'environments'].flatMap((name): [string, Resolved][] => {
    const written = memberOf(root, name)?.value;
    const field = below(rootField(settingsSchema), namedField(settingsSchema, name) ?? {}, name);
    return written === undefined
      ? []
      : [
          [
            name,
            resolve(name === 'environments' ? withoutPatches(written) : written, field, unfilled),
          ],
        ];
  });
  return Object.fromEntries(members);
}

/**
 * Environments as they are by themselves: what one takes away from the settings or replaces there is no value. Patches
 * are checked with the resources that they are laid over.
 */
function withoutPatches(environments: Written): Written {
  if (environments.type !== 'map') return environments;
  const all = namedField(settingsSchema, 'environments') ?? {};
  const members = [...environments.members.values()].map((member): [string, Member] => {
    const { key, value } = member;
    if (value.type !== 'map') return [key, member];
    const settings = [...value.members].filter(([name]) => name !== 'patches');
    const own = { ...value, members: new Map(settings) };
    const nothing = { ...value, members: new Map() };
    const schema = memberSchema(settingsSchema, all, key);
    const over = layOver(nothing, own, schema, { root: settingsSchema, add: () => {} });
    return [key, { ...member, value: over }];
  });
  return { ...environments, members: new Map(members) };
}
