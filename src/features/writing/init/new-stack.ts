import { nameInWords } from '../../../core/address.ts';
import { commandLine, quoted } from '../../../core/command-line.ts';
import type { ExportDocument, ImportDocument } from '../../../core/documents.ts';
import { firstLines } from '../../../core/errors.ts';
import { countEach } from '../../../core/value.ts';
import {
  type Line,
  listLines,
  noteLines,
  paint,
  type RenderOptions,
  sentence,
  span,
  titled,
  wrap,
} from '../../../render/terminal.ts';
import { formatCount, formatNumber, kindTitle } from '../../../render/wording.ts';

/** How a stack begins: what `init`, `export` and `import` did, and what to type next. */

/** The result of `init`. */
type NewStack = {
  /** As it was given with `--dir`. */
  readonly dir: string;
  /** Paths from the folder of the stack. */
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly lacking: readonly { readonly path: string; readonly lines: readonly string[] }[];
  readonly hasBaseUrl: boolean;
  /** True if the stack existed already, and is given what it lacks. */
  readonly isThere: boolean;
  /** Paths from where the command was typed, and the folder of this Callsheet. */
  readonly pipeline:
    | {
        readonly service: keyof typeof STATE_KEPT;
        /** The file whose head says what to set up at the service. */
        readonly guide: string;
        /** The folder that has no lockfile yet; undefined where it has. */
        readonly unlocked: string | undefined;
        readonly callsheet: string;
      }
    | undefined;
};

/** The place where a pipeline keeps its state: a job's workspace is gone when the job ends. */
const STATE_KEPT = {
  github:
    'The pipeline keeps the state in the cache of GitHub Actions, not in the repository. A store keeps it for good: `callsheet help stores`. `callsheet state migrate --to PLACE` moves an existing state there.',
  gitlab:
    'GitLab keeps the state of the pipeline (Operate, Terraform states), not the repository. `callsheet state migrate --to PLACE` moves an existing state there: `callsheet help stores`.',
  shell:
    'The pipeline keeps the state where CALLSHEET_STATE or `callsheet.yaml` says, not in the repository: `callsheet help stores`. `callsheet state migrate --to PLACE` moves an existing state there.',
} as const;

/** Files of one folder that are listed one by one. */
const MOST_LISTED = 5;

/** Shows what was written, what was left alone, and the next commands. */
export function renderNewStackText(stack: NewStack, { width, color }: RenderOptions): string {
  const { dir, written, kept, lacking, hasBaseUrl, isThere, pipeline } = stack;
  const needed = `${hasBaseUrl ? '' : 'CALLSHEET_BASE_URL, '}CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET`;
  const lines: Line[] = [
    ...folded(written).map((path) => [span('  + ', 'added'), span(path)]),
    ...folded(kept).map((path) => [span('  = '), span(`${path} (was there)`)]),
    ...lacking.flatMap(({ path, lines: missing }): Line[] => [
      [span('  ! ', 'warning'), span(`${path} is yours; add to it:`)],
      ...missing.map((line) => [span(`      ${line}`)]),
    ]),
    ...(isThere
      ? []
      : [
          [],
          [span('Next:', 'strong')],
          [span(`  ${commandLine('validate', { dir })}`)],
          [span(`  ${commandLine('plan', { dir })}`)],
          [span(`  ${commandLine('apply', { dir })}`)],
          [],
          ...wrap([span(`plan and apply read ${needed} from the environment.`)], width, 0),
        ]),
    ...(isThere && written.length === 0 && lacking.length === 0
      ? [[], ...noteLines('Nothing was written: the stack has these files.', width, 'plain')]
      : []),
    ...(pipeline === undefined ? [] : [[], ...setUpLines(pipeline, width)]),
    ...(isThere && written.length > 0 ? noteLines('Then commit the files.', width, 'plain') : []),
  ];
  return paint(lines, color);
}

/** Shows the set-up that a pipeline needs before it runs. */
function setUpLines(
  { service, guide, unlocked, callsheet }: NonNullable<NewStack['pipeline']>,
  width: number,
): readonly Line[] {
  const say = (text: string) => noteLines(text, width, 'plain');
  return [
    ...(unlocked === undefined
      ? []
      : [
          ...say(
            'The pipeline installs Callsheet from a tarball and a lockfile with its checksum. Make both, and commit them:',
          ),
          [span(`  npm pack --ignore-scripts --pack-destination ${quoted(unlocked)} \\`)],
          [span(`    ${quoted(callsheet)}`)],
          [span(`  npm install --package-lock-only --prefix ${quoted(unlocked)}`)],
          [],
        ]),
    ...say(STATE_KEPT[service]),
    [],
    ...say(
      'The variables, credentials and approvals that the pipeline needs are listed at the top of',
    ),
    [span(`  ${guide}`)],
  ];
}

/** Folders in the place of their files, where these are many. */
function folded(paths: readonly string[]): readonly string[] {
  const getFolder = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);
  const counts = countEach(paths.map(getFolder));
  const shown = paths.map((path) => {
    const count = counts.get(getFolder(path)) ?? 0;
    return count > MOST_LISTED ? `${getFolder(path)} (${count} files)` : path;
  });
  return [...new Set(shown)];
}

/** Most lines of one list; the rest is counted. */
const MOST_ITEMS = 12;

/** Shows what an export wrote, what a person must supply or look at, and the next commands. */
export function renderExportText(
  document: ExportDocument,
  { width, color }: RenderOptions,
): string {
  const { dir, organizations, resources, bases, files, kept, state, secrets, remarks } = document;
  const from =
    organizations.length === 0 ? '' : ` of ${formatCount(organizations.length, 'organization')}`;
  const lines: Line[] = [
    [span(`${formatCount(files, 'file')} in ${dir}`, 'strong'), span(`${from}:`)],
    ...resources.map(({ kind, count }) => [
      span(`  + ${formatNumber(count)} `, 'added'),
      span(count === 1 ? nameInWords(kind) : kindTitle(kind)),
    ]),
    ...(bases === 0
      ? []
      : [[span(`  + ${formatNumber(bases)} `, 'added'), span(bases === 1 ? 'base' : 'bases')]]),
    ...(state
      ? []
      : noteLines(
          'No state was written: a state that is there stays as it is, and the next plan finds the rest by its name.',
          width,
        )),
    ...section(secretTitle(document), secretLines(document)),
    ...(isShared(secrets.filter(({ told }) => !told))
      ? noteLines(
          'Fields with the same account at the same provider share a variable: its value reaches every resource that reads it. The platform does not return their values, so Callsheet cannot compare them. SECRETS.md lists the fields.',
          width,
          'plain',
        )
      : []),
    ...section(
      `Not as on the platform (EXPORT.md): ${formatNumber(remarks.length)}`,
      remarks.map(
        ({ address, path, reason }) => `${address}${path === null ? '' : `: ${path}`}: ${reason}`,
      ),
      width,
    ),
    ...section('Not exported', unexported(document), width),
    ...section('Was there, and is not in this export', kept),
    ...(kept.length === 0
      ? []
      : noteLines(
          'These belong to the stack, too. Delete those of what was renamed or is gone on the platform: the next plan would make it again.',
          width,
          'plain',
        )),
    [],
    [span('Next:', 'strong')],
    ...commitLines(document),
    [span(`  ${commandLine('plan', { dir })}`)],
    ...(secrets.length === 0 ? [] : supplyLines(document, width)),
  ];
  return paint(lines, color);
}

/** Git first: whatever is edited from here on can be compared with what was live. */
function commitLines({ dir, in_repository: isInRepository }: ExportDocument): readonly Line[] {
  const git = dir === '.' ? 'git' : `git -C ${quoted(dir)}`;
  return [
    ...(isInRepository ? [] : [[span(`  ${git} init`)]]),
    [span(`  ${git} add . && ${git} commit -m "Export"`)],
  ];
}

/** Without a width each item stays whole, to be copied. */
function section(title: string, items: readonly string[], width = Infinity): readonly Line[] {
  const wrapItem = (item: string) => wrap([span(`  ${item}`)], width, 4);
  const lines = firstLines(items, MOST_ITEMS).flatMap(wrapItem);
  return titled(span(title, 'strong'), lines, { width });
}

type Secrets = ExportDocument['secrets'];

/** Variables in the order of their names, each with its fields. */
function variables(secrets: Secrets): readonly (readonly [name: string, uses: Secrets])[] {
  return [...Map.groupBy(secrets, ({ name }) => name)];
}

function isShared(secrets: Secrets): boolean {
  return variables(secrets).length < secrets.length;
}

function secretTitle({ secrets }: ExportDocument): string {
  if (secrets.length === 0) return '';
  const count = formatNumber(variables(secrets).length);
  const fields = isShared(secrets) ? `, for ${formatNumber(secrets.length)} fields` : '';
  return `Secrets to supply (SECRETS.md): ${count}${fields}`;
}

function secretLines({ secrets, secrets_file: file }: ExportDocument): readonly string[] {
  const lines = (those: Secrets) =>
    variables(those).map(([name, uses]) => {
      const readers = new Set(uses.map(({ address }) => address)).size;
      if (readers > 1) return `${name} (${formatCount(readers, 'resource')})`;
      return uses.length === 1 ? name : `${name} (${formatCount(uses.length, 'field')})`;
    });
  if (file === null) return lines(secrets);
  const knownCount = variables(secrets.filter((one) => one.told)).length;
  const where = `${formatNumber(knownCount)} of them ${knownCount === 1 ? 'is' : 'are'} in ${file}: keep it out of Git`;
  return [where, ...lines(secrets.filter((one) => !one.told))];
}

/** A plan needs no secret, and says which ones it could not compare. */
function supplyLines({ secrets_file: file }: ExportDocument, width: number): readonly Line[] {
  const supply = (variables: string) =>
    wrap([span(`  before an apply that writes secrets, set ${variables}`)], width, 4);
  if (file === null) return supply('the variables of SECRETS.md');
  const path = quoted(file);
  const from = path.includes('/') ? path : `./${path}`;
  return [...supply(`what is empty in ${path}`), [span(`  set -a; . ${from}; set +a`)]];
}

function unexported({ unlisted, unasked = [], variables }: ExportDocument): readonly string[] {
  const named = variables.length;
  return [
    ...unlisted.map(({ kind, reason }) => `${kindTitle(kind)}: ${reason}`),
    ...unasked.map(
      ({ kind, path, resources }) =>
        `${path} of ${formatCount(resources, nameInWords(kind), kindTitle(kind))}: not asked for, since they cannot be switched on there`,
    ),
    ...(named === 0
      ? []
      : [
          `${formatCount(named, 'custom voice')}: the platform gives no clip back; variables in callsheet.yaml name ${named === 1 ? 'it' : 'them'}`,
        ]),
  ];
}

/** Most addresses of one list, unless everything is asked for. */
const MOST_BOUND = 20;

/** Shows which resources were bound, which were not and why, and the next commands. */
export function renderImportText(document: ImportDocument, options: RenderOptions): string {
  const { run, serial, bound, unclear, absent } = document;
  const boundLines = ({ address, id, differing }: (typeof bound)[number]): readonly Line[] => [
    ...wrap([span('= ', 'added'), span(address), span(`  ${id}`)], options.width, 4),
    ...(differing.length === 0
      ? []
      : wrap([span(`    differs in ${differing.join(', ')}`)], options.width, 4)),
  ];
  const lines: Line[] = [
    ...listLines(bound, boundLines, MOST_BOUND, options),
    ...(bound.length > 0 ? [[]] : []),
    ...(unclear.length === 0
      ? []
      : [[span(`Not clear: ${formatNumber(unclear.length)}`, 'strong')]]),
    ...unclear.flatMap(({ address, reason, commands }): readonly Line[] => [
      ...wrap([span(unclearText(address, reason, commands))], options.width, 4),
      ...commands.map((command) => [span(`    ${command}`)]),
    ]),
    ...(unclear.length > 0 ? [[]] : []),
    ...(absent.length === 0
      ? []
      : [[span(`Not on the platform: ${formatNumber(absent.length)}`, 'strong')]]),
    ...listLines(absent, (address) => [[span(`  ${address}`)]], MOST_BOUND, options),
    ...(absent.length > 0 ? [[]] : []),
  ];
  const last =
    run === null
      ? 'Nothing is left to bind: the state has it all already. Nothing was written.'
      : `${formatCount(bound.length, 'address', 'addresses')} bound. The state is at serial ${serial}; this is recorded as run ${run}. \`callsheet plan\` shows what is left to do.`;
  return `${paint(lines, options.color)}${sentence(last, options)}`;
}

function unclearText(address: string, reason: string, commands: readonly string[]): string {
  const then = commands.length === 0 ? '' : '; type one of';
  return `  ${address}: ${reason}${then}`;
}
