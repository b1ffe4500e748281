// What a plan says beside its changes, for pipelines: what waits, what is frozen, what of main is not live.
import { execFileSync } from 'node:child_process';
import { GUARDS, OVERRIDES } from './guards.mjs';

/** `until Mon 2026-11-23 06:00 America/New_York`; empty without a freeze. */
export function describeFreeze(freeze) {
  if (freeze === undefined) return '';
  return freeze.ends === null ? 'with no end within a year' : `until ${freeze.ends}`;
}

/** The freeze of a plan that nothing else stands against, but for what stands against main already. */
export function findFreezeAlone({ freeze, refusals = [], changes, options }) {
  if (freeze === undefined) return undefined;
  const isStruck = changes.some((one) => one.verdict === 'refused' && !one.refused_on_base);
  const others = refusals.some(({ guard, origin }) => guard !== 'freeze' && origin !== 'base');
  return others || (isStruck && !options.skip_refused) ? undefined : freeze;
}

/** `1 delete waits for --allow-delete`: what an apply of the plan leaves for later; empty where it is nothing. */
export function findWaiting(plan) {
  const held = (plan?.changes ?? []).filter(({ verdict }) => verdict === 'held');
  const deletes = held.filter(isDelete).length;
  const others = held.length - deletes;
  // Without a record of what was written, as after a lost state, nobody can tell whether a secret that is set is stored.
  const secrets = (plan?.notes ?? []).reduce((sum, { uncompared = 0 }) => sum + uncompared, 0);
  return [
    ...(deletes === 0
      ? []
      : [`${count(deletes, 'delete waits', 'deletes wait')} for \`--allow-delete\``]),
    ...(others === 0 ? [] : [`${count(others, 'change waits', 'changes wait')} for a rollout`]),
    ...(secrets === 0
      ? []
      : [
          `${count(secrets, 'secret is', 'secrets are')} as stored, whatever is set here, until \`--resend-secrets\``,
        ]),
  ].join(', ');
}

/** The guards that stand against a plan, or make something of it wait, and that its reviewers may let it pass. */
export function findWays({ changes = [], refusals = [], options = {} }) {
  // Apply is stopped by what its base has already, too.
  const struck = changes.filter(
    ({ verdict }) => verdict === 'refused' && options.skip_refused !== true,
  );
  const held = changes.filter(({ verdict }) => verdict === 'held');
  const lifts = [...struck, ...held].map(({ lifted_by: lift }) => lift);
  // What the platform itself would refuse can be left out.
  const isLeft = struck.some(({ lifted_by: lift }) => lift === undefined);
  const flags = refusals.map(({ guard }) => OVERRIDES[guard]);
  return GUARDS.filter(
    ({ flag, option }) =>
      flags.includes(flag) || lifts.includes(option) || (isLeft && option === 'skip_refused'),
  );
}

/** The guards that reviewers may let a plan pass, for the note of a merge request; empty without any. */
export function describeWays(ways) {
  const names = ways.map(
    ({ label, variable, does }) => `> - \`${label}\`, then \`${variable}\`: ${does}`,
  );
  const how =
    '> To let it pass, set a label on this merge request and run its pipeline again. After the merge run a pipeline of the default branch with the variable of that name:';
  return names.length === 0 ? '' : `> [!NOTE]\n${how}\n>\n${names.join('\n')}\n\n`;
}

function isDelete({ lifted_by: lift }) {
  return lift === 'allow_delete';
}

function count(number, one, several) {
  return `${number} ${number === 1 ? one : several}`;
}

const WRITES = new Set(['create', 'update', 'replace', 'delete']);

/**
 * What a plan of main would still do because of what is merged: each change with its fields, what it waits for, and the
 * commit that brought it, where Git tells. What main removed and somebody made again is listed as well, though no apply
 * touches it.
 *
 * @param folder the stack
 */
export function findPending(plan, folder) {
  const frozen = describeFreeze(plan.freeze);
  const merged = plan.changes.filter(isMerged).map((change) => {
    const { address, action, verdict, reason } = change;
    const fields = change.fields.filter(isOfFiles).map(({ path }) => path);
    const waits = verdict === 'held' ? (isDelete(change) ? 'label' : 'rollout') : verdict;
    return {
      address,
      action,
      fields: action === 'update' ? fields : [],
      waits: waits === 'ok' ? (frozen === '' ? '' : 'freeze') : waits,
      why: waits === 'ok' ? frozen : reason,
      commit: findCommit(change, folder),
    };
  });
  const returned = (plan.notes ?? []).filter((note) => note.returned !== undefined);
  return [
    ...merged,
    ...returned.map(({ address, message }) => ({
      address,
      action: 'is live again',
      fields: [],
      waits: 'returned',
      why: message,
      commit: findCommit({ address, fields: [] }, folder),
    })),
  ];
}

/** Whether the files ask for a value: an edit of the platform is put back (drift), or stays. */
function isOfFiles({ cause }) {
  return cause !== 'drifted' && cause !== 'kept';
}

/** Whether the configuration asks for it: what was edited or deleted on the platform is drift, and told as that. */
function isMerged({ action, verdict, fields, missing_id: missing }) {
  if (!WRITES.has(action) || verdict === 'unsupported' || missing != null) return false;
  return action !== 'update' || fields.some(isOfFiles);
}

/** The newest commit that changed the block of a resource or a text of it, or took it away; null where Git does not tell. */
function findCommit({ address, source, fields }, folder) {
  const texts = fields.flatMap(({ source: file }) => (file === undefined ? [] : [['--', file]]));
  const [, file, line] = /^(.+):(\d+)$/.exec(source ?? '') ?? [];
  const block =
    file === undefined ? [] : [[`-L${line},${lastLine(file, Number(line), folder)}:${file}`]];
  const name = /(?<=\["|\.)[^".]+(?="?\]?$)/.exec(address)?.[0] ?? address;
  const gone = file === undefined ? [[`-S${name}`, '--', '.']] : [];
  const found = [...texts, ...block, ...gone].flatMap((where) => readLog(where, folder));
  return found.sort((one, other) => other.at.localeCompare(one.at))[0] ?? null;
}

/** The last line of a block of YAML: what is indented further belongs to it. */
function lastLine(file, first, folder) {
  const lines = git(folder, 'show', `HEAD:./${file}`)?.split('\n') ?? [];
  const indent = (text) => text.length - text.trimStart().length;
  const own = lines[first - 1] ?? '';
  const next = lines.findIndex(
    (text, at) => at >= first && text.trim() !== '' && indent(text) <= indent(own),
  );
  return next < 0 ? Math.max(first, lines.length - 1) : next;
}

function readLog(where, folder) {
  const line = git(folder, 'log', '-1', '--no-patch', '--format=%H%x09%cI%x09%s', ...where)?.split(
    '\n',
  )[0];
  const [id, at, subject = ''] = line?.split('\t') ?? [];
  return at === undefined ? [] : [{ id, at: new Date(at).toISOString(), subject }];
}

/** Undefined where Git has no answer: a shallow clone, a file that it does not know. */
function git(folder, ...args) {
  try {
    return execFileSync('git', ['-C', folder, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

/** `main is ahead by 2 changes since 2026-11-20` */
export function pendingTitle(pending, branch) {
  const times = pending.flatMap(({ commit }) => (commit === null ? [] : [commit.at]));
  const since = times.length === 0 ? '' : ` since ${times.sort()[0].slice(0, 10)}`;
  return `${branch} is ahead by ${count(pending.length, 'change', 'changes')}${since}`;
}

/** Rows of a page that are listed; the plan has them all. */
const MOST_ROWS = 200;

/**
 * The list of what is pending, in Markdown.
 *
 * @param merges by commit, what brought it in: `#12`, `!7`
 * @param ways what to do about each that waits, in the words of the service
 */
export function pendingPage(pending, { branch, merges, ways }) {
  const rows = pending
    .slice(0, MOST_ROWS)
    .map(({ address, action, fields, waits, why, commit }) => {
      const what = [
        `<code>${escapeText(address)}</code> ${action}`,
        ...fields.slice(0, 5).map((path) => `<code>${escapeText(path)}</code>`),
      ];
      const more = fields.length > 5 ? `, ${fields.length - 5} more` : '';
      const by =
        commit === null
          ? '–'
          : `${merges.get(commit.id) ?? commit.id.slice(0, 12)} ${escapeText(commit.subject)}, ${commit.at.slice(0, 10)}`;
      return `| ${what[0]}${what.length > 1 ? `: ${what.slice(1).join(', ')}${more}` : ''} | ${by} | ${describeWait(waits, why, ways)} |`;
    });
  const left = pending.length - rows.length;
  return [
    `### ${pendingTitle(pending, branch)}`,
    'This is merged, and not live.',
    ['| change | merged with | waits for |', '| --- | --- | --- |', ...rows].join('\n'),
    ...(left === 0 ? [] : [`${left} more: the plan in the job has them.`]),
    ways.advice,
  ].join('\n\n');
}

function describeWait(waits, why, ways) {
  if (waits === 'label') return `\`--allow-delete\`: ${ways.label}`;
  if (waits === 'freeze') return `the end of the freeze, ${escapeText(why)}`;
  if (waits === 'rollout') return 'its rollout';
  if (waits === 'returned') return escapeText(why);
  if (waits === '') return ways.apply;
  return `${waits}: ${escapeText(why)}`;
}

/** Text of others: no markup, mention or cell of a table. */
function escapeText(text) {
  return text
    .replace(/\s+/g, ' ')
    .slice(0, 500)
    .replace(/[&<>\\`*_~{}[\]()#|@!]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
