import type { DesiredResource } from '../core/desired.ts';
import type { Severity } from '../core/diagnostics.ts';
import type { Kind } from '../kinds/kind.ts';
import { lint, severityOf, type Weighed } from '../lint/lint.ts';
import type { LintSubject, Span } from '../lint/rule.ts';
import { namedRules, UNUSED_IGNORE } from '../lint/rules.ts';
import type { LintSettings } from '../lint/settings.ts';
import type { RuleFinding } from '../rules/index.ts';
import type { Folder } from './folder.ts';
import { covers, type Ignore, readIgnores } from './ignores.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import { subjectOf } from './resolved.ts';
import type { PlacedRule } from './rules.ts';
import type { StackFile } from './stack-file.ts';
import { openTexts, type Texts } from './texts.ts';

type LintInput = {
  readonly resources: readonly DesiredResource[];
  readonly kinds: readonly Kind[];
  readonly settings: LintSettings;
  readonly folder: Folder;
  /** The YAML files of the stack. */
  readonly files: readonly StackFile[];
  readonly report: Report;
  /** What the team's own rules have found. */
  readonly found: readonly RuleFinding[];
  readonly rules: readonly PlacedRule[];
};

/** A finding of any rule. */
type Told = {
  readonly rule: string;
  readonly severity: Severity;
  readonly resource: DesiredResource;
  readonly path: string;
  readonly span?: Span;
  readonly message: string;
  readonly hint?: string;
  /** Whether a comment may silence it. */
  readonly isSilenced: boolean;
};

/** Reports what the lint rules find, but for what comments silence. */
export function reportLint(input: LintInput): void {
  const { resources, settings, kinds, files, folder, report } = input;
  const texts = openTexts(folder);
  const ignores = files.flatMap(({ source }) => (source === undefined ? [] : readIgnores(source)));
  const byRule = Map.groupBy(ignores, ({ rule }) => rule);
  const used = new Set<Ignore>();
  const schemas = new Map(kinds.map(({ name, schema }) => [name, schema]));
  const subject: LintSubject = {
    resources,
    settings,
    schemaOf: (kind) => schemas.get(kind),
    originOf: (resource, path) => texts.originOf(resource, path),
  };
  const findings = [...lint(subject).map(ofLint), ...input.found.flatMap(ofTeam(input))];
  for (const finding of findings) {
    const silencing = byRule.get(finding.rule)?.filter((ignore) => silences(ignore, finding)) ?? [];
    for (const ignore of silencing) used.add(ignore);
    if (silencing.length === 0) reportFinding(finding, texts, report);
  }
  const own = input.rules.map(({ name, severity }) => ({ name: teamName(name), severity }));
  const names = [...namedRules, ...own.filter(({ severity }) => severity === 'warning')];
  for (const ignore of ignores) {
    const isFirm = own.some(({ name, severity }) => name === ignore.rule && severity === 'error');
    if (!isFirm) continue;
    refuseIgnore(ignore, report);
    used.add(ignore);
  }
  reportIgnores({ ignores, used, names: names.map(({ name }) => name) }, settings, report);
}

function ofLint(finding: Weighed): Told {
  const { resource, path, message } = finding;
  const subject = subjectOf({ subject: resource.address }, [path]);
  return { ...finding, message: `${subject} ${message}`, isSilenced: true };
}

function teamName(name: string): string {
  return `rules/${name}`;
}

/** An error of the team is a decision of the team: a comment of one file does not lift it. */
function ofTeam({ rules, report }: LintInput) {
  return (finding: RuleFinding): readonly Told[] => {
    const { resource, severity } = finding;
    const rule = teamName(finding.rule);
    const written = rules.find(({ name }) => name === finding.rule);
    const source = written?.source;
    if (resource !== undefined) {
      const message = `${resource.address}: ${finding.message}`;
      const hint = finding.hint ?? `The rule stands at ${source ?? 'rules'}`;
      return [{ ...finding, resource, rule, message, hint, isSilenced: severity === 'warning' }];
    }
    const place = written?.keyPlace;
    const message = `rules.${finding.rule} ${finding.message}`;
    report.add({ severity, rule, message, hint: finding.hint, place });
    return [];
  };
}

/** A comment speaks for the field, and for the resource that has it: the field may stand in a base. */
function silences(ignore: Ignore, { resource, path, isSilenced }: Told): boolean {
  if (!isSilenced) return false;
  return covers(ignore, resource.locate(path)) || covers(ignore, resource.position);
}

function reportFinding(finding: Told, texts: Texts, report: Report): void {
  const { resource, path, severity, rule, message, hint, span } = finding;
  const { address } = resource;
  report.add({
    severity,
    rule,
    message,
    hint,
    address,
    path,
    place: texts.placeOf(resource, path, span),
  });
}

/** A warning that cannot be switched off: somebody believes that a rule of the team is silenced. */
function refuseIgnore({ rule, place }: Ignore, report: Report): void {
  report.add({
    severity: 'warning',
    rule: UNUSED_IGNORE.name,
    message: `callsheet-ignore names ${rule}, which is an error: no comment silences it`,
    hint: 'Leave the resource out with when, or make the rule a warning',
    place,
  });
}

/** Says of every comment that silences nothing, or names no rule. */
function reportIgnores(
  {
    ignores,
    used,
    names,
  }: {
    readonly ignores: readonly Ignore[];
    readonly used: ReadonlySet<Ignore>;
    readonly names: readonly string[];
  },
  settings: LintSettings,
  report: Report,
): void {
  const severity = severityOf(UNUSED_IGNORE, settings);
  if (severity === 'off') return;
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
