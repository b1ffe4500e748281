// A result as a page: of a comment, an issue and the summary of a job.

/** Characters that GitHub takes in a comment or an issue. */
const LIMIT = 65_536;

const BY_HAND =
  'Run the workflow callsheet apply by hand: it plans anew, shows the plan and waits for an approval.';
const ALL_OF_MAIN = 'By hand, with everything that was merged by then.';
const TO_DELETE =
  'To delete it: run the workflow callsheet apply by hand, with “allow-delete”. To keep it: put it back into the files.';
const TO_RESEND =
  'To write the secrets that are set: run the workflow callsheet apply by hand, with “resend-secrets”.';
const ROLLOUT_BY_HAND = 'Run the workflow callsheet rollout by hand';

/** What each exit code of Callsheet means for a pipeline, and what to do; `rollout` where that is another thing. */
export const EXITS = {
  0: {
    titles: {
      plan: 'Nothing to change',
      apply: 'Applied',
      drift: 'No drift',
      pending: 'Nothing is pending',
      rollback: 'Rolled back',
      rollout: 'Done',
    },
    advice: '',
  },
  1: {
    titles: {
      plan: 'The plan failed',
      apply: 'The apply failed',
      drift: 'Drift is unknown',
      pending: 'It is unknown what is pending',
      rollback: 'The rollback failed',
      rollout: 'The rollout failed',
    },
    advice: 'The message below says what is wrong, where, and what to do.',
  },
  2: {
    titles: { plan: 'Changes', drift: 'Drift', pending: 'Pending', rollout: 'Waiting for calls' },
    advice: `To put it back: ${lowered(BY_HAND)} To keep it: callsheet pull, and a pull request.`,
  },
  3: {
    titles: { apply: 'Applied in part', rollback: 'Rolled back in part', rollout: 'Rolled back' },
    rollback:
      'The list below says what is not back, why, and what to do. Then run the workflow callsheet rollback again, with the id of the same run.',
    rollout:
      'Below it says why. The values are held: nothing writes them again until the configuration changes.',
    advice: `The list below says what became of each change. Put right what failed. ${BY_HAND} Or undo the run with callsheet rollback.`,
  },
  4: {
    titles: {
      plan: 'A guard refuses this plan',
      apply: 'Not applied: a guard refuses the plan',
      pending: 'Pending, and a guard refuses the plan',
      rollback: 'Not rolled back',
      rollout: 'Held, or refused by a guard',
    },
    rollback:
      'Nothing was written. Below it says why. Where somebody edited since the run, run the workflow again and say what becomes of those edits.',
    rollout: `Below it says why. ${ROLLOUT_BY_HAND}: promote goes on, abort rolls back.`,
    advice:
      'Nothing was written. Each refusal says why. Where a flag overrides it, callsheet apply by hand has an input of that name.',
  },
  5: {
    titles: {
      plan: 'The branch lacks what was applied last',
      apply: 'Not applied as reviewed: the plan is stale',
      rollback: 'Not rolled back: the state moved',
      rollout: 'Not started as reviewed: the plan is stale',
    },
    plan: 'Below it says which commit that is. To get it, merge the base branch: “Update branch”.',
    rollback: 'Nothing was written. Run the workflow callsheet rollback again.',
    rollout: `Platform, configuration or state moved since the review. ${ROLLOUT_BY_HAND}, with start: it plans anew.`,
    advice: `Platform, configuration or state moved since the review. The message below says what, and whether anything was written before that was noticed. ${BY_HAND}`,
  },
  6: {
    titles: {
      apply: 'Not applied: another run has the state',
      rollback: 'Not rolled back: another run has the state',
      rollout: 'Not looked at: another run has the state',
    },
    advice: 'Nothing was written. Run this again once that one has ended.',
  },
  130: {
    titles: {
      plan: 'The plan was interrupted',
      apply: 'Interrupted',
      rollback: 'Interrupted',
      rollout: 'Interrupted',
    },
    rollback:
      'What was under way was finished and recorded. Run the workflow callsheet rollback again: it goes on.',
    rollout: 'What was under way was finished and recorded. The next run continues it.',
    advice: `What was under way was finished and recorded. ${BY_HAND}`,
  },
};

function lowered(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** What an apply is called that had no plan to take. */
const WITHOUT_PLAN = {
  apply: 'Not applied: there is no reviewed plan',
  rollout: 'Not started: there is no reviewed plan',
};

/** What a command is called on pages: those of a rollout are one, and so are those of a rollback. */
export function kindOf(command) {
  return /^(?:rollout|rollback)/.exec(command)?.[0] ?? command;
}

/** How it ended, in a line, and what to do now. */
export function resultOf({
  command,
  exit,
  frozen = '',
  problem = '',
  waits = '',
  resumes,
  isWhole,
  told,
}) {
  if (told !== undefined) return told;
  const kind = kindOf(command);
  if (problem !== '') return { title: WITHOUT_PLAN[kind], advice: problem };
  if (frozen !== '') {
    const then = resumes
      ? 'The workflow callsheet resume applies the plan when the freeze has ended.'
      : `When the freeze has ended: ${lowered(BY_HAND)}`;
    const title = kind === 'plan' ? `Frozen ${frozen}` : `Not applied yet: frozen ${frozen}`;
    const kept = kind === 'plan' ? 'The plan is kept. What is merged meanwhile waits.' : '';
    return { title, advice: [kept, then].filter((text) => text !== '').join(' ') };
  }
  if (command === 'rollback-plan' && exit === 0)
    return { title: 'Nothing to roll back', advice: '' };
  if (waits !== '') {
    const advice = [
      ...(waits.includes('--allow-delete') ? [TO_DELETE] : []),
      ...(waits.includes('--resend-secrets') ? [TO_RESEND] : []),
    ];
    return { title: `Applied; ${waits}`, advice: advice.join(' ') };
  }
  const { titles, [kind]: own, advice: general } = EXITS[exit] ?? EXITS[1];
  const title = titles[kind] ?? EXITS[1].titles[kind];
  const advice = isWhole && exit === 0 ? ALL_OF_MAIN : (own ?? general);
  return { title: [0, 2].includes(exit) ? title : `${title} (exit ${exit})`, advice };
}

/** The first line of a page, by which it is found again: its stack and environment, and no other. */
export function markerOf({ command, name, environment = '' }) {
  const words = [name, environment].filter((word) => word !== '');
  // Two dashes would end the comment.
  const safe = words.map((word) => word.replace(/[^\w.-]+/g, '-').replace(/--+/g, '-'));
  return `<!-- callsheet:${[kindOf(command), ...safe].join(' ')} -->`;
}

/** Whether Callsheet printed a page itself. */
export function hasPage({ command, out }) {
  return (
    command !== 'apply' && command !== 'rollback' && out.trimStart().startsWith('<!-- callsheet:')
  );
}

/** The page of a result. */
export function pageOf(result, env) {
  const { command, exit, out, digest, frozen, waits } = result;
  const isPage = hasPage(result);
  const foot = `\n\n${footOf(result, env)}`;
  const head = `${markerOf(result)}\n\n`;
  // Callsheet's own marker knows nothing of the name that the pipeline gave the stack.
  const body = isPage ? out.trimStart().replace(/^.*\n+/, '') : bodyOf(result);
  const warned = isPage && (frozen || ![0, 2].includes(exit)) ? `${warningOf(result)}\n\n` : '';
  const said = `${warned}${describeWays(result, env)}`;
  // Last, so that nothing that a plan shows can pass for it.
  const isOpen = command === 'apply' && (exit !== 0 || Boolean(frozen) || Boolean(waits));
  const passes = result.passesFreeze ? PASSES_FREEZE : '';
  const seal = digest ? `${passes}\n<!-- digest ${digest} -->` : isOpen ? OPEN : '';
  const room = LIMIT - head.length - said.length - foot.length - seal.length;
  return `${head}${said}${shorten(body.trimEnd(), room)}${foot}${seal}`;
}

/** How a plan is let pass what stands against it, and which labels did not count. */
function describeWays({ ways = [] }, { GITHUB_EVENT_NAME: event, NOT_ALLOWED: refused = '' }) {
  const isPull = event === 'pull_request';
  const names = ways.map(({ label, name, does }) => `> - \`${isPull ? label : name}\`: ${does}`);
  const how = isPull
    ? 'To let it pass, somebody who may write sets a label on this pull request, and it is planned again:'
    : 'To let it pass, run the workflow again with an input:';
  const shown = [
    ...(refused === '' ? [] : refused.split('\n').map((line) => `> ${line}`)),
    ...(names.length === 0 ? [] : [`> ${how}`, '>', ...names]),
  ];
  return shown.length === 0 ? '' : `> [!NOTE]\n${shown.join('\n')}\n\n`;
}

/** Of a plan that is applied in a freeze, too. */
const PASSES_FREEZE = '\n<!-- passes freeze -->';

export function isPassingFreeze(page) {
  return new RegExp(`${PASSES_FREEZE}\\n<!-- digest \\S+ -->\\s*$`).test(page);
}

/** Ends the page of an apply that left something to do. */
const OPEN = '\n<!-- open -->';

/** Whether something of a merge is not live, by the page of its apply. */
export function isOpen(page) {
  return page.trimEnd().endsWith(OPEN);
}

/**
 * Whether a page may take the place of what a comment says. Jobs are started again: what an older job finds is no news,
 * and nor is what finds everything applied. A page that tells of a run of its own is always news.
 */
export function isNews(page, known) {
  if (RUN_AT_END.test(page)) return true;
  const isSettled = /^<!-- callsheet:apply[ -]/.test(known) && !isOpen(known);
  return !isSettled && jobIn(page) >= jobIn(known);
}

/** The last line of a page, with what may stand behind it. */
const AT_END = '[^\\n]*(?:\\n<!-- (?:digest \\S+|open|passes freeze) -->)*\\s*$';
const RUN_AT_END = new RegExp(` · run \`[^\`\\n]+\`${AT_END}`);
const JOB_AT_END = new RegExp(`\\[job (\\d+)\\]\\(\\S+\\)${AT_END}`);

/** The job that wrote a page, by its number: later ones have higher numbers. 0 for a page that names none. */
function jobIn(page) {
  return Number(JOB_AT_END.exec(page)?.[1] ?? 0);
}

/** The digest that a page was sealed with; undefined where it has none. */
export function digestIn(page) {
  return /\n<!-- digest (sha256:[0-9a-f]{64}) -->\s*$/.exec(page)?.[1];
}

function warningOf(result) {
  const { title, advice } = resultOf(result);
  return `> [!${result.frozen ? 'NOTE' : 'CAUTION'}]\n> **${title}.** ${advice}`;
}

function bodyOf(result) {
  const { exit, out, err } = result;
  const { title, advice } = resultOf(result);
  const shown = [out, exit === 0 ? '' : err].map(withoutEdges).filter((text) => text !== '');
  const texts = shown.map((text) => fenced(text.slice(-20_000)));
  return [`### ${title}`, advice, ...texts].filter((text) => text !== '').join('\n\n');
}

/** Without empty lines around it; the first line keeps its indent. */
function withoutEdges(text) {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

/** A text as it is: the fence is longer than any in it. */
function fenced(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** The last line of a page: commit, job and run. */
export function footOf({ err }, env) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: job } = env;
  const sha = env.HEAD_SHA || env.GITHUB_SHA || '';
  // By this id callsheet runs and callsheet rollback know it.
  const run = /^ {2}callsheet runs (\S+)/m.exec(err)?.[1];
  return [
    `Commit ${sha.slice(0, 12)}`,
    `[job ${job}](${server}/${repository}/actions/runs/${job})`,
    ...(run === undefined ? [] : [`run \`${run}\``]),
  ].join(' · ');
}

/** Leaves out whole changes from the end until the page fits. */
function shorten(body, room) {
  if (body.length <= room) return body;
  const notice = '_Changes are left out here, as a comment is too short: the log has them all._';
  const blocks = foldedIn(body);
  let over = body.length + notice.length + 2 - room;
  const left = [];
  while (over > 0 && blocks.length > 0) {
    left.unshift(blocks.pop());
    over -= left[0].end - left[0].start;
  }
  const first = left[0]?.start ?? body.length;
  const parts = left.map(({ end }, at) => body.slice(end, left[at + 1]?.start ?? body.length));
  const page = [body.slice(0, first), ...parts].join('');
  return `${page.slice(0, room - notice.length - 2)}\n\n${notice}`;
}

/** Where each outermost folded block begins and ends; that of a stack has others in it. */
function foldedIn(body) {
  const blocks = [];
  let depth = 0;
  for (const { 0: tag, index } of body.matchAll(/^<details>|^<\/details>\n*/gm)) {
    const isOpening = tag === '<details>';
    if (isOpening && depth === 0) blocks.push({ start: index, end: body.length });
    depth = Math.max(0, depth + (isOpening ? 1 : -1));
    if (!isOpening && depth === 0 && blocks.length > 0) blocks.at(-1).end = index + tag.length;
  }
  return blocks;
}
