import { credentialSpans, isFilledIn, isSecretName, type Span } from '../core/credentials.ts';
import { identityText, isIdentity } from '../core/path.ts';
import { scalarSensitivity } from '../core/redact.ts';
import { oncePer } from '../core/value.ts';
import type { Problem } from './diagnostics.ts';
import type { Part } from './expressions.ts';
import { type Context, type Field, fail, isHidden, redactCells, takesSecrets } from './resolved.ts';
import type { Source, SourceRange } from './source.ts';

/**
 * Finds secrets in values once everything is filled in, whatever gave them: the text itself, a cell, a variable, a file,
 * a value of `with`. They are kept out of frames, messages and origins, and where they stand in the files, a warning
 * says so. They are sent all the same: no program can know whether a text is a credential.
 */

/** Examines what a text comes to. `split` gives its pieces, where something in it is secret. */
export function examineText(
  text: string,
  split: () => readonly Part[],
  field: Field,
  context: Context,
): void {
  examine(text, credentialSpans(text), split, field, context);
}

/** A file is looked through once, however many resources take their text from it. */
const spansIn = oncePer(({ text }: Source) => credentialSpans(text));

/** Examines a text that is a file as it is. */
export function examineFile(source: Source, field: Field, context: Context): void {
  const { text } = source;
  const split = () => [
    { text, findRange: (start: number, end: number) => ({ source, start, end }) },
  ];
  examine(text, spansIn(source), split, field, context);
}

/** Examines a number, which only its name can make a secret. */
export function examineNumber(
  value: number,
  range: SourceRange,
  field: Field,
  context: Context,
): void {
  if (scalarSensitivity(field.secrecy, value) !== 'whole') return;
  if (field.secrecy.hidden === 'name') context.inClear?.push(field.path);
  warnOfName([{ text: String(value), findRange: () => range }], field, context);
}

function examine(
  text: string,
  spans: readonly Span[],
  split: () => readonly Part[],
  field: Field,
  context: Context,
): void {
  if (spans.length === 0 && !isHidden(field)) return;
  const parts = split();
  const found = secretParts(parts, spans, field);
  for (const one of found) redactPart(one, context);
  if (!isHidden(field)) {
    warnOfCredentials(text, found, field, context);
    return;
  }
  if (scalarSensitivity(field.secrecy, text) !== 'whole') return;
  const isInFiles =
    parts.every(({ findRange }) => findRange !== undefined) &&
    parts.map((part) => part.text).join('') === text;
  if (field.secrecy.hidden === 'name') {
    if (!isInFiles) return;
    context.inClear?.push(field.path);
  }
  warnOfName(parts, field, context);
}

/** A stretch of a part that is secret, or belongs to a secret. */
type SecretPart = { readonly part: Part; readonly stretch: Span; readonly span: Span };

/** The parts of a text that are secret: all of them where the field is, otherwise those that credentials stand in. */
export function secretParts(
  parts: readonly Part[],
  spans: readonly Span[],
  field: Field,
): readonly SecretPart[] {
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const secret = isHidden(field) ? [{ start: 0, end: length }] : spans;
  let from = 0;
  return parts.flatMap((part): SecretPart[] => {
    const [start, end] = [from, from + part.text.length];
    from = end;
    const within = secret.filter((span) => span.start < end && span.end > start);
    return within.map((span) => ({
      part,
      span,
      stretch: {
        start: Math.max(span.start, start) - start,
        end: Math.min(span.end, end) - start,
      },
    }));
  });
}

function redactPart({ part, stretch: { start, end } }: SecretPart, context: Context): void {
  const { text, column, variable, findRange } = part;
  context.report.hide(text.slice(start, end));
  if (variable !== undefined) context.variables.hide(variable);
  else if (column !== undefined) context.row?.redaction.hide(column);
  else if (findRange !== undefined) {
    const range = findRange(start, end);
    context.report.mask(range);
    redactCells(context, range);
  }
}

/** Warns where something stands in the files. */
function warnAt(
  { text, findRange }: Part,
  { start, end }: Span,
  problem: Problem,
  field: Field,
  context: Context,
): void {
  if (findRange === undefined || isFilledIn(text.slice(start, end))) return;
  fail(context, field, findRange(start, end), { severity: 'warning', ...problem });
}

const GIVE_SECRET =
  'Write { $secret: env:NAME } instead, and change the credential if the file was ever shared';

/** Warns of a value with the name of a secret. */
function warnOfName(parts: readonly Part[], field: Field, context: Context): void {
  // The names of settings are free: a variable may be called `token`.
  if (context.address === undefined) return;
  const names = field.path.map((segment) =>
    isIdentity(segment) ? identityText(segment) : segment,
  );
  const isBySchema = field.secrecy.hidden === 'schema';
  const name = field.name ?? names.at(-1) ?? '';
  if (![name, ...(isBySchema ? [] : names)].some(isSecretName)) return;
  const problem: Problem = isBySchema
    ? {
        rule: 'secret/plain-header',
        message: 'looks like a credential written in the configuration',
        hint: GIVE_SECRET,
      }
    : {
        rule: 'secret/plain-name',
        message: 'has the name of a secret and is in the files in clear, so plans show it',
        hint: takesSecrets(field)
          ? GIVE_SECRET
          : 'If it is a secret, give it as ${var.NAME} with env: under variables. Plans mask that. Change it if the file was ever shared',
      };
  // The text around a secret that is filled in is no secret.
  const filled = parts.filter(({ filled }) => filled !== undefined);
  for (const part of filled.length > 0 ? filled : parts)
    warnAt(part, { start: 0, end: part.text.length }, problem, field, context);
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i;

/** Warns of an address with a credential in it. */
function warnOfCredentials(
  text: string,
  found: readonly SecretPart[],
  field: Field,
  context: Context,
): void {
  const { format = '' } = field.node.schema;
  const isAddress = context.address !== undefined && ADDRESS.test(text);
  if (!['uri', 'web-address'].includes(format) && !isAddress) return;
  for (const { part, stretch, span } of found) {
    const problem = {
      rule: 'secret/plain-address',
      message: `has ${tellingPart(text, span)} in its address, which is readable in this file`,
      hint: 'Send it as a header with { $secret: env:NAME }: an address is not a secret field',
    };
    warnAt(part, stretch, problem, field, context);
  }
}

/** Names the credential of an address without repeating it. */
function tellingPart(text: string, { start }: Span): string {
  const before = text.slice(0, start);
  const name = /([^?&#;=]+)(?:=|%3d)$/i.exec(before)?.[1];
  if (name !== undefined) return `a value of ${JSON.stringify(name)}`;
  return before.endsWith('://') ? 'a user name or a token' : 'a password';
}
