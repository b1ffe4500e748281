import type { DesiredResource } from '../core/desired.ts';
import { isList, isObject, type Value, type ValueObject } from '../core/value.ts';

/** The tools that an agent has, as far as the stack tells. */
export type Toolbox = {
  readonly names: ReadonlySet<string>;
  /** A tool server publishes more than the stack lists, as it allows all of them. */
  readonly isOpen: boolean;
  /** Names of the values that tools are given: they look like tools and are none. */
  readonly parameters: ReadonlySet<string>;
};

/** Webhooks, and what tool servers are allowed to offer. */
export function toolboxOf({ document }: DesiredResource): Toolbox {
  const extensions = objectOf(document.extensions);
  const webhooks = objectsIn(extensions.tools);
  const servers = objectsIn(extensions.mcp_servers);
  const called = servers.flatMap(({ pre_answer_calls: calls }) => objectsIn(calls));
  const names = [
    ...webhooks.map(({ name }) => name),
    ...servers.flatMap(({ allowed_tool_names: allowed }) => (isList(allowed) ? allowed : [])),
    ...called.map(({ tool_name: name }) => name),
  ];
  const parameters = [
    ...webhooks.flatMap(({ parameters }) => objectsIn(parameters).map(({ key }) => key)),
    ...called.flatMap((call) => Object.keys(objectOf(call.arguments))),
  ];
  return {
    names: new Set(names.filter((name) => typeof name === 'string')),
    isOpen: servers.some(({ allowed_tool_names: allowed }) => !isList(allowed) || !allowed.length),
    parameters: new Set(parameters.filter((name) => typeof name === 'string')),
  };
}

function objectOf(value: Value | undefined): ValueObject {
  return isObject(value) ? value : {};
}

function objectsIn(value: Value | undefined): readonly ValueObject[] {
  return isList(value) ? value.filter((one) => isObject(one)) : [];
}
