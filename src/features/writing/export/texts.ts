import { formatList } from '../../../core/errors.ts';
import type { SecretUse } from '../../../live/secrets.ts';
import { writtenValue } from '../../../stack/editor/explain-field.ts';
import type { ExportResult } from './index.ts';

/** Columns of a line. */
const WIDTH = 100;

/** `callsheet.yaml` of an exported stack. */
export function stackText(
  { organizations, variables }: ExportResult,
  baseUrl: string,
  schema: string,
  stack: string,
): string {
  const [only, ...others] = organizations;
  const named = organizations.map(({ id, name }) => `  ${name}: ${writtenValue(id)}\n`).join('');
  const voices = [...variables].map(([name, id]) => variable(name, writtenValue(id)));
  const parts = [
    `# yaml-language-server: $schema=${schema}\n`,
    '# Exported from the platform. It is yours from here on: rename, move and merge as you like.\ncallsheet: 1\n',
    idPart(stack),
    `${platformPart(baseUrl)}${voices.length === 0 ? '' : `  # Names for what the platform has and gives no file of.\n${voices.join('')}`}`,
    ...(only === undefined ? [] : [`# Names for ids.\norganizations:\n${named}`]),
    ...(only !== undefined && others.length === 0
      ? [`# The owner of every resource that names none itself.\norganization: ${only.name}\n`]
      : []),
    GUARDS_PART,
  ];
  return parts.join('\n');
}

/** The id of a stack, made of its folder below the top of its repository, or of the folder's name. */
export function idPart(folder: string): string {
  const plain = folder.normalize('NFD').replace(/\p{M}/gu, '');
  const fit = plain.replace(/[^A-Za-z0-9._/-]+/g, '-').slice(-LONGEST_ID);
  const id = fit.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return `# A state outside of this folder belongs to the stack of this id. Keep it when the folder moves.\nstack: ${writtenValue(id === '' ? 'stack' : id)}\n`;
}

/** As long as an id may be. */
const LONGEST_ID = 100;

export const GUARDS_PART =
  '# A plan that goes further is refused.\nguards:\n  max_delete: 5\n  max_change_percent: 30\n';

/** Returns the part of a new stack's `callsheet.yaml` that says where the platform is. */
export function platformPart(baseUrl: string): string {
  return `# Never write credentials here: CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET are read from the
# environment.
platform:
  base_url: \${var.base_url}
variables:
  base_url: { env: CALLSHEET_BASE_URL, default: ${writtenValue(baseUrl)} }
`;
}

/** As `fmt` leaves it: between braces where that fits on a line. */
function variable(name: string, value: string): string {
  const line = `  ${name}: { default: ${value} }\n`;
  return line.length <= WIDTH + 1 ? line : `  ${name}:\n    default: ${value}\n`;
}

/** Resources of one variable that are listed; the rest is counted. */
const MOST_LISTED = 3;

/** The list of what somebody must supply before the first plan. */
export function secretsText(secrets: readonly SecretUse[]): string {
  const isShared = (those: readonly SecretUse[]) => variables(those).size < those.length;
  const known = secrets.filter(({ value }) => value !== undefined);
  const missing = secrets.filter(({ value }) => value === undefined);
  return [
    '# Secrets to supply',
    '',
    'The stack reads these from the environment. `callsheet plan` needs none of them; `callsheet apply`',
    'needs one where it writes it. Take out a line with `$secret` to leave its value to the platform.',
    '',
    ...(missing.length === 0
      ? []
      : [
          '## Never returned by the platform',
          '',
          'Look them up where they were issued. Once they are set, `callsheet state trust` takes them for',
          'what the platform has; `callsheet apply --resend-secrets` writes them.',
          '',
          ...(isShared(missing)
            ? [
                'Fields with the same account at the same provider share a variable. Callsheet cannot compare their',
                'values. If a field has another value, give it a variable of its own before you trust or write it.',
                '',
              ]
            : []),
          ...rows(missing),
          '',
        ]),
    ...(known.length === 0
      ? []
      : [
          '## Known to the platform',
          '',
          'Their values are compared: another one is a change. `callsheet export --secrets-file FILE`',
          'writes down those that the platform has.',
          '',
          ...(isShared(known)
            ? ['Fields that had the same value for the same host and header share a variable.', '']
            : []),
          ...rows(known),
          '',
        ]),
  ].join('\n');
}

/** Secrets by their variable. */
function variables(secrets: readonly SecretUse[]): ReadonlyMap<string, readonly SecretUse[]> {
  return Map.groupBy(secrets, ({ name }) => name);
}

function rows(secrets: readonly SecretUse[]): readonly string[] {
  return [...variables(secrets)].map(([name, uses]) => {
    const [first] = uses;
    const paths = new Set(uses.map(({ path }) => path));
    const path = `\`${cell(first?.path ?? '')}\`${paths.size > 1 ? ' and others' : ''}`;
    const addresses = [...new Set(uses.map(({ address }) => address))];
    const listed = addresses.slice(0, MOST_LISTED).map((address) => `\`${address}\``);
    const more = addresses.length - listed.length;
    const of = [...listed, ...(more > 0 ? [`${more} more`] : [])];
    return `- [ ] \`${name}\`: ${path} of ${formatList(of)}`;
  });
}

/** The report on what was left out is a file of its own beside the stack. */
export const REPORT_FILE = 'EXPORT.md';

export function hasLeftOut({ leftOut, unlisted, unasked, variables }: ExportResult): boolean {
  return leftOut.length + unlisted.length + unasked.length + variables.size > 0;
}

/** Names everything of the platform that the stack does not have, by the reason why, or says that there is nothing. */
export function reportText(result: ExportResult): string {
  const { leftOut, unlisted, unasked, variables: voices } = result;
  const sections = [...Map.groupBy(leftOut, ({ reason }) => reason)].flatMap(([reason, those]) => [
    '',
    `## ${title(reason)}`,
    '',
    ...fieldLines(those, result.counts),
  ]);
  const kinds = unlisted.flatMap(({ kind, reason }) => [
    '',
    `## ${title(reason)}`,
    '',
    `- every \`${kind}\``,
  ]);
  const parts = unasked.flatMap(({ kind, path, resources }) => [
    '',
    '## Not asked for: as the resource is, no request switches it on; what was on before is left on',
    '',
    `- \`${path}\` of ${resources} \`${kind}\``,
  ]);
  const files =
    voices.size === 0
      ? []
      : [
          '',
          '## The platform gives no clip of a voice back: variables in callsheet.yaml name them',
          '',
          ...[...voices].map(([name, id]) => `- \`${name}\`: \`${id}\``),
        ];
  return [
    '# Left out by the export',
    '',
    hasLeftOut(result)
      ? 'The platform keeps all of this as it is: a plan neither shows nor changes it.'
      : 'Nothing was left out.',
    ...sections,
    ...kinds,
    ...parts,
    ...files,
    '',
  ].join('\n');
}

/** Names every resource that a field was left out of, or its kind where all of it is meant: who looks for one finds it. */
function fieldLines(
  remarks: ExportResult['remarks'],
  counts: ExportResult['counts'],
): readonly string[] {
  return [...Map.groupBy(remarks, ({ path }) => path)].map(([path, uses]) => {
    const byKind = Map.groupBy(uses, ({ address }) => address.split('.', 1)[0] ?? '');
    const whose = formatList(
      [...byKind].flatMap(([kind, own]) =>
        path !== null && own.length > 1 && own.length === counts.get(kind)
          ? [`every \`${kind}\``]
          : own.map(({ address }) => `\`${cell(address)}\``),
      ),
    );
    return path === null ? `- ${whose}` : `- \`${cell(path)}\` of ${whose}`;
  });
}

function title(reason: string): string {
  return cell(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}`);
}

function cell(text: string): string {
  return text.replace(/[`\r\n]/g, ' ');
}

/**
 * Returns a file that a shell reads with `set -a; . FILE`: the values that the platform returns, and names for the
 * others.
 */
export function secretsFile(secrets: readonly SecretUse[]): string {
  return [...variables(secrets)]
    .map(([name, [first]]) =>
      first?.value === undefined
        ? `# ${name}=\n`
        : `${name}='${first.value.replaceAll("'", "'\\''")}'\n`,
    )
    .join('');
}
