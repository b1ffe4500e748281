import type { DesiredResource } from '../core/desired.ts';
import { formatPath } from '../core/path.ts';
import type { Kind } from '../kinds/kind.ts';
import { lint, severityOf, type Weighed } from '../lint/lint.ts';
import type { LintSubject } from '../lint/rule.ts';
import { namedRules, UNUSED_IGNORE } from '../lint/rules.ts';
import type { LintSettings } from '../lint/settings.ts';
import type { Folder } from './folder.ts';
import { covers, type Ignore, readIgnores } from './ignores.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import { subjectOf } from './resolved.ts';
import type { StackFile } from './stack-file.ts';
import { openTexts, type Texts } from './texts.ts';

export type LintInput = {
  readonly resources: readonly DesiredResource[];
  readonly kinds: readonly Kind[];
  readonly settings: LintSettings;
  readonly folder: Folder;
  /** The YAML files of the stack. */
  readonly files: readonly StackFile[];
  readonly report: Report;
};

/** Reports what the lint rules find, but for what comments silence. */
export function reportLint(input: LintInput): void {
  const { resources, settings, kinds, files, folder, report } = input;
  const texts = openTexts(folder);
  const ignores = files.flatMap(({ source }) => (source === undefined ? [] : readIgnores(source)));
  const used = new Set<Ignore>();
  const schemas = new Map(kinds.map(({ name, schema }) => [name, schema]));
  const subject: LintSubject = {
    resources,
    settings,
    schemaOf: (kind) => schemas.get(kind),
    originOf: (resource, path) => texts.originOf(resource, path),
  };
  for (const finding of lint(subject)) {
    const silencing = ignores.filter((ignore) => silences(ignore, finding));
    for (const ignore of silencing) used.add(ignore);
    if (silencing.length === 0) reportFinding(finding, texts, report);
  }
  reportIgnores(ignores, used, settings, report);
}

/** A comment speaks for the field, and for the resource that has it: the field may stand in a base. */
function silences(ignore: Ignore, { rule, resource, path }: Weighed): boolean {
  if (ignore.rule !== rule) return false;
  return covers(ignore, resource.locate(path)) || covers(ignore, resource.position);
}

function reportFinding(finding: Weighed, texts: Texts, report: Report): void {
  const { resource, path, severity, rule, message, hint, span } = finding;
  const { address } = resource;
  report.add({
    severity,
    rule,
    message: `${subjectOf({ subject: address }, [path])} ${message}`,
    hint,
    address,
    path: formatPath([path]),
    place: texts.placeOf(resource, path, span),
  });
}

/** Says of every comment that silences nothing, or names no rule. */
function reportIgnores(
  ignores: readonly Ignore[],
  used: ReadonlySet<Ignore>,
  settings: LintSettings,
  report: Report,
): void {
  const severity = severityOf(UNUSED_IGNORE, settings);
  if (severity === 'off') return;
  const names = namedRules.map(({ name }) => name);
  const isOff = (rule: string) => settings.severities.get(rule) === 'off';
  for (const ignore of ignores) {
    const { rule, place } = ignore;
    if (used.has(ignore) || isOff(rule)) continue;
    const add = (message: string, hint: string) =>
      report.add({ severity, rule: UNUSED_IGNORE.name, message, hint, place });
    const list = `The rules are ${names.join(', ')}`;
    if (rule === '') add('callsheet-ignore names no rule', list);
    else if (!names.includes(rule)) {
      const close = nearest(rule, names);
      const message = `callsheet-ignore names ${rule}, which is no rule that can be silenced`;
      add(message, close === undefined ? list : `Did you mean ${close}?`);
    } else add(`callsheet-ignore silences ${rule}, which finds nothing here`, 'Remove it');
  }
}
