import { isIdentity, type Path } from '../core/path.ts';
import { hide } from './hide.ts';
import { type Context, type Field, fail } from './resolved.ts';
import type { Written } from './written.ts';

/** Names of headers and of query parameters whose values open doors. */
const TELLING =
  /(^|[-_.])(authorization|auth|cookie|token|secret|password|passwd|pwd|credentials?|signature|sig|session|(api|access|app|auth|private|subscription)[-_]?(key|token|id))$|^(key|apikey|x-key)$/i;

/** Whether a field of that name most likely holds what opens doors: `api_token`, `clientSecret`. */
export function soundsSecret(name: string): boolean {
  return TELLING.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

/** What a header's value may consist of without telling anything: a scheme, and what is filled in later. */
const FILLED_IN = /\$\{[^{}]*\}|\{\{[^{}]*\}\}/g;
const SCHEME = /^(bearer|basic|digest|token|apikey|api-key)?$/i;

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
  if (field.sensitive && TELLING.test(nameOf(field.path)) && isTelling(text)) {
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
    message: `has ${part} in its address, which plans and logs show in clear`,
    hint: 'Send it as a header with { $secret: env:NAME }: an address is no secret field',
  });
}

/** What a value is called: a member by its key, an element by what it is recognised by. */
function nameOf(path: Path): string {
  const segment = path.slice(-2).find(isIdentity) ?? path.at(-1) ?? '';
  return segment.replace(/^\["?|"?\]$/g, '');
}

function isTelling(text: string): boolean {
  return !SCHEME.test(text.replace(FILLED_IN, '').trim());
}

/** What of an address opens doors, in words that do not repeat it. */
function tellingPart(text: string): string | undefined {
  const filled = text.replace(FILLED_IN, '');
  if (!URL.canParse(filled)) return undefined;
  const { username, password, searchParams } = new URL(filled);
  if (password !== '') return 'a password';
  if (username !== '') return 'a user name or a token';
  const name = [...searchParams].find(([key, value]) => value !== '' && TELLING.test(key))?.[0];
  return name === undefined ? undefined : `a value of ${JSON.stringify(name)}`;
}
