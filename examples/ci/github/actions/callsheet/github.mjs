// GitHub's REST API, as far as these pipelines need it.

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env;

/** Who these pipelines write as: the token of a job writes as github-actions[bot]. */
const SELF = process.env.CALLSHEET_BOT || 'github-actions[bot]';

/** Pages that are read of one list: 10,000 comments, or issues. */
const MOST_PAGES = 100;

/** The answer of a request below the repository; undefined where it has no body. */
export async function call(method, path, body) {
  const { answer } = await send(
    method,
    `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`,
    body,
  );
  return answer;
}

/** All entries of a list, page by page. */
export async function* list(path) {
  const first = new URL(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`);
  first.searchParams.set('per_page', '100');
  let next = first.href;
  for (let page = 0; next !== undefined && page < MOST_PAGES; page += 1) {
    const { answer, link } = await send('GET', next);
    yield* answer;
    next = nextIn(link, first.origin);
  }
}

/** The pull request that brought a commit into a branch; the one that is it, where several did. */
export async function findPull(sha, branch) {
  const merged = [];
  for await (const one of list(`/commits/${sha}/pulls`)) {
    if (one.merged_at && one.base.ref === branch) merged.push(one);
  }
  return merged.find(({ merge_commit_sha }) => merge_commit_sha === sha) ?? merged[0];
}

/** What this repository's pipelines wrote themselves, under a marker. Nobody else's text counts. */
export function isOurs({ user, body }, marker) {
  return user?.login === SELF && firstLineOf(body ?? '') === marker;
}

export function firstLineOf(text) {
  return text.split('\n', 1)[0].trimEnd();
}

async function send(method, url, body) {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'x-github-api-version': '2022-11-28',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw refused(method, url, response, text);
  const answer = text === '' ? undefined : JSON.parse(text);
  return { answer, link: response.headers.get('link') ?? '' };
}

function refused(method, url, { status, headers }, text) {
  const needs = headers.get('x-accepted-github-permissions');
  const advice = needs && status === 403 ? `; the job needs the permission ${needs}` : '';
  return new Error(`${method} ${url} answered ${status}: ${text.slice(0, 500)}${advice}`);
}

/** The next page. The token goes to no other host, whatever an answer says. */
function nextIn(link, origin) {
  const url = /<([^>]+)>;\s*rel="next"/.exec(link)?.[1];
  return url !== undefined && new URL(url).origin === origin ? url : undefined;
}
