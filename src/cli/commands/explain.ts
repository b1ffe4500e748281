import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import { type Address, getKind } from '../../core/address.ts';
import type { ValueDocument } from '../../core/documents.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { formatPath, type Path, parsePath } from '../../core/path.ts';
import { maskAt } from '../../core/redact.ts';
import type { ValueObject } from '../../core/value.ts';
import { byKind, kindNamed, kinds } from '../../kinds/index.ts';
import { renderFieldText, renderValueText } from '../../render/explain.ts';
import { loadOptions } from '../../run/stack.ts';
import { explainField } from '../../stack/editor/explain-field.ts';
import { loadStack, type Stack } from '../../stack/index.ts';
import { namedField, platformPath } from '../../stack/schema.ts';
import { writtenSchema } from '../../stack/settings-schema.ts';

/** `callsheet explain`: where a value of the stack came from or, where it has none of that name, what a field is. */
export async function explain(
  wanted: string,
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  const value = await explainValue(wanted, flags, context);
  if (value !== undefined) {
    show(flags, value, (to) => renderValueText(value, to), context);
    return EXIT.done;
  }
  const found = explainField(wanted, kinds);
  if ('message' in found) throw new CallsheetError('usage', found.message, { hint: found.hint });
  show(flags, found, (to) => renderFieldText(found, to), context);
  return EXIT.done;
}

/**
 * Finds where a value of a resource of the stack came from: `agent.clinic["harbor"].greeting_message`. Undefined if
 * no resource has that name. Throws `CallsheetError` if the stack has errors and the name can only mean something of
 * it, or if rows are meant and none is named.
 */
async function explainValue(
  given: string,
  flags: CommonFlags,
  context: Context,
): Promise<ValueDocument | undefined> {
  const wanted = byKind(given);
  if (!existsSync(join(flags.dir, 'callsheet.yaml'))) return undefined;
  const { stack, diagnostics } = await loadStack({
    ...loadOptions(flags, context),
    secrets: 'skip',
  });
  if (stack === undefined) {
    if (isField(wanted)) return undefined;
    throw new CallsheetError('config', 'the configuration has errors', { diagnostics });
  }
  const address = addressIn(wanted, stack);
  if (address === undefined) {
    refuseRows(wanted, stack);
    if (!isField(wanted)) throw noResource(wanted, stack);
    return undefined;
  }
  const path = wanted === address ? [] : parsePath(wanted.slice(address.length + 1));
  const origin =
    path && stack.traceOrigin(address, platformPath(kindNamed(getKind(address)), path));
  if (path === undefined || origin === undefined) return undefined;
  if (origin.layers.length === 0 && origin.value === undefined) checkField(address, path);
  const { document } = stack.resources.find((one) => one.address === address) ?? {};
  return valueDocument(origin, formatPath(path), document);
}

function valueDocument(
  { address, path, value, layers, filled }: NonNullable<ReturnType<Stack['traceOrigin']>>,
  field: string,
  document: ValueObject | undefined,
): ValueDocument {
  const { schema } = kindNamed(getKind(address));
  return stampDocument('callsheet-value', {
    address,
    field,
    given: value !== undefined,
    value: value === undefined ? null : maskAt(schema, path, value, { document }),
    layers,
    filled: filled.map(({ expression, value: text, by, position }) => ({
      expression,
      value: text ?? null,
      by,
      position: position ?? null,
    })),
  });
}

/** Throws where the kind has no such field; a known field that is not set is no mistake. */
function checkField(address: Address, path: Path): void {
  const field = explainField(formatPath([getKind(address), ...path]), kinds);
  if ('message' in field) throw new CallsheetError('usage', field.message, { hint: field.hint });
}

/** The resource that a name begins with. */
function addressIn(wanted: string, { resources }: Stack): Address | undefined {
  const found = resources
    .map(({ address }) => address)
    .filter((address) => wanted === address || wanted.startsWith(`${address}.`));
  // `knowledge_source.clinic.faq` before `knowledge_source.clinic`.
  return found.sort((a, b) => b.length - a.length)[0];
}

/** `agent.clinic.name` where `agent.clinic` has rows. */
function refuseRows(wanted: string, { resources }: Stack): void {
  const rows = resources.filter(({ address }) => {
    const row = address.indexOf('[');
    const base = row < 0 ? undefined : address.slice(0, row);
    return base !== undefined && (wanted === base || wanted.startsWith(`${base}.`));
  });
  const [first] = rows;
  if (first === undefined) return;
  const base = first.address.slice(0, first.address.indexOf('['));
  throw new CallsheetError('usage', `${base} has ${rows.length} rows; choose one`, {
    hint: `For example: \`callsheet explain '${first.address}${wanted.slice(base.length)}'\``,
  });
}

const ADDRESS = /^([a-z_]+)((?:\.[A-Za-z_][\w-]*?)+)(\[[^\]]*\])?(?=$|[.[])/;

/** A name that can only mean a resource, and there is none. */
function noResource(wanted: string, { resources, environment }: Stack): CallsheetError {
  const [address = wanted, first = '', names = '', row = ''] = ADDRESS.exec(wanted) ?? [];
  const kind = kinds.find(({ name }) => name === first);
  // However somebody wrote the row, it is looked for as it is written.
  const key = row.replace(/^\[["']?|["']?\]$/g, '');
  const meant = `${first}${names}${row === '' ? '' : `[${JSON.stringify(key)}]`}`;
  const fields = kind === undefined ? [] : Object.keys(writtenSchema(kind).properties ?? {});
  const known = [
    ...resources.map((resource) => resource.address),
    ...fields.map((field) => `${first}.${field}`),
  ];
  const where = environment === undefined ? 'the stack' : `the environment ${environment}`;
  return new CallsheetError('usage', `${where} has no ${address}`, {
    hint: didYouMean(
      meant,
      known,
      '`callsheet validate` checks the stack. The address of a row is agent.clinic["key"].',
    ),
  });
}

/** Returns true if a name can mean a field of a kind or a setting, so that no stack is needed for it. */
function isField(wanted: string): boolean {
  const [first = '', second] = parsePath(wanted.replaceAll('[]', '[*]')) ?? [];
  const kind = kinds.find(({ name }) => name === first);
  if (kind === undefined || second === undefined) return true;
  return namedField(writtenSchema(kind), second) !== undefined;
}
