// A result as a page: of a comment, an issue and the summary of a job.

/** Characters that GitHub takes in a comment or an issue. */
const LIMIT = 65_536;

/** What each exit code of Callsheet means for a pipeline, and what to do. */
export const EXITS = {
  0: { plan: 'Nothing to change', apply: 'Applied', drift: 'No drift', advice: '' },
  1: {
    any: 'failed',
    advice: 'The message below says what is wrong and where. Put it right, and run this again.',
  },
  2: {
    plan: 'Changes',
    drift: 'Drift',
    advice:
      'To put it back: run the workflow callsheet apply by hand. To keep it: callsheet pull, and a pull request.',
  },
  3: {
    any: 'ended in part',
    advice:
      'Something failed, and what depends on it was not attempted; the list below says what became of each change. Put right what failed and run the workflow callsheet apply by hand: it plans what is left. Or undo the run with callsheet rollback.',
  },
  4: {
    any: 'was refused',
    advice:
      'A guard objects, and nothing was written. Each refusal says why, and which flag overrides it where one does.',
  },
  5: {
    any: 'is stale',
    advice:
      'Platform, configuration or state moved since the plan that was reviewed; the message says what, and the list, if there is one, what was written before that was noticed. Not merged yet: run the plan of the pull request again. Merged: run the workflow callsheet apply by hand. It plans anew, shows the plan and waits for an approval.',
  },
  6: {
    any: 'found the state locked',
    advice:
      'Another run has the state, and nothing was written. Run this again once that one has ended.',
  },
  130: {
    any: 'was interrupted',
    advice:
      'What was under way was finished and recorded. Run the workflow callsheet apply by hand: it plans what is left.',
  },
};

/** How it ended, in a line, and what to do now. */
export function resultOf({ command, exit }) {
  const known = EXITS[exit] ?? EXITS[1];
  return { title: known[command] ?? `callsheet ${command} ${known.any} (exit ${exit})`, ...known };
}

/** The first line of a page, by which it is found again: its stack and environment, and no other. */
export function markerOf({ command, name, environment = '' }) {
  const words = [name, environment].filter((word) => word !== '');
  // Two dashes would end the comment.
  const safe = words.map((word) => word.replace(/[^\w.-]+/g, '-').replace(/--+/g, '-'));
  return `<!-- callsheet:${[command, ...safe].join(' ')} -->`;
}

/** The page of a result. */
export function pageOf(result, env) {
  const { command, exit, out, digest } = result;
  const hasPage = command !== 'apply' && out.trimStart().startsWith('<!-- callsheet:');
  const foot = `\n\n${footOf(result, env)}`;
  const head = `${markerOf(result)}\n\n`;
  // Callsheet's own marker knows nothing of the name that the pipeline gave the stack.
  const body = hasPage ? out.trimStart().replace(/^.*\n+/, '') : bodyOf(result);
  const said = hasPage && ![0, 2].includes(exit) ? `${warningOf(result)}\n\n` : '';
  // Last, so that nothing that a plan shows can pass for it.
  const seal = digest ? `\n<!-- digest ${digest} -->` : '';
  const room = LIMIT - head.length - said.length - foot.length - seal.length;
  return `${head}${said}${shorten(body.trimEnd(), room)}${foot}${seal}`;
}

/** The digest that a page was sealed with; undefined where it has none. */
export function digestIn(page) {
  return /\n<!-- digest (sha256:[0-9a-f]{64}) -->\s*$/.exec(page)?.[1];
}

function warningOf(result) {
  const { title, advice } = resultOf(result);
  return `> [!CAUTION]\n> **${title}.** ${advice}`;
}

function bodyOf(result) {
  const { exit, out, err } = result;
  const { title, advice } = resultOf(result);
  const shown = [out, exit === 0 ? '' : err].map((text) => text.trim()).filter((text) => text);
  const texts = shown.map((text) => fenced(text.slice(-20_000)));
  return [`### ${title}`, advice, ...texts].filter((text) => text !== '').join('\n\n');
}

/** A text as it is: the fence is longer than any in it. */
function fenced(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function footOf({ digest }, env) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  const sha = env.HEAD_SHA || env.GITHUB_SHA || '';
  return [
    `<sub>Commit ${sha.slice(0, 12)}`,
    `[run ${run}](${server}/${repository}/actions/runs/${run})`,
    ...(digest ? [`plan \`${digest}\``] : []),
  ]
    .join(' · ')
    .concat('</sub>');
}

/** Leaves out whole changes from the end until the page fits. */
function shorten(body, room) {
  if (body.length <= room) return body;
  const blocks = [...body.matchAll(/^<details>[\s\S]*?^<\/details>\n*/gm)];
  const notice = '_Changes are left out here, as a comment is too short: the log has them all._';
  let page = body;
  for (const block of blocks.reverse()) {
    if (page.length + notice.length + 2 <= room) break;
    page = page.slice(0, block.index) + page.slice(block.index + block[0].length);
  }
  return `${page.slice(0, Math.max(0, room - notice.length - 2))}\n\n${notice}`;
}
