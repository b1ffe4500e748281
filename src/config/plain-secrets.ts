import { identityText, isIdentity, type Path } from '../core/path.ts';
import { credentialsIn, isFilledIn, isSecretName } from '../core/redact.ts';
import { hide } from './hide.ts';
import { type Context, type Field, fail } from './resolved.ts';
import type { Written } from './written.ts';

/**
 * Warns of a text that looks like a credential in clear: the value of a telling header, or an address with
 * a password or key in it. It is sent all the same, since nobody can know what it is; frames hide it.
 */
export function suspectPlainSecret(
  node: Written,
  text: string,
  field: Field,
  context: Context,
): void {
  if (field.sensitive && isSecretName(nameOf(field.path)) && !isFilledIn(text)) {
    hide(context, node);
    fail(context, field, node.place, {
      severity: 'warning',
      rule: 'secret/plain-header',
      message: 'looks like a credential that stands in the configuration',
      hint: 'Write { $secret: env:NAME } in its place, and change the credential if the file was ever shared',
    });
  }
  if (!['uri', 'web-address'].includes(field.schema.format ?? '')) return;
  const part = tellingPart(text);
  if (part === undefined) return;
  hide(context, node);
  fail(context, field, node.place, {
    severity: 'warning',
    rule: 'secret/plain-address',
    message: `has ${part} in its address, which everybody can read in this file`,
    hint: 'Send it as a header with { $secret: env:NAME }: an address is no secret field',
  });
}

/** What a value is called: a member by its key, an element by what it is recognised by. */
function nameOf(path: Path): string {
  const segment = path.slice(-2).find(isIdentity) ?? path.at(-1) ?? '';
  return isIdentity(segment) ? identityText(segment) : segment;
}

/** What of an address opens doors, in words that do not repeat it. */
function tellingPart(text: string): string | undefined {
  const [first] = credentialsIn(text);
  if (first === undefined) return undefined;
  const before = text.slice(0, text.indexOf(first));
  const name = /([^?&#;=]+)(?:=|%3d)$/i.exec(before)?.[1];
  if (name !== undefined) return `a value of ${JSON.stringify(name)}`;
  return before.endsWith('://') ? 'a user name or a token' : 'a password';
}
