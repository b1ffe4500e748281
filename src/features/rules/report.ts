import type { DesiredResource } from '../../core/desired.ts';
import type { Severity, SourcePosition } from '../../core/diagnostics.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Report } from '../../stack/diagnostics.ts';
import { configPath } from '../../stack/editor/origin.ts';
import { interpolate } from '../../stack/expressions.ts';
import { type Folder, isUnreadable } from '../../stack/folder.ts';
import type { JudgedStack, OpenJudge } from '../../stack/load.ts';
import { followPath, formatSubject, type Resolved, toObject } from '../../stack/resolved.ts';
import {
  findMember,
  lineAt,
  lineRange,
  rangeOfText,
  type Source,
  type SourceRange,
  textIn,
} from '../../stack/source.ts';
import { commentsIn, isBlank, measureIndent, trimBlankStart } from '../../stack/yaml.ts';
import type { RuleFinding } from './judge.ts';
import { getSeverity, lint, namedRules, UNUSED_IGNORE, type Weighed } from './lint.ts';
import {
  DEFAULT_LINT,
  type LintSettings,
  type LintSubject,
  type Origin,
  type Span,
} from './prose.ts';
import { openRules, type PlacedRule, readRules } from './team-rules.ts';

type LintInput = JudgedStack & {
  readonly kinds: readonly Kind[];
  readonly settings: LintSettings;
  readonly folder: Folder;
  /** Findings of the team's own rules. */
  readonly found: readonly RuleFinding[];
  readonly rules: readonly PlacedRule[];
};

/** A finding of any rule. */
type AnyFinding = {
  readonly rule: string;
  readonly severity: Severity;
  readonly resource: DesiredResource;
  readonly path: string;
  readonly span?: Span;
  readonly message: string;
  readonly hint?: string;
  /** True if a comment may silence it. */
  readonly isSuppressible: boolean;
};

/** Judges a stack by the lint and by the rules of the team. */
export const openJudge: OpenJudge = async (settings, { folder, kinds, report }) => {
  const { root, organizations } = settings;
  const placed = readRules(root, { folder, report });
  const rules = await openRules(placed, kinds, report);
  const lintSettings = readLint(followPath(root, ['lint'])?.value);
  return {
    check: (stack) =>
      reportLint({
        ...stack,
        kinds,
        folder,
        settings: lintSettings,
        rules: placed,
        found: rules.judge(stack.resources, organizations),
      }),
    plan: rules.plan,
  };
};

/** The `lint:` of a stack. It is only asked once its schema has found nothing wrong with it. */
function readLint(value: Resolved | undefined): LintSettings {
  const { rules, ...given } = toObject(value);
  const severities = new Map(Object.entries(toObject(rules)));
  return { ...DEFAULT_LINT, ...given, severities } as LintSettings;
}

/** Reports what the lint rules find, but for what comments silence. */
function reportLint(input: LintInput): void {
  const { resources, settings, kinds, files, report } = input;
  const texts = openTexts(input);
  const suppressions = files.flatMap(({ source }) =>
    source === undefined ? [] : readSuppressions(source),
  );
  const byRule = Map.groupBy(suppressions, ({ rule }) => rule);
  const used = new Set<Suppression>();
  const schemas = new Map(kinds.map(({ name, schema }) => [name, schema]));
  const subject: LintSubject = {
    resources,
    settings,
    findSchema: (kind) => schemas.get(kind),
    findOrigin: (resource, path) => texts.findOrigin(resource, path),
  };
  const findings = [...lint(subject).map(ofLint), ...input.found.flatMap(ofTeam(input))];
  for (const finding of findings) {
    const silencing =
      byRule.get(finding.rule)?.filter((ignore) => suppresses(ignore, finding)) ?? [];
    for (const ignore of silencing) used.add(ignore);
    if (silencing.length === 0) reportFinding(finding, texts, report);
  }
  const own = input.rules.map(({ name, severity }) => ({ name: teamName(name), severity }));
  const names = [...namedRules, ...own.filter(({ severity }) => severity === 'warning')];
  for (const ignore of suppressions) {
    const isFirm = own.some(({ name, severity }) => name === ignore.rule && severity === 'error');
    if (!isFirm) continue;
    refuseSuppression(ignore, report);
    used.add(ignore);
  }
  reportUnused(
    suppressions.filter((ignore) => !used.has(ignore)),
    names.map(({ name }) => name),
    settings,
    report,
  );
}

function ofLint(finding: Weighed): AnyFinding {
  const { resource, path, message } = finding;
  const subject = formatSubject({ subject: resource.address }, [path]);
  return { ...finding, message: `${subject} ${message}`, isSuppressible: true };
}

function teamName(name: string): string {
  return `rules/${name}`;
}

/** An error of the team is a decision of the team: a comment of one file does not lift it. */
function ofTeam({ rules, report }: LintInput) {
  return (finding: RuleFinding): readonly AnyFinding[] => {
    const { resource, severity } = finding;
    const rule = teamName(finding.rule);
    const written = rules.find(({ name }) => name === finding.rule);
    const source = written?.source;
    if (resource !== undefined) {
      const message = `${resource.address}: ${finding.message}`;
      const hint = finding.hint ?? `The rule is at ${source ?? 'rules'}`;
      return [
        { ...finding, resource, rule, message, hint, isSuppressible: severity === 'warning' },
      ];
    }
    const range = written?.keyPlace;
    const message = `rules.${finding.rule} ${finding.message}`;
    report.add({ severity, rule, message, hint: finding.hint, range });
    return [];
  };
}

/** A comment speaks for the field, and for the resource that has it: the field may stand in a base. */
function suppresses(ignore: Suppression, { resource, path, isSuppressible }: AnyFinding): boolean {
  if (!isSuppressible) return false;
  return covers(ignore, resource.locate(path)) || covers(ignore, resource.position);
}

function reportFinding(finding: AnyFinding, texts: Texts, report: Report): void {
  const { resource, path, severity, rule, message, hint, span } = finding;
  const { address } = resource;
  report.add({
    severity,
    rule,
    message,
    hint,
    address,
    path,
    range: texts.findRange(resource, path, span),
  });
}

/** A warning that cannot be switched off: somebody believes that a rule of the team is silenced. */
function refuseSuppression({ rule, range }: Suppression, report: Report): void {
  report.add({
    severity: 'warning',
    rule: UNUSED_IGNORE.name,
    message: `callsheet-ignore names ${rule}, which is an error: a comment cannot silence it`,
    hint: 'Leave the resource out with when, or make the rule a warning',
    range,
  });
}

/** Says of every comment that silences nothing, or names no rule. */
function reportUnused(
  suppressions: readonly Suppression[],
  names: readonly string[],
  settings: LintSettings,
  report: Report,
): void {
  const severity = getSeverity(UNUSED_IGNORE, settings);
  if (severity === 'off') return;
  for (const { rule, range } of suppressions) {
    if (settings.severities.get(rule) === 'off') continue;
    const add = (message: string, hint: string) =>
      report.add({ severity, rule: UNUSED_IGNORE.name, message, hint, range });
    const list = `The rules are ${names.join(', ')}`;
    if (rule === '') add('callsheet-ignore names no rule', list);
    else if (!names.includes(rule)) {
      const message = `callsheet-ignore names ${rule}, which is not a rule that can be silenced`;
      add(message, didYouMean(rule, names, list));
    } else add(`callsheet-ignore silences ${rule}, which finds nothing here`, 'Remove it');
  }
}

/** A rule that a comment silences for a node and everything below it. */
type Suppression = {
  readonly rule: string;
  /** The rule's name in the comment. */
  readonly range: SourceRange;
  readonly lines: LineRange;
};

const MARK = 'callsheet-ignore';
/** `# callsheet-ignore prompt/growth, prompt/duplicated: reason` */
const COMMENT = /^#+\s*callsheet-ignore(?![\w-])(?<names>[^:]*)(?::|$)/;

/** The comments of a file that silence rules. */
function readSuppressions(source: Source): readonly Suppression[] {
  // Most files have none, and need not be read once more.
  if (!source.text.includes(MARK)) return [];
  return commentsIn(source.text).flatMap((start) => {
    const comment = firstLine({ source, start, end: source.text.length });
    const names = COMMENT.exec(source.text.slice(comment.start, comment.end))?.groups?.names;
    if (names === undefined) return [];
    const lines = linesBelow(source, subjectLine(comment));
    const from = source.text.indexOf(MARK, comment.start) + MARK.length;
    const named = [...names.matchAll(/[^\s,]+/g)].map(({ 0: rule, index }) => {
      const start = from + index;
      return { rule, lines, range: { source, start, end: start + rule.length } };
    });
    return named.length > 0 ? named : [{ rule: '', lines, range: comment }];
  });
}

/** The line of the key that a comment is about: its own, or the next that is neither empty nor a comment. */
function subjectLine({ source, start }: SourceRange): number {
  const line = lineAt(source, start);
  const begin = lineRange(source, line)?.start ?? 0;
  if (!isBlank(source.text.slice(begin, start))) return line;
  for (let next = line + 1; ; next += 1) {
    const text = lineText(source, next);
    if (text === undefined) return line;
    if (!/^[ \t]*(?:#|$)/.test(text)) return next;
  }
}

function covers({ range, lines }: Suppression, position: SourcePosition | undefined): boolean {
  return (
    position !== undefined &&
    position.file === range.source.file &&
    lines.from <= position.line &&
    position.line <= lines.to
  );
}

/** Lines of a file, counted from 1, both included. */
type LineRange = { readonly from: number; readonly to: number };

/** The text of a line; undefined where the file has none. */
function lineText(source: Source, line: number): string | undefined {
  const range = lineRange(source, line);
  return range === undefined ? undefined : source.text.slice(range.start, range.end);
}

/**
 * The lines of the key or list entry that a line begins, with everything below it: what follows is
 * indented deeper, or is the list of a key, which may stand as far left as the key itself.
 */
function linesBelow(source: Source, line: number): LineRange {
  const first = lineText(source, line) ?? '';
  const indent = measureIndent(first);
  const isEntry = trimBlankStart(first).startsWith('- ');
  let to = line;
  for (let next = line + 1; ; next += 1) {
    const text = lineText(source, next);
    if (text === undefined) return { from: line, to };
    if (isBlank(text)) continue;
    const deeper = measureIndent(text) > indent;
    const listed = !isEntry && measureIndent(text) === indent && /^\s*-(?:\s|$)/.test(text);
    if (!deeper && !listed) return { from: line, to };
    to = next;
  }
}

/** Finds where the text of a field is written: in the YAML, or in the file that it names. */
type Texts = {
  readonly findOrigin: (resource: DesiredResource, path: string) => Origin;
  /** Returns the range of a part of a field's text, or of the whole field if that of the part is unknown. */
  readonly findRange: (
    resource: DesiredResource,
    path: string,
    span?: Span,
  ) => SourceRange | undefined;
};

function openTexts({ folder, variables, resolvedAt }: LintInput): Texts {
  /** Returns the written node of a field, with the file that it names. */
  const written = ({ address }: DesiredResource, path: string) => {
    const resource = resolvedAt(address);
    if (resource === undefined) return {};
    const [member = ''] = configPath(resource, [path]);
    const node = findMember(resource.body, member)?.value;
    const name = textIn(findMember(node, '$file')?.value) ?? '';
    const { text: file } = interpolate(name, { variables, row: resource.row });
    const read = file ? folder.text(file) : undefined;
    return { node, file: read === undefined || isUnreadable(read) ? undefined : read.source };
  };
  const field = ({ address }: DesiredResource, path: string): SourceRange | undefined => {
    const resource = resolvedAt(address);
    const range = resource && (resource.findRange(path) ?? resource.ownPlace);
    return range && firstLine({ ...range, end: range.source.text.length });
  };
  return {
    findOrigin: (resource, path) => {
      const { node, file } = written(resource, path);
      if (file !== undefined) return { key: file.file, label: file.file };
      const position = resource.locate(path);
      // Without a range every text counts as written on its own.
      if (node === undefined || position === undefined)
        return { key: `${resource.address} ${path}`, label: path };
      // `prompt: &shared …` and `prompt: *shared` are one text.
      const { source, start } = node.origin ?? node.range;
      return { key: `${source.file} ${start}`, label: `${position.file}:${position.line}` };
    },
    findRange: (resource, path, span) => {
      const range = field(resource, path);
      const text = resource.document[path];
      if (span === undefined || typeof text !== 'string') return range;
      const { node, file } = written(resource, path);
      if (file !== undefined) return { source: file, start: span.start, end: span.end };
      if (node === undefined) return range;
      const found = rangeOfText(text.slice(span.start, span.end), node.range);
      return found.end - found.start === span.end - span.start ? found : range;
    },
  };
}

function firstLine({ source, start, end }: SourceRange): SourceRange {
  return {
    source,
    start,
    end: Math.min(end, lineRange(source, lineAt(source, start))?.end ?? end),
  };
}
