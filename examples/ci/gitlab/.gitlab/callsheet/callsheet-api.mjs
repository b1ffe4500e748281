// GitLab's REST API, as far as these pipelines need it.
const { CI_API_V4_URL: api, CI_PROJECT_ID: project, CALLSHEET_GITLAB_TOKEN: token } = process.env;

/** Pages of a hundred entries that are looked through. */
const MOST_PAGES = 100;

if (!token) throw new Error('CALLSHEET_GITLAB_TOKEN is not set: pipeline.yml says what it is');

/** The answer of a request below the project. */
export async function call(method, path, content) {
  return send(method, `${api}/projects/${project}${path}`, content);
}

/** The first line of what these pipelines write about a stack, by which it is found again. */
export function markerOf(kind) {
  const { CALLSHEET_NAME: name = 'callsheet' } = process.env;
  return `<!-- callsheet:${kind} ${name.replace(/[^\w.-]+/g, '-').replace(/--+/g, '-')} -->`;
}

/** The token's own entry of a list with a marker. Nobody else's text counts. */
export async function findOurs(path, marker, textOf) {
  const self = await send('GET', `${api}/user`);
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const found = await call('GET', `${path}per_page=100&page=${page}`);
    const ours = found.find(
      (one) => one.author.id === self.id && textOf(one)?.split('\n', 1)[0].trimEnd() === marker,
    );
    if (ours !== undefined || found.length < 100) return ours;
  }
  return undefined;
}

async function send(method, url, content) {
  const response = await fetch(url, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
