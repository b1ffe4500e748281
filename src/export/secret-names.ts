import { createHash } from 'node:crypto';
import type { Address } from '../core/address.ts';
import { isIdentity, type Path } from '../core/path.ts';
import { slugOf } from './names.ts';

/** A secret that an exported stack reads from the environment. */
export type SecretUse = {
  /** Name of the environment variable. */
  readonly name: string;
  readonly address: Address;
  /** Text of the path of the field. */
  readonly path: string;
  /** What the platform returned, where it does so; never printed. */
  readonly value: string | undefined;
};

/** Members that say nothing to people: what holds a list, and the value of what was named already. */
const SILENT = new Set(['integrations', 'extensions', 'tools', 'mcp_servers', 'headers', 'value']);

/**
 * `AGENT_FRONT_DESK__SMS_PROVIDER_AUTH_TOKEN` of `integrations.smsProvider.auth_token` of
 * `agent.front_desk`: the same for the same address and field. Of two fields whose names differ by case
 * alone, one must be `marked`.
 */
export function secretName(address: Address, path: Path, marked = false): string {
  const names = path
    .filter((segment) => !SILENT.has(segment))
    .map((segment) => (isIdentity(segment) ? segment.replace(/^\["?|"?\]$/g, '') : segment));
  const words = slugOf(names.join(' '));
  // What slugs leave out, two fields may differ by.
  const isPlain =
    !marked && words === names.map((name) => slugOf(name)).join('_') && names.every(isTold);
  const suffix = isPlain
    ? ''
    : `_${createHash('sha256').update(path.join('\0')).digest('hex').slice(0, 6)}`;
  const owner = address.replaceAll('.', '_');
  return `${owner}__${words}${suffix}`.replace(/__+$/, '').toUpperCase();
}

/** Whether a name can be read from its slug again, but for case, words and separators. */
function isTold(name: string): boolean {
  return /^[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*$/.test(name);
}
