import { explainField } from '../../config/explain-field.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kinds } from '../../kinds/index.ts';
import { renderFieldText } from '../../render/field.ts';
import { renderValueText } from '../../render/value.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { explainValue } from '../explain-value.ts';

export type ExplainFlags = CommonFlags & { readonly format: 'text' | 'json' };

/**
 * One way to explain what was asked for: undefined where it means nothing to it, so that the next one is
 * tried. What a resource of the stack has comes before what its kind may have.
 */
type Explain = (
  wanted: string,
  flags: ExplainFlags,
  context: Context,
) => Promise<ExitCode | undefined>;

const WAYS: readonly Explain[] = [value, field];

/** `callsheet explain`: where a value came from, or what a field is. */
export async function explain(
  wanted: string,
  flags: ExplainFlags,
  context: Context,
): Promise<ExitCode> {
  for (const way of WAYS) {
    const exit = await way(wanted, flags, context);
    if (exit !== undefined) return exit;
  }
  return EXIT.error;
}

/** A value of a resource of the stack, with everything that had a part in it. */
async function value(
  wanted: string,
  flags: ExplainFlags,
  context: Context,
): Promise<ExitCode | undefined> {
  const found = await explainValue(wanted, flags, context);
  if (found === undefined) return undefined;
  const { terminal } = context;
  const isJson = flags.format === 'json';
  terminal.out(isJson ? JSON.stringify(found, null, 2) : renderValueText(found, terminal.render));
  return EXIT.done;
}

/** The documentation of a field: the last way, which says what is wrong with a name that nobody knows. */
async function field(
  wanted: string,
  flags: ExplainFlags,
  { terminal }: Context,
): Promise<ExitCode> {
  const found = explainField(wanted, kinds);
  if ('message' in found) throw new CallsheetError('usage', found.message, { hint: found.hint });
  const isJson = flags.format === 'json';
  terminal.out(isJson ? JSON.stringify(found, null, 2) : renderFieldText(found, terminal.render));
  return EXIT.done;
}
