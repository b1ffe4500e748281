import { describeFreeze } from '../core/calendar.ts';
import { type Diagnostic, hasErrors, withoutWarnings } from '../core/diagnostics.ts';
import { CallsheetError, EXIT, type ExitCode } from '../core/errors.ts';
import { Secret } from '../core/value.ts';
import { type Report, renderDiagnosticsText } from '../render/diagnostics.ts';
import {
  type DiagnosticsDocument,
  diagnosticsDocument,
  renderReportJson,
} from '../render/report.ts';
import { formatCount } from '../render/wording.ts';
import { loadOptions } from '../run/stack.ts';
import { type Loaded, loadStack, readSecrets, type Stack } from '../stack/index.ts';
import type { CommonFlags, Context } from './context.ts';
import { folderInRepository } from './named-file.ts';

export type ValidateFlags = CommonFlags & {
  readonly format: string;
  /** True if warnings count as errors. */
  readonly strict?: boolean;
  /** True if a secret that cannot be read here is a problem. */
  readonly secrets?: boolean;
};

/** `callsheet validate`: every problem of the stack, without a network but for what commands of secrets reach. */
export async function validate(flags: ValidateFlags, context: Context): Promise<ExitCode> {
  const { terminal, version } = context;
  const { stack, files, diagnostics, exit } = await check(flags, context);
  const folder = folderInRepository(flags.dir, process.cwd());
  const freeze = describeFreeze(stack?.guards.freeze ?? [], context.now());
  const report = { diagnostics, files, folder, version, freeze };
  const text = await renderReport(flags.format, report, context);
  if (text !== '') terminal.out(text);
  if (diagnostics.length > 0 && findReport(flags.format, context)?.isFile === true) {
    terminal.err(renderDiagnosticsText(diagnostics, terminal.renderErr));
  }
  if (exit === EXIT.done && stack !== undefined && flags.format === 'text') {
    terminal.out(`The configuration is valid: ${formatCount(stack.resources.length, 'resource')}.`);
    if (freeze !== undefined) {
      const until = freeze.ends === null ? '' : ` until ${freeze.ends}`;
      terminal.out(`It is frozen${until}: ${freeze.reason}. Apply is refused meanwhile.`);
    }
  }
  return exit;
}

/** A report in a format of the core or of a feature. */
export async function renderReport(
  format: string,
  report: Report,
  context: Pick<Context, 'terminal' | 'features'>,
): Promise<string> {
  if (format === 'text') return renderDiagnosticsText(report.diagnostics, context.terminal.render);
  if (format === 'json') return renderReportJson(report);
  const view = findReport(format, context);
  if (view === undefined) throw new Error(`no feature shows diagnostics as ${format}`);
  return (await view.load())(report);
}

export function findReport(format: string, { features }: Pick<Context, 'features'>) {
  return features.find(({ reports }) => reports?.[format] !== undefined)?.reports?.[format];
}

/** Returns the problems instead of printing them. */
export async function validateNow(
  flags: Omit<ValidateFlags, 'format'>,
  context: Context,
): Promise<{ readonly document: DiagnosticsDocument; readonly exit: ExitCode }> {
  const { diagnostics, exit } = await check({ ...flags, format: 'json' }, context);
  return { document: diagnosticsDocument(diagnostics), exit };
}

async function check(
  flags: ValidateFlags,
  context: Context,
): Promise<Loaded & { readonly exit: ExitCode }> {
  const loaded = await load(flags, context);
  const { stack } = loaded;
  const found = [...loaded.diagnostics, ...(await findUnread(flags, stack, context))];
  const diagnostics = flags.strict === true ? withoutWarnings(found) : found;
  const isBroken = stack === undefined || hasErrors(diagnostics);
  return { ...loaded, diagnostics, exit: isBroken ? EXIT.error : EXIT.done };
}

/** Reads every secret of a stack as `apply` would, and returns the problems: only a command's end says what it gives. */
async function findUnread(
  { secrets }: Pick<ValidateFlags, 'secrets'>,
  stack: Stack | undefined,
  { env, runSecret }: Context,
): Promise<readonly Diagnostic[]> {
  if (secrets !== true || stack === undefined) return [];
  const wanted = stack.secrets.map(({ source }) => new Secret(source));
  return (await readSecrets(stack, wanted, env, runSecret?.(stack.dir))).diagnostics;
}

async function load(flags: ValidateFlags, context: Context): Promise<Loaded> {
  try {
    return await loadStack({
      ...loadOptions(flags, context),
      secrets: flags.secrets === true ? 'check' : 'skip',
    });
  } catch (error) {
    // Formats of other tools have no document for a failure: there it is one more problem.
    const isReport = !['text', 'json'].includes(flags.format);
    if (!isReport || !(error instanceof CallsheetError)) throw error;
    const { message, hint } = error;
    const diagnostic = { severity: 'error', rule: 'usage/invalid', message } as const;
    const problem = hint === undefined ? diagnostic : { ...diagnostic, hint };
    return { stack: undefined, diagnostics: [problem], files: [] };
  }
}
